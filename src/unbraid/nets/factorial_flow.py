"""A prior whose latents are independent, each with a one-dimensional normalising flow of its own."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.ops.gaussian import standard_log_prob

# softplus(OFFSET) = 1, so that a strength of zero leaves the identity.
OFFSET = math.log(math.e - 1)


class FactorialFlow(nn.Module):
    """p(z) = ∏ⱼ p(zⱼ): every zⱼ goes through `depth` planar flows to a standard normal.

    A planar flow in one dimension is f(z) = z + (s/w)·tanh(w·z + b) with slope 1 + s·(1 − tanh²); s > −1 keeps it
    increasing. All strengths s start at 0, where the prior is the standard normal.

    Args:
        latents: the number of latents.
        depth: the number of flows in a row.

    Reference:
        Chen et al. 2018, C.2; Rezende & Mohamed 2015, eq. 10.

    Example:
        >>> flow, z = FactorialFlow(3, depth=4), torch.randn(2, 3)
        >>> bool(torch.allclose(flow.log_prob(z), standard_log_prob(z)))  # before training
        True
    """

    def __init__(self, latents: int, depth: int) -> None:
        super().__init__()
        self.strength = nn.Parameter(torch.zeros(depth, latents))
        self.log_width = nn.Parameter(0.1 * torch.randn(depth, latents))
        self.shift = nn.Parameter(torch.randn(depth, latents))  # apart from the start, or all layers would learn alike

    def forward(self, z: Tensor) -> tuple[Tensor, Tensor]:
        """The standard normal variable behind z, and log |df/dz|, each [b, latent]."""
        log_slope = torch.zeros_like(z)
        for strength, log_width, shift in zip(self.strength, self.log_width, self.shift, strict=True):
            bend, width = F.softplus(strength + OFFSET) - 1, log_width.exp()
            curve = torch.tanh(width * z + shift)
            log_slope = log_slope + torch.log1p(bend * (1 - curve.square()))
            z = z + bend / width * curve
        return z, log_slope

    def log_prob(self, z: Tensor) -> Tensor:
        """log p(zⱼ) for every latent, [b, latent]."""
        base, log_slope = self(z)
        return standard_log_prob(base) + log_slope  # type: ignore[no-any-return]

    @torch.no_grad()
    def inverse(self, base: Tensor, reach: float = 40.0, halvings: int = 40) -> Tensor:
        """The z behind standard normal values, by bisection: every flow increases, so their composition does."""
        low, high = torch.full_like(base, -reach), torch.full_like(base, reach)
        for _ in range(halvings):
            middle = (low + high) / 2
            below = self(middle)[0] < base
            low, high = torch.where(below, middle, low), torch.where(below, high, middle)
        return (low + high) / 2
