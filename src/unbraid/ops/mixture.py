"""Mixtures of Gaussians as priors: overlap of their modes, and divergences to them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from unbraid.ops import gaussian


def bhattacharyya(mean: Tensor, log_var: Tensor, other_mean: Tensor, other_log_var: Tensor) -> Tensor:
    """BC(p₁, p₂) = ∫ √(p₁ p₂) of diagonal Gaussians: 1 where they are the same, 0 where they never meet.

    Args:
        mean: of the first, […, latent]; shapes broadcast.
        log_var: of the first.
        other_mean: of the second.
        other_log_var: of the second.

    Returns:
        The coefficients, […].

    Reference:
        Hajimiri et al. 2021, A.1.

    Example:
        >>> zero = torch.zeros(1)
        >>> round(bhattacharyya(zero, zero, torch.tensor([2.0]), zero).item(), 4)  # e^(−4/8)
        0.6065
    """
    variance = 0.5 * (log_var.exp() + other_log_var.exp())
    distance = (mean - other_mean).square() / (8 * variance) + 0.5 * (variance.log() - 0.5 * (log_var + other_log_var))
    return (-distance.sum(-1)).exp()


def overlap(mean: Tensor, log_var: Tensor, tolerance: float) -> Tensor:
    """Σ over pairs of modes i < j of max(BC(pᵢ, pⱼ) − δ, 0).

    The paper's sum starts at j = i; a mode's coefficient with itself is 1 whatever is learned, so it is left out.

    Args:
        mean: of the modes, [mode, latent].
        log_var: of the modes, [mode, latent].
        tolerance: δ, the coefficient up to which modes may overlap.

    Returns:
        One number.

    Reference:
        Hajimiri et al. 2021, §4.2.

    Example:
        >>> round(overlap(torch.zeros(3, 2), torch.zeros(3, 2), tolerance=0.1).item(), 4)  # three pairs of one mode
        2.7
    """
    first, second = torch.triu_indices(len(mean), len(mean), offset=1, device=mean.device)
    pairs = bhattacharyya(mean[first], log_var[first], mean[second], log_var[second])
    return (pairs - tolerance).clamp(min=0).sum()


def kl_to_modes(q_mean: Tensor, q_log_var: Tensor, mean: Tensor, log_var: Tensor) -> Tensor:
    """KL[q ‖ pᵢ] of every q to every mode, summed over latents.

    Args:
        q_mean: [b, latent].
        q_log_var: [b, latent].
        mean: of the modes, [mode, latent].
        log_var: of the modes, [mode, latent].

    Returns:
        [b, mode], in nats.

    Example:
        >>> zeros, means = torch.zeros(1, 1), torch.tensor([[0.0], [2.0]])
        >>> kl_to_modes(zeros, zeros, means, torch.zeros(2, 1)).tolist()
        [[0.0, 2.0]]
    """
    return gaussian.kl(q_mean[:, None], q_log_var[:, None], mean[None], log_var[None]).sum(2)


def moments(weights: Tensor, mean: Tensor, log_var: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and log-variance of a mixture of diagonal Gaussians.

    Args:
        weights: of the modes, [mode].
        mean: of the modes, [mode, latent].
        log_var: of the modes, [mode, latent].

    Returns:
        Mean and log-variance, each [latent].

    Example:
        >>> weights, mean = torch.tensor([0.5, 0.5]), torch.tensor([[-1.0], [1.0]])
        >>> centre, log_var = moments(weights, mean, torch.zeros(2, 1))
        >>> centre.item(), round(log_var.exp().item(), 4)
        (0.0, 2.0)
    """
    centre = weights @ mean
    return centre, (weights @ (log_var.exp() + (mean - centre).square())).log()


@dataclass(frozen=True)
class GaussianModes:
    """A mixture prior: a diagonal Gaussian for every mode, and how probable each is.

    Example:
        >>> GaussianModes(torch.tensor([0.5, 0.5]), mean=torch.zeros(2, 1), log_var=torch.zeros(2, 1)).shares.tolist()
        [0.5, 0.5]
    """

    shares: Tensor  # [mode]
    mean: Tensor  # [mode, latent]
    log_var: Tensor  # [mode, latent]


@dataclass(frozen=True)
class PriorGaussian:
    """q(u | x) with independent latents, beside the Gaussian that stands for its prior.

    Example:
        >>> zero = torch.zeros(1)
        >>> PriorGaussian(torch.tensor([[2.0]]), torch.zeros(1, 1), zero, zero).kl_per_latent().item()
        2.0
    """

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
