"""Pure functions on tensors."""
