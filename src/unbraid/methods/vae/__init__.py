"""Variational autoencoders that learn without labels."""
