"""Codes about which nothing is uncertain: points, and variables that are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Point:
    """A code that is known exactly."""

    mean: Tensor  # [b, latent]

    def rsample(self) -> Tensor:
        """The point itself."""
        return self.mean

    def kl_per_latent(self) -> Tensor:
        """Infinite: a point is infinitely far from every prior that has a density."""
        return torch.full_like(self.mean, torch.inf)


@dataclass(frozen=True)
class Given:
    """A point: the code is the given value, under its own name and within its own range."""

    mean: Tensor  # [b, code]
    names: Sequence[str]
    bounds: Sequence[tuple[float, float]]

    def rsample(self) -> Tensor:
        """The value itself: nothing about it is uncertain."""
        return self.mean

    def kl_per_latent(self) -> Tensor:
        """Infinite: a point is infinitely far from every prior that has a density."""
        return torch.full_like(self.mean, torch.inf)


@dataclass(frozen=True)
class Uniform:
    """The prior of given variables: uniform over the range of each; whole numbers where values are counted."""

    n: int
    names: Sequence[str]
    bounds: Sequence[tuple[float, float]]
    whole: Tensor  # [code], whether values are counted

    @property
    def mean(self) -> Tensor:
        """The middle of each range."""
        return self._between(torch.full((self.n, len(self.bounds)), 0.5, device=self.whole.device))

    def rsample(self) -> Tensor:
        """Independent draws from the ranges."""
        return self._between(torch.rand(self.n, len(self.bounds), device=self.whole.device))

    def kl_per_latent(self) -> Tensor:
        """Zero: this is the prior."""
        return torch.zeros_like(self.mean)

    def _between(self, share: Tensor) -> Tensor:
        low, high = torch.tensor(self.bounds, device=share.device).T
        counted = (low + (high - low + 1) * share).floor().minimum(high)
        return torch.where(self.whole, counted, low + (high - low) * share)
