"""The density-ratio trick: a classifier between two sets of samples knows the ratio of their densities."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def shuffle_each_dimension(z: Tensor) -> Tensor:
    """Permute every latent across the batch on its own: draws from ∏ⱼ q(zⱼ) (Kim & Mnih 2018, algorithm 1)."""
    return z.gather(0, torch.rand_like(z).argsort(dim=0))


def classification_loss(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """Cross-entropy of the critic's log-ratios for samples of the first and second density, and its accuracy.

    At the minimum the output is log p₁(z)/p₂(z), so its mean over samples of the first is KL[p₁ ‖ p₂].
    """
    loss = 0.5 * (F.softplus(-first).mean() + F.softplus(second).mean())
    accuracy = 0.5 * ((first > 0).float().mean() + (second < 0).float().mean())
    return loss, accuracy.detach()
