"""Adaptive instance normalisation: how z enters a second stage, and the only way it does."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.errors import InputError
from unbraid.nets.stacks import VECTOR_UNITS, mlp, scaled, upsampling


def adain(activations: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    """Instance norm without parameters of its own, then scale and shift (Huang & Belongie 2017, eq. 8).

    Maps [b, channel, height, width] are normalised over space for each channel; vectors [b, unit], which have no
    space, over their units.
    """
    if activations.ndim == 4:
        return F.instance_norm(activations) * scale[:, :, None, None] + shift[:, :, None, None]
    return F.layer_norm(activations, activations.shape[1:]) * scale + shift


def halvings(shape: tuple[int, ...], most: int = 4) -> list[tuple[int, int]]:
    """Heights and widths of the maps under at most four stride-2 5×5 convolutions, down to no less than 2."""
    sizes = [(shape[1], shape[2])]
    while len(sizes) <= most and min(sizes[-1]) > 2:
        sizes.append(((sizes[-1][0] + 1) // 2, (sizes[-1][1] + 1) // 2))
    return sizes


class Styles(nn.Module):
    """The small MLP from z to the scales and shifts of every AdaIN site."""

    def __init__(self, latents: int, sites: Sequence[int], units: int) -> None:
        super().__init__()
        self.sites = tuple(sites)
        self.hidden = nn.Linear(latents, units)
        self.styles = nn.Linear(units, 2 * sum(sites))

    def forward(self, z: Tensor) -> list[tuple[Tensor, Tensor]]:
        """(scale, shift), each [b, channel], for each site. Scales are centred at one; `speak_up` makes them vary."""
        values = self.styles(F.relu(self.hidden(z)))
        scales, shifts = values.chunk(2, dim=1)
        pairs = zip(scales.split(self.sites, dim=1), shifts.split(self.sites, dim=1), strict=True)
        return [(1 + scale, shift) for scale, shift in pairs]

    def speak_up(self) -> None:
        """Start with scales and shifts of variance one, over z ~ N(0, 1) and the weights: four times the deviation."""
        nn.init.kaiming_normal_(self.hidden.weight)
        nn.init.normal_(self.styles.weight, std=self.styles.in_features**-0.5)


class AdainMaps(nn.Module):
    """p(x | y, z) for images (MS-VAE §3.2): y through convolutions, z through AdaIN at all seven sites.

    5×5 stride-2 convolutions 64-128-256-512, a fully connected layer, three transposed convolutions 256-128-64 and
    an output one; smaller images lose convolutions on both sides alike.
    """

    def __init__(self, shape: tuple[int, ...], latents: int, width: float) -> None:
        super().__init__()
        maps = halvings(shape)
        if len(maps) < 2:
            raise InputError(f"images of {shape[1]}×{shape[2]} are too small for a later stage: it needs 3×3 or more.")
        channels = [scaled(64 * 2**step, width) for step in range(len(maps) - 1)]
        self.down = nn.ModuleList(
            nn.Conv2d(before, after, 5, stride=2, padding=2)
            for before, after in zip([shape[0], *channels[:-1]], channels, strict=True)
        )
        lowest = (channels[-1], *maps[-1])
        self.flatten = nn.Flatten()
        self.mix = nn.Linear(prod(lowest), prod(lowest))
        self.unflatten = nn.Unflatten(1, lowest)
        upward, sizes = channels[::-1], maps[::-1]
        self.up = nn.ModuleList(
            upsampling(upward[step], upward[step + 1], sizes[step], sizes[step + 1], kernel=5)
            for step in range(len(upward) - 1)
        )
        self.out = upsampling(upward[-1], shape[0], sizes[-2], sizes[-1], kernel=5)
        self.styles = Styles(latents, [*channels, *upward[1:]], units=scaled(128, width))

    def forward(self, y: Tensor, z: Tensor) -> Tensor:
        """Logits of x, [b, channel, height, width]."""
        styles = iter(self.styles(z))
        h = y
        for layer in self.down:
            h = F.relu(adain(layer(h), *next(styles)))
        h = F.relu(self.unflatten(self.mix(self.flatten(h)))).contiguous(memory_format=torch.channels_last)
        for layer in self.up:
            h = F.relu(adain(layer(h), *next(styles)))
        return self.out(h)  # type: ignore[no-any-return]


class AdainVectors(nn.Module):
    """p(x | y, z) for vectors: the same idea, with layers of units in place of maps."""

    def __init__(self, values: int, latents: int, width: float, depth: int = 3) -> None:
        super().__init__()
        units = scaled(VECTOR_UNITS, width)
        self.layers = nn.ModuleList(nn.Linear(values if step == 0 else units, units) for step in range(depth))
        self.out = nn.Linear(units, values)
        self.styles = Styles(latents, [units] * depth, units=scaled(128, width))

    def forward(self, y: Tensor, z: Tensor) -> Tensor:
        """The mean of x, [b, value]."""
        h = y
        for layer, style in zip(self.layers, self.styles(z), strict=True):
            h = F.relu(adain(layer(h), *style))
        return self.out(h)  # type: ignore[no-any-return]


def residual_trunk(shape: tuple[int, ...], width: float) -> tuple[nn.Sequential, int]:
    """The encoder's body for the residual x − y, as wide as the decoder's way down, and its number of features."""
    if len(shape) == 1:
        units = scaled(VECTOR_UNITS, width)
        return nn.Sequential(*mlp(shape[0], units, units, activation=nn.ReLU)), units
    maps = halvings(shape)
    channels = [shape[0], *(scaled(64 * 2**step, width) for step in range(len(maps) - 1))]
    layers: list[nn.Module] = []
    for before, after in zip(channels[:-1], channels[1:], strict=True):
        layers += [nn.Conv2d(before, after, 5, stride=2, padding=2), nn.ReLU()]
    return nn.Sequential(*layers, nn.Flatten()), channels[-1] * prod(maps[-1])
