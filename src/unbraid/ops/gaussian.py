"""Diagonal Gaussians: the distribution of nearly every code in this library."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

LOG_2PI = math.log(2 * math.pi)


def log_prob(x: Tensor, mean: Tensor, log_var: Tensor) -> Tensor:
    """log N(x; mean, exp(log_var)), for each value."""
    return -0.5 * ((x - mean).square() * (-log_var).exp() + log_var + LOG_2PI)


def standard_log_prob(x: Tensor) -> Tensor:
    """log N(x; 0, 1), for each value."""
    return -0.5 * (x.square() + LOG_2PI)


def kl(mean: Tensor, log_var: Tensor, prior_mean: Tensor, prior_log_var: Tensor) -> Tensor:
    """KL[N(mean, exp(log_var)) ‖ N(prior_mean, exp(prior_log_var))], for each value."""
    ratio = (log_var - prior_log_var).exp()
    shift = (mean - prior_mean).square() * (-prior_log_var).exp()
    return 0.5 * (ratio + shift - 1 - log_var + prior_log_var)


@dataclass(frozen=True)
class DiagonalGaussian:
    """q(z | x) with independent latents; its prior is the standard normal."""

    mean: Tensor  # [b, latent]
    log_var: Tensor  # [b, latent]

    @staticmethod
    def from_parameters(parameters: Tensor) -> DiagonalGaussian:
        """Split a network's output [b, 2·latent] into means and log-variances."""
        mean, log_var = parameters.chunk(2, dim=1)
        return DiagonalGaussian(mean, log_var)

    @staticmethod
    def standard(n: int, latents: int, like: Tensor) -> DiagonalGaussian:
        """The prior itself for n observations, where the tensor `like` lives."""
        zeros = like.new_zeros(n, latents)
        return DiagonalGaussian(zeros, zeros)

    def rsample(self) -> Tensor:
        """mean + σ·ε, with gradient to both."""
        return self.mean + (0.5 * self.log_var).exp() * torch.randn_like(self.mean)

    def log_prob(self, z: Tensor) -> Tensor:
        """log q(z | x), [b]."""
        return log_prob(z, self.mean, self.log_var).sum(1)

    def kl_per_latent(self) -> Tensor:
        """KL to the standard normal, [b, latent]."""
        return 0.5 * (self.mean.square() + self.log_var.exp() - 1 - self.log_var)

    def kl(self) -> Tensor:
        """KL to the standard normal: summed over latents, averaged over the batch."""
        return self.kl_per_latent().sum(1).mean()
