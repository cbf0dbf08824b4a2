"""Means over a part of the batch, without branching on which part that is."""

from __future__ import annotations

from torch import Tensor


def mean_where(values: Tensor, mask: Tensor) -> Tensor:
    """The mean of the values [b] where the mask holds; zero where it holds nowhere."""
    return (values * mask).sum() / mask.sum().clamp(min=1)
