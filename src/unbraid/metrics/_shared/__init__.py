"""What metrics share: the table, bootstrap intervals, information, probes and solvers."""
