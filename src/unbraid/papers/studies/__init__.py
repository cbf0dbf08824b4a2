"""The studies, one file for each result of a paper."""
