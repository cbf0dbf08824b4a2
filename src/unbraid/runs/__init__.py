"""A run as a directory: its plan, its stages in a row, their codes."""
