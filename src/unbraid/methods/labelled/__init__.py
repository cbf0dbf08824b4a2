"""Methods that learn from labels."""
