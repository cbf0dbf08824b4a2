"""Mixtures of Gaussians as priors: overlap of their modes, and divergences to them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from unbraid.ops import gaussian


def bhattacharyya(mean: Tensor, log_var: Tensor, other_mean: Tensor, other_log_var: Tensor) -> Tensor:
    """BC(p₁, p₂) = ∫ √(p₁ p₂) of diagonal Gaussians over the last dimension (Hajimiri et al. 2021, A.1)."""
    variance = 0.5 * (log_var.exp() + other_log_var.exp())
    distance = (mean - other_mean).square() / (8 * variance) + 0.5 * (variance.log() - 0.5 * (log_var + other_log_var))
    return (-distance.sum(-1)).exp()


def overlap(mean: Tensor, log_var: Tensor, tolerance: float) -> Tensor:
    """Σ over pairs of modes i < j of max(BC(pᵢ, pⱼ) − δ, 0); mean and log_var are [mode, latent].

    The paper's sum starts at j = i; a mode's coefficient with itself is 1 whatever is learned, so it is left out.
    """
    first, second = torch.triu_indices(len(mean), len(mean), offset=1, device=mean.device)
    pairs = bhattacharyya(mean[first], log_var[first], mean[second], log_var[second])
    return (pairs - tolerance).clamp(min=0).sum()


def kl_to_modes(q_mean: Tensor, q_log_var: Tensor, mean: Tensor, log_var: Tensor) -> Tensor:
    """KL[q ‖ pᵢ] of every q [b, latent] to every mode [mode, latent], summed over latents, [b, mode]."""
    return gaussian.kl(q_mean[:, None], q_log_var[:, None], mean[None], log_var[None]).sum(2)


def moments(weights: Tensor, mean: Tensor, log_var: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and log-variance of the mixture, each [latent]; weights are [mode]."""
    centre = weights @ mean
    return centre, (weights @ (log_var.exp() + (mean - centre).square())).log()


@dataclass(frozen=True)
class GaussianModes:
    """A mixture prior: a diagonal Gaussian for every mode, and how probable each is."""

    shares: Tensor  # [mode]
    mean: Tensor  # [mode, latent]
    log_var: Tensor  # [mode, latent]


@dataclass(frozen=True)
class PriorGaussian:
    """q(u | x) with independent latents, beside the Gaussian that stands for its prior."""

    mean: Tensor  # [b, latent]
    log_var: Tensor  # [b, latent]
    prior_mean: Tensor  # [latent]
    prior_log_var: Tensor  # [latent]

    def rsample(self) -> Tensor:
        """mean + σ·ε, with gradient to both."""
        return gaussian.DiagonalGaussian(self.mean, self.log_var).rsample()

    def kl_per_latent(self) -> Tensor:
        """KL to the prior, [b, latent]."""
        return gaussian.kl(self.mean, self.log_var, self.prior_mean, self.prior_log_var)
