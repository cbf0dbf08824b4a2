"""Attention of a class to features, and the learned modes of a mixture prior."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class ClassAttention(nn.Module):
    """Which features matter to a class: sigmoid(k·(W c + b)), as many as there are features.

    Args:
        classes: the number of values of c.
        features: the number of features that are weighed.

    Example:
        >>> ClassAttention(3, features=8)(torch.eye(3), gain=8.0).shape
        torch.Size([3, 8])
    """

    def __init__(self, classes: int, features: int) -> None:
        super().__init__()
        self.linear = nn.Linear(classes, features)

    def forward(self, c: Tensor, gain: float) -> Tensor:
        """Weights in (0, 1), [b, feature]; a larger gain k moves them towards 0 or 1."""
        weights: Tensor = (gain * self.linear(c)).sigmoid()
        return weights


class MixtureModes(nn.Module):
    """The modes p(u | c = i) of a mixture: means start at N(0, 1), log-variances stay within (−3, 1).

    Args:
        modes: the number of classes.
        latents: the number of codes u.

    Example:
        >>> modes = MixtureModes(3, latents=2)
        >>> modes.mean.shape, modes.log_var[0].tolist()
        (torch.Size([3, 2]), [-1.0, -1.0])
    """

    def __init__(self, modes: int, latents: int) -> None:
        super().__init__()
        self.mean = nn.Parameter(torch.randn(modes, latents))
        self.raw_log_var = nn.Parameter(torch.zeros(modes, latents))

    @property
    def log_var(self) -> Tensor:
        """[mode, latent]."""
        return 2 * self.raw_log_var.tanh() - 1
