"""The encoder of later stages: what stands between the residual x − y and the codes z."""

from __future__ import annotations

from math import prod

from torch import nn

from unbraid.nets.adain import SLOPE, halvings
from unbraid.nets.layers import mlp
from unbraid.nets.stacks import VECTOR_UNITS, scaled


def residual_trunk(
    shape: tuple[int, ...], width: float, *, norm: type[nn.Module] | None = None, leaky: bool = False
) -> tuple[nn.Sequential, int]:
    """The encoder's body for the residual x − y, as wide as the decoder's downward half.

    Args:
        shape: (channel, height, width) or (value,).
        width: fraction of the paper's units in every layer.
        norm: of all maps but the first, made for a number of channels.
        leaky: leaky units in place of plain ones.

    Returns:
        The layers, and the number of features that come out of them.

    Example:
        >>> import torch
        >>> trunk, features = residual_trunk((3, 16, 16), width=0.1)
        >>> trunk(torch.rand(2, 3, 16, 16)).shape == (2, features)
        True
    """
    if len(shape) == 1:
        units = scaled(VECTOR_UNITS, width)
        return nn.Sequential(*mlp(shape[0], units, units, activation=nn.ReLU)), units
    maps = halvings(shape)
    channels = [shape[0], *(scaled(64 * 2**step, width) for step in range(len(maps) - 1))]
    layers: list[nn.Module] = []
    for before, after in zip(channels[:-1], channels[1:], strict=True):
        norms = [norm(after)] if norm is not None and layers else []
        layers += [
            nn.Conv2d(before, after, 5, stride=2, padding=2),
            *norms,
            nn.LeakyReLU(SLOPE) if leaky else nn.ReLU(),
        ]
    return nn.Sequential(*layers, nn.Flatten()), channels[-1] * prod(maps[-1])
