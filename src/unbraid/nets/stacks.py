"""The papers' encoders and decoders by name, for any image size, with a `width` for smaller machines."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod, sqrt
from typing import Literal

import torch
from torch import Tensor, nn

from unbraid.errors import InputError
from unbraid.nets import signals
from unbraid.nets.additive import GROUP_SIZES, Additive
from unbraid.nets.broadcast import CHANNELS, broadcast_decoder
from unbraid.nets.counts import CountLayers
from unbraid.nets.downsampling import Downsampling
from unbraid.nets.layers import mlp, upsampling
from unbraid.nets.linear_start import PlusRest, WithInput

NetworkName = Literal[
    "auto",
    "conv",
    "conv-bn",
    "conv-celeba",
    "conv-mnist",
    "broadcast",
    "additive",
    "additive-2",
    "mlp",
    "mlp-pca",
    "conv1d",
]


@dataclass(frozen=True)
class ConvStack:
    """A convolutional stack as a paper's appendix lists it, for 64×64 images unless said otherwise."""

    channels: tuple[int, ...]  # of the 4×4 stride-2 convolutions
    hidden: int  # units of the layer between maps and codes
    batch_norm: bool
    upward: tuple[int, ...] = ()  # of the decoder's maps, the smallest first, where it is not the encoder's mirror


CONV_STACKS = {
    # Locatello et al. 2019; table 2 of Mita et al. 2021 (IDVAE).
    "conv": ConvStack((32, 32, 64, 64), 256, batch_norm=False),
    # Chen et al. 2018, appendix H.1: 3-D faces and chairs; CelebA.
    "conv-bn": ConvStack((32, 32, 64, 64), 512, batch_norm=True),
    "conv-celeba": ConvStack((64, 128, 128, 256), 512, batch_norm=True),
    # Dupont 2018; Hajimiri et al. 2021, table 3: MNIST at 32×32.
    "conv-mnist": ConvStack((32, 64, 64), 256, batch_norm=False, upward=(64, 32, 32)),
    # Encodes like `conv`; decodes from a grid of coordinates (Watters et al. 2019).
    "broadcast": ConvStack((32, 32, 64, 64), 256, batch_norm=False),
}
# Chen et al. 2018, appendix H.1: the fully connected nets for dSprites. 400 units are for traces, as of the pendulum of
# MS-VAE, appendix C, which names no sizes.
IMAGE_UNITS, VECTOR_UNITS = 1200, 400
SMALLEST_MAP = 4
LONG_SIGNAL = 32  # times from which signals of several channels are convolved along them


class Encoder(nn.Module):
    """A trunk, then a linear head that may also see other variables (labels, in IVAE and IDVAE).

    Args:
        shape: of an observation.
        outputs: of the head.
        network: one of the named stacks, or `auto`.
        width: fraction of the paper's units in every layer.
        extra: how many other values the head sees.
        counts: of observations that are counts, how they are seen.
        signal: channels and times of vectors that are signals.

    Example:
        >>> Encoder((3, 64, 64), outputs=20, width=0.1)(torch.rand(2, 3, 64, 64)).shape
        torch.Size([2, 20])
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        outputs: int,
        *,
        network: NetworkName = "auto",
        width: float = 1.0,
        extra: int = 0,
        counts: CountLayers | None = None,
        signal: tuple[int, int] | None = None,
    ) -> None:
        super().__init__()
        chosen = choose(network, shape, signal)
        if chosen == "mlp":
            features = scaled(IMAGE_UNITS if len(shape) == 3 else VECTOR_UNITS, width)
            self.trunk = nn.Sequential(nn.Flatten(), *mlp(prod(shape), features, features, activation=nn.ReLU))
        elif chosen == "mlp-pca":
            units = scaled(VECTOR_UNITS, width)
            features = units + shape[0]
            self.trunk = nn.Sequential(WithInput(nn.Sequential(*mlp(shape[0], units, units, activation=nn.ReLU))))
        elif chosen == "conv1d":
            features = scaled(signals.HIDDEN, width)
            inputs, length = signal or (1, shape[0])
            self.trunk = signals.signal_trunk(length, features, signal_channels(length, width), inputs)
        else:
            features = scaled(CONV_STACKS[chosen].hidden, width)
            self.trunk = conv_trunk(CONV_STACKS[chosen], shape, features, width)
        if counts is not None:
            self.trunk = nn.Sequential(counts.input(), self.trunk)
        self.head = nn.Linear(features + extra, outputs)

    def forward(self, x: Tensor, extra: Tensor | None = None) -> Tensor:
        """[b, output] from observations [b, …] and, where the net was built for them, other values [b, extra]."""
        features = self.trunk(x)
        return self.head(features if extra is None else torch.cat((features, extra), dim=1))  # type: ignore[no-any-return]


def decoder(
    inputs: int,
    shape: tuple[int, ...],
    *,
    network: NetworkName = "auto",
    width: float = 1.0,
    counts: CountLayers | None = None,
    signal: tuple[int, int] | None = None,
) -> nn.Sequential:
    """A network from codes to observations (logits of images, logarithms of counts' rates): the mirror of `Encoder`.

    Args:
        inputs: the number of codes.
        shape: of an observation.
        network: one of the named stacks, or `auto`.
        width: fraction of the paper's units in every layer.
        counts: of observations that are counts, how they are made.
        signal: channels and times of vectors that are signals.

    Returns:
        A network from [b, inputs] to [b, *shape].

    Example:
        >>> decoder(10, (3, 64, 64), width=0.1)(torch.randn(2, 10)).shape
        torch.Size([2, 3, 64, 64])
    """
    if network in GROUP_SIZES:
        size = GROUP_SIZES[network]
        narrow = width / sqrt(-(-inputs // size))  # as much work in all as one decoder of full width, nearly
        sums = Additive(inputs, size, lambda codes: decoder(codes, shape, width=narrow, signal=signal))
        return nn.Sequential(sums) if counts is None else nn.Sequential(sums, counts.output())
    chosen = choose(network, shape, signal)
    if chosen == "mlp":
        units = scaled(IMAGE_UNITS if len(shape) == 3 else VECTOR_UNITS, width)
        layers = mlp(inputs, units, units, units, activation=nn.Tanh)
        last = [nn.Unflatten(1, shape)] if counts is None else [counts.output()]
        return nn.Sequential(*layers, nn.Linear(units, prod(shape)), *last)
    if chosen == "mlp-pca":
        units = scaled(VECTOR_UNITS, width)
        rest = nn.Sequential(nn.Tanh(), *mlp(units, units, activation=nn.Tanh), nn.Linear(units, shape[0]))
        made = nn.Sequential(nn.Linear(inputs, units + shape[0]), PlusRest(units, rest))
        return made if counts is None else made.append(counts.output())
    if chosen == "conv1d":
        hidden = scaled(signals.HIDDEN, width)
        outputs, length = signal or (1, shape[0])
        made = signals.signal_decoder(inputs, length, hidden, signal_channels(length, width), outputs)
        return made if counts is None else made.append(counts.output())
    if chosen == "broadcast":
        return broadcast_decoder(inputs, shape, scaled(CHANNELS, width))
    stack = CONV_STACKS[chosen]
    maps = map_sizes(shape)[::-1]  # from the smallest map up to the image
    upward = widths(stack, len(maps) - 1, width)[::-1]
    if len(stack.upward) == len(upward):
        upward = tuple(scaled(c, width) for c in stack.upward)
    channels = (*upward, shape[0])
    hidden, lowest = scaled(stack.hidden, width), (channels[0], *maps[0])
    hidden_norm = [nn.BatchNorm1d(hidden)] if stack.batch_norm else []
    layers = [nn.Linear(inputs, hidden), *hidden_norm, nn.ReLU(), nn.Linear(hidden, prod(lowest))]
    # Where nothing is normalised, the ReLU stands before the maps: its gradient is then stored as its values are.
    into_maps = nn.Unflatten(1, lowest)
    layers += [into_maps, *map_norm(stack, channels[0]), nn.ReLU()] if stack.batch_norm else [nn.ReLU(), into_maps]
    for step in range(len(maps) - 2):
        layers += [upsampling(channels[step], channels[step + 1], maps[step], maps[step + 1], kernel=4)]
        layers += [*map_norm(stack, channels[step + 1]), nn.ReLU()]
    layers.append(upsampling(channels[-2], channels[-1], maps[-2], maps[-1], kernel=4))
    return nn.Sequential(*layers)


def conv_trunk(stack: ConvStack, shape: tuple[int, ...], features: int, width: float) -> nn.Sequential:
    """Strided convolutions down to a map of some 4×4, then one hidden layer.

    Args:
        stack: channels, and whether they are normalised.
        shape: (channel, height, width).
        features: units of the hidden layer.
        width: fraction of the channels.

    Returns:
        A network from images to [b, feature].

    Example:
        >>> conv_trunk(CONV_STACKS["conv"], (3, 32, 32), features=9, width=0.1)(torch.rand(2, 3, 32, 32)).shape
        torch.Size([2, 9])
    """
    maps = map_sizes(shape)
    channels = (shape[0], *widths(stack, len(maps) - 1, width))
    layers: list[nn.Module] = []
    for before, after in zip(channels[:-1], channels[1:], strict=True):
        layers += [Downsampling(before, after, kernel=4), *map_norm(stack, after), nn.ReLU()]
    layers += [nn.Flatten(), nn.Linear(channels[-1] * prod(maps[-1]), features)]
    layers += [nn.BatchNorm1d(features), nn.ReLU()] if stack.batch_norm else [nn.ReLU()]
    return nn.Sequential(*layers)


def choose(network: NetworkName, shape: tuple[int, ...], signal: tuple[int, int] | None = None) -> str:
    """The stack that `auto` stands for, and a check that a named one fits the data.

    Args:
        network: as the user named it.
        shape: of an observation.
        signal: channels and times of vectors that are signals; of enough times they are convolved.

    Example:
        >>> choose("auto", (3, 64, 64)), choose("auto", (3, 4, 4)), choose("auto", (12,))
        ('conv', 'mlp', 'mlp')
        >>> choose("auto", (192,), signal=(3, 64)), choose("auto", (60,), signal=(3, 20))
        ('conv1d', 'mlp')
    """
    is_large_image = len(shape) == 3 and min(shape[1:]) >= 2 * SMALLEST_MAP
    if network == "auto" or network in GROUP_SIZES:
        if signal is not None and signal[1] >= LONG_SIGNAL:
            return "conv1d"
        return "conv" if is_large_image else "mlp"
    if network == "conv1d":
        if len(shape) != 1 or (signal or shape)[-1] < signals.SHORTEST:
            raise InputError(
                f"network 'conv1d' needs signals of at least {signals.SHORTEST} values; "
                f"these observations have shape {shape}: use --network auto."
            )
        return network
    if network == "mlp-pca":
        if len(shape) != 1:
            raise InputError(f"network 'mlp-pca' is for vectors; these are images {shape}: use --network auto.")
        return network
    if network != "mlp" and not is_large_image:
        raise InputError(
            f"network {network!r} needs images of at least {2 * SMALLEST_MAP}×{2 * SMALLEST_MAP}; "
            f"these observations have shape {shape}: use --network mlp."
        )
    return network


def map_sizes(shape: tuple[int, ...]) -> list[tuple[int, int]]:
    """Heights and widths of the maps from the image down: halved while at least 4 remain.

    Example:
        >>> map_sizes((3, 28, 28))
        [(28, 28), (14, 14), (7, 7)]
    """
    sizes = [(shape[1], shape[2])]
    while min(sizes[-1]) // 2 >= SMALLEST_MAP:
        sizes.append((sizes[-1][0] // 2, sizes[-1][1] // 2))
    return sizes


def widths(stack: ConvStack, count: int, width: float) -> tuple[int, ...]:
    """Channels of `count` convolutions: smaller images drop the first, larger ones repeat the last.

    Example:
        >>> widths(CONV_STACKS["conv"], 2, 1.0), widths(CONV_STACKS["conv"], 5, 0.5)
        ((64, 64), (16, 16, 32, 32, 32))
    """
    channels = stack.channels[-count:] if count <= len(stack.channels) else stack.channels
    channels += channels[-1:] * (count - len(channels))
    return tuple(scaled(c, width) for c in channels)


def scaled(units: int, width: float) -> int:
    """A layer's units at a fraction of the paper's width; at least 4.

    Example:
        >>> scaled(256, 0.5), scaled(256, 0.001)
        (128, 4)
    """
    return max(4, round(units * width))


def signal_channels(values: int, width: float) -> tuple[int, ...]:
    """Channels of the convolutions along a signal of this length.

    Example:
        >>> signal_channels(50, 0.5)
        (16, 16, 32)
    """
    return tuple(scaled(c, width) for c in signals.CHANNELS[: len(signals.lengths(values)) - 1])


def map_norm(stack: ConvStack, channels: int) -> list[nn.Module]:
    """Batch normalisation where the stack has it."""
    return [nn.BatchNorm2d(channels)] if stack.batch_norm else []
