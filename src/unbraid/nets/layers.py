"""Layers that several networks are made of."""

from __future__ import annotations

import torch  # noqa: F401  (the examples use it)
from torch import nn

from unbraid.nets.upsampling import Upsampling


def upsampling(before: int, after: int, small: tuple[int, int], large: tuple[int, int], kernel: int) -> nn.Module:
    """A stride-2 transposed convolution from maps of exactly `small` to exactly `large`, which may be odd.

    Example:
        >>> upsampling(1, 2, (3, 3), (7, 6), kernel=4)(torch.zeros(1, 1, 3, 3)).shape
        torch.Size([1, 2, 7, 6])
    """
    plain = tuple(2 * (s - 1) + kernel - 2 * ((kernel - 1) // 2) for s in small)
    return Upsampling(before, after, kernel, extra=(large[0] - plain[0], large[1] - plain[1]))


def mlp(*units: int, activation: type[nn.Module]) -> list[nn.Module]:
    """Fully connected layers through these numbers of units, each followed by its activation.

    Example:
        >>> nn.Sequential(*mlp(5, 8, 3, activation=nn.ReLU))(torch.randn(2, 5)).shape
        torch.Size([2, 3])
    """
    layers: list[nn.Module] = []
    for before, after in zip(units[:-1], units[1:], strict=True):
        layers += [nn.Linear(before, after), activation()]
    return layers
