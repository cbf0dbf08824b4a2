"""What studies measure beyond the metrics of a run."""
