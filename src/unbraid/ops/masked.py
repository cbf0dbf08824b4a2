"""Means over a part of the batch, without branching on which part that is."""

from __future__ import annotations

from torch import Tensor


def mean_where(values: Tensor, mask: Tensor) -> Tensor:
    """The mean of some of the values; zero where there are none.

    Args:
        values: [b].
        mask: which of them count, [b].

    Returns:
        One number.

    Example:
        >>> import torch
        >>> mean_where(torch.tensor([1.0, 5.0, 9.0]), torch.tensor([True, False, True])).item()
        5.0
    """
    return (values * mask).sum() / mask.sum().clamp(min=1)
