"""DCGAN (Radford et al. 2016): stride-2 4×4 convolutions 64-128-256-512, batch norm, leaky units in the critic."""

from __future__ import annotations

from math import prod

import torch
from torch import Tensor, nn

from unbraid.nets.critic import SLOPE
from unbraid.nets.downsampling import Downsampling
from unbraid.nets.layers import upsampling
from unbraid.nets.stacks import VECTOR_UNITS, map_sizes, scaled


class PairCritic(nn.Module):
    """log p(x | condition)/p_G(x | condition) of pairs; batch norm on all maps but the first.

    Args:
        shape: of x.
        condition: the shape of what x is paired with: an image like x, or (value,).
        width: fraction of DCGAN's channels.

    Example:
        >>> PairCritic((3, 16, 16), (4,), width=0.1)(torch.rand(2, 3, 16, 16), torch.randn(2, 4)).shape
        torch.Size([2])
    """

    def __init__(self, shape: tuple[int, ...], condition: tuple[int, ...], width: float) -> None:
        super().__init__()
        self.spatial = len(condition) == 3
        layers, features = trunk(shape, width, condition=condition[0])
        self.layers = nn.Sequential(*layers, nn.Linear(features, 1))

    def forward(self, x: Tensor, condition: Tensor) -> Tensor:
        """The log-ratio, [b]; a condition without space fills planes of its own."""
        if x.ndim == 4 and not self.spatial:
            condition = condition[:, :, None, None].expand(-1, -1, *x.shape[2:])
        pair = torch.cat((x, condition), dim=1)
        if x.ndim == 4:
            pair = pair.contiguous(memory_format=torch.channels_last)
        return self.layers(pair).squeeze(1)  # type: ignore[no-any-return]


def trunk(shape: tuple[int, ...], width: float, condition: int = 0) -> tuple[nn.Sequential, int]:
    """DCGAN's critic up to its features, with batch norm on all maps but the first.

    Args:
        shape: of x.
        width: fraction of DCGAN's channels.
        condition: how many planes, or values of a vector, come beside x.

    Returns:
        The layers, and the number of features that come out of them.

    Reference:
        Radford et al. 2016.

    Example:
        >>> layers, features = trunk((3, 16, 16), width=0.1)
        >>> layers(torch.rand(2, 3, 16, 16)).shape == (2, features)
        True
    """
    if len(shape) == 1:
        units = scaled(VECTOR_UNITS, width)
        dense: list[nn.Module] = [nn.Linear(shape[0] + condition, units), nn.LeakyReLU(SLOPE)]
        return nn.Sequential(*dense, nn.Linear(units, units), nn.LeakyReLU(SLOPE)), units
    maps = map_sizes(shape)
    channels = [shape[0] + condition, *(scaled(64 * 2**step, width) for step in range(len(maps) - 1))]
    layers: list[nn.Module] = []
    for step, (before, after) in enumerate(zip(channels[:-1], channels[1:], strict=True)):
        norm = [nn.BatchNorm2d(after)] if step else []
        layers += [Downsampling(before, after, kernel=4), *norm, nn.LeakyReLU(SLOPE)]
    return nn.Sequential(*layers, nn.Flatten()), channels[-1] * prod(maps[-1])


def generator(inputs: int, shape: tuple[int, ...], width: float) -> nn.Sequential:
    """DCGAN's generator: from codes to logits of x, with batch norm after every layer but the last.

    Args:
        inputs: the number of codes.
        shape: of x.
        width: fraction of DCGAN's channels.

    Returns:
        A network from [b, inputs] to [b, *shape].

    Reference:
        Radford et al. 2016.

    Example:
        >>> generator(6, (3, 16, 16), width=0.1)(torch.randn(2, 6)).shape
        torch.Size([2, 3, 16, 16])
    """
    if len(shape) == 1:
        units = scaled(VECTOR_UNITS, width)
        layers: list[nn.Module] = []
        for before in (inputs, units):
            layers += [nn.Linear(before, units), nn.BatchNorm1d(units), nn.ReLU()]
        return nn.Sequential(*layers, nn.Linear(units, shape[0]))
    maps = map_sizes(shape)[::-1]
    channels = [*(scaled(64 * 2**step, width) for step in range(len(maps) - 1))][::-1]
    lowest = (channels[0], *maps[0])
    layers = [nn.Linear(inputs, prod(lowest)), nn.Unflatten(1, lowest), nn.BatchNorm2d(channels[0]), nn.ReLU()]
    for step in range(len(maps) - 2):
        layers += [upsampling(channels[step], channels[step + 1], maps[step], maps[step + 1], kernel=4)]
        layers += [nn.BatchNorm2d(channels[step + 1]), nn.ReLU()]
    return nn.Sequential(*layers, upsampling(channels[-1], shape[0], maps[-2], maps[-1], kernel=4))
