"""Measures of a run: each takes trained stages and data, and gives scores."""
