"""Adaptive instance normalisation (AdaIN): the only way in which z enters a later stage."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.data.spec import DataSpec
from unbraid.errors import InputError
from unbraid.nets.layers import upsampling
from unbraid.nets.stacks import VECTOR_UNITS, scaled

StylesOf = Literal["channels", "places"]
STYLES_OF = "what z scales and shifts: channels as a whole, or at every place of an image (the authors' code)"
SLOPE = 0.2  # of leaky units, where they are asked for


def adain(activations: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    """Instance norm without parameters of its own, then scale and shift.

    Args:
        activations: maps [b, channel, height, width], normalised over space for each channel; or vectors [b, unit],
            which have no space, normalised over their units.
        scale: [b, channel], or one for every place, shaped like the maps.
        shift: shaped like `scale`.

    Returns:
        Shaped like `activations`.

    Reference:
        Huang & Belongie 2017, eq. 8.

    Example:
        >>> h = adain(torch.randn(2, 3, 8, 8), scale=torch.full((2, 3), 2.0), shift=torch.full((2, 3), 5.0))
        >>> round(h.mean().item(), 3), round(h.std().item(), 1)
        (5.0, 2.0)
    """
    if activations.ndim == 4:
        if scale.ndim == 2:  # the same everywhere
            scale, shift = scale[:, :, None, None], shift[:, :, None, None]
        return F.instance_norm(activations) * scale + shift
    return F.layer_norm(activations, activations.shape[1:]) * scale + shift


def halvings(shape: tuple[int, ...], most: int = 4) -> list[tuple[int, int]]:
    """Heights and widths of the maps under stride-2 5×5 convolutions, from the image down to no less than 2.

    Args:
        shape: (channel, height, width) of the image.
        most: the greatest number of convolutions.

    Returns:
        One (height, width) for the image and for each map below it.

    Example:
        >>> halvings((3, 64, 64))
        [(64, 64), (32, 32), (16, 16), (8, 8), (4, 4)]
    """
    sizes = [(shape[1], shape[2])]
    while len(sizes) <= most and min(sizes[-1]) > 2:
        sizes.append(((sizes[-1][0] + 1) // 2, (sizes[-1][1] + 1) // 2))
    return sizes


class Styles(nn.Module):
    """The small MLP from z to the scales and shifts of every AdaIN site.

    Args:
        latents: the length of z.
        sites: the number of channels at each site.
        units: of the hidden layer.

    Example:
        >>> [scale.shape for scale, _ in Styles(5, sites=[8, 16], units=32)(torch.randn(2, 5))]
        [torch.Size([2, 8]), torch.Size([2, 16])]
    """

    def __init__(self, latents: int, sites: Sequence[int], units: int) -> None:
        super().__init__()
        self.sites = tuple(sites)
        self.hidden = nn.Linear(latents, units)
        self.styles = nn.Linear(units, 2 * sum(sites))

    def forward(self, z: Tensor) -> list[tuple[Tensor, Tensor]]:
        """(scale, shift), each [b, channel], for each site; scales are centred at one."""
        values = self.styles(F.relu(self.hidden(z)))
        scales, shifts = values.chunk(2, dim=1)
        pairs = zip(scales.split(self.sites, dim=1), shifts.split(self.sites, dim=1), strict=True)
        return [(1 + scale, shift) for scale, shift in pairs]

    def init_unit_variance(self) -> None:
        """Initialise so that scales and shifts have variance one over z ~ N(0, 1): four times the usual deviation."""
        nn.init.kaiming_normal_(self.hidden.weight)
        nn.init.normal_(self.styles.weight, std=self.styles.in_features**-0.5)


class PlacedStyles(nn.Module):
    """A scale and a shift for every channel at every place, each the positive part of a linear function of z.

    So it is in the authors' code, where the paper's text leaves the form of γ(z) and β(z) open.

    Args:
        latents: the length of z.
        sites: (channel, height, width) of the maps at each site.

    Example:
        >>> PlacedStyles(5, sites=[(8, 4, 4)])(torch.randn(2, 5))[0][0].shape
        torch.Size([2, 8, 4, 4])
    """

    def __init__(self, latents: int, sites: Sequence[tuple[int, int, int]]) -> None:
        super().__init__()
        self.latents, self.sites = latents, tuple(sites)  # (channel, height, width)
        self.layers = nn.ModuleList(nn.Linear(latents, 2 * prod(site)) for site in sites)

    def forward(self, z: Tensor) -> list[tuple[Tensor, Tensor]]:
        """(scale, shift), each [b, channel, height, width], for each site."""
        pairs = [layer(z).relu().unflatten(1, (2, *site)) for layer, site in zip(self.layers, self.sites, strict=True)]
        return [(pair[:, 0], pair[:, 1]) for pair in pairs]

    def init_unit_variance(self) -> None:
        """Initialise so that scales and shifts have variance one over z ~ N(0, 1), before negative values are cut."""
        for name, values in self.named_parameters():
            if name.endswith("weight"):
                nn.init.normal_(values, std=self.latents**-0.5)


class AdainMaps(nn.Module):
    """p(x | y, z) for images: y through convolutions, z through AdaIN at all seven sites.

    5×5 stride-2 convolutions 64-128-256-512, a fully connected layer, three transposed convolutions 256-128-64 and an
    output one; smaller images lose convolutions on both sides alike.

    Args:
        shape: (channel, height, width).
        latents: the length of z.
        width: fraction of the paper's channels.
        placed: whether z scales and shifts every place on its own (`PlacedStyles`).
        dense_styled: z enters after the fully connected layer and not after the first convolution (authors' code).
        leaky: leaky units on the way down (authors' code).

    Reference:
        MS-VAE, §3.2.

    Example:
        >>> AdainMaps((3, 16, 16), latents=5, width=0.1)(torch.rand(2, 3, 16, 16), torch.randn(2, 5)).shape
        torch.Size([2, 3, 16, 16])
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        latents: int,
        width: float,
        *,
        placed: bool = False,
        dense_styled: bool = False,
        leaky: bool = False,
    ) -> None:
        super().__init__()
        self.dense_styled, self.slope = dense_styled, SLOPE if leaky else 0.0
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
        below = [*zip(channels, maps[1:], strict=True)]
        if dense_styled:
            below = [*below[1:], below[-1]]
        sites = [*below, *zip(upward[1:], sizes[1:-1], strict=True)]
        if placed:
            self.styles: Styles | PlacedStyles = PlacedStyles(latents, [(site, *size) for site, size in sites])
        else:
            self.styles = Styles(latents, [site for site, _ in sites], units=scaled(128, width))

    def forward(self, y: Tensor, z: Tensor) -> Tensor:
        """Logits of x, [b, channel, height, width]."""
        styles = iter(self.styles(z))
        h = y
        for number, layer in enumerate(self.down):
            h = layer(h)
            h = h if self.dense_styled and not number else adain(h, *next(styles))
            h = F.leaky_relu(h, self.slope)
        h = self.unflatten(self.mix(self.flatten(h)))
        h = F.relu(adain(h, *next(styles)) if self.dense_styled else h).contiguous(memory_format=torch.channels_last)
        for layer in self.up:
            h = F.relu(adain(layer(h), *next(styles)))
        return self.out(h)  # type: ignore[no-any-return]


class AdainVectors(nn.Module):
    """p(x | y, z) for vectors: the same idea, with layers of units in place of maps.

    Args:
        values: the length of x and y.
        latents: the length of z.
        width: fraction of the units.
        depth: the number of hidden layers.

    Example:
        >>> AdainVectors(7, latents=5, width=0.1)(torch.randn(2, 7), torch.randn(2, 5)).shape
        torch.Size([2, 7])
    """

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


def check_styles(styles: StylesOf, data: DataSpec) -> None:
    """Refuse styles of places for vectors, which have no places.

    Example:
        >>> check_styles("places", DataSpec(shape=(3, 16, 16), size=10))
    """
    if styles == "places" and not data.is_image:
        raise InputError("--styles places is for images: vectors have no places, so leave it out.")


def adain_network(
    shape: tuple[int, ...], latents: int, width: float, styles: StylesOf = "channels", **details: bool
) -> AdainMaps | AdainVectors:
    """p(x | y, z) for observations of this shape. Vectors have no places: each of their units is scaled and shifted.

    Args:
        shape: (channel, height, width) or (value,).
        latents: the length of z.
        width: fraction of the paper's units in every layer.
        styles: what z scales and shifts: `channels` as a whole, or each of their `places`.
        details: those of `AdainMaps`, for images.

    Returns:
        A network that takes y and z.

    Example:
        >>> type(adain_network((7,), 5, 0.1)).__name__, type(adain_network((3, 16, 16), 5, 0.1)).__name__
        ('AdainVectors', 'AdainMaps')
    """
    if len(shape) == 3:
        return AdainMaps(shape, latents, width, placed=styles == "places", **details)
    return AdainVectors(shape[0], latents, width)
