"""A run directory as plain values."""
