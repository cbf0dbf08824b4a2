"""Codes about which nothing is uncertain: points, and control variables whose values are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Point:
    """A code that is known exactly.

    Example:
        >>> Point(torch.tensor([[1.0, 2.0]])).rsample().tolist()
        [[1.0, 2.0]]
    """

    mean: Tensor  # [b, latent]

    def rsample(self) -> Tensor:
        """The point itself."""
        return self.mean

    def kl_per_latent(self) -> Tensor:
        """Infinite: a point is infinitely far from every prior that has a density."""
        return torch.full_like(self.mean, torch.inf)


@dataclass(frozen=True)
class Given:
    """Control variables whose values are given: a point, under the variables' own names and within their own ranges.

    Example:
        >>> Given(torch.tensor([[3.0]]), names=["azimuth"], bounds=[(0.0, 23.0)]).mean.tolist()
        [[3.0]]
    """

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
    """The prior of given variables: uniform over the range of each; whole numbers where values are counted.

    Example:
        >>> Uniform(2, ["azimuth"], [(0.0, 23.0)], whole=torch.tensor([True])).mean.tolist()
        [[12.0], [12.0]]
    """

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
