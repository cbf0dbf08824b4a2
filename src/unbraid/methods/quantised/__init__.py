"""Autoencoders whose codes are points: any numbers, or one of a few values for each latent."""
