"""A network for detail: small images of y are redrawn sharply, with z as scales and shifts at places.

Most of its work is done on maps of an eighth and a quarter of the image's side, where a CPU is fast; the image is read
and written by sub-pixel moves (`pixel_unshuffle`, `pixel_shuffle`), which cost nothing.
"""

from __future__ import annotations

from math import prod

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.nets.stacks import scaled

BLOCK = 4  # side of the squares of pixels that are read and written as channels
MULTIPLE = 16  # what heights and widths are padded to
# Of the residual x − y before it is encoded: it is small, and the first layer expects values of some 0.3.
RESIDUAL_GAIN = 3.0
LEAST_LOG_VAR, GREATEST_LOG_VAR = -9.0, 4.0
EPSILON = 1e-5


def padded(shape: tuple[int, ...]) -> tuple[int, int]:
    """Height and width that the network works with.

    Example:
        >>> padded((3, 64, 60))
        (64, 64)
    """
    return -(-shape[1] // MULTIPLE) * MULTIPLE, -(-shape[2] // MULTIPLE) * MULTIPLE


def pad(images: Tensor) -> Tensor:
    """The image with its last row and column repeated as often as needed."""
    height, width = padded((0, *images.shape[2:]))
    below, right = height - images.shape[2], width - images.shape[3]
    return F.pad(images, (0, right, 0, below), mode="replicate") if below or right else images


def blocks(images: Tensor) -> Tensor:
    """[b, c, h, w] as [b, 16·c, h/4, w/4].

    Example:
        >>> blocks(torch.zeros(2, 3, 16, 16)).shape
        torch.Size([2, 48, 4, 4])
    """
    return F.pixel_unshuffle(images, BLOCK).contiguous(memory_format=torch.channels_last)


class DetailEncoder(nn.Module):
    """q(z | x, y) from the residual x − y.

    Args:
        shape: (channel, height, width).
        latents: the length of z.
        width: fraction of the channels.

    Example:
        >>> DetailEncoder((3, 16, 16), latents=5, width=0.1)(torch.randn(2, 3, 16, 16)).shape
        torch.Size([2, 10])
    """

    def __init__(self, shape: tuple[int, ...], latents: int, width: float = 1.0) -> None:
        super().__init__()
        channels = [scaled(c, width) for c in (32, 64, 128)]
        self.convolutions = nn.ModuleList(
            (
                nn.Conv2d(BLOCK**2 * shape[0], channels[0], 3, padding=1),
                nn.Conv2d(channels[0], channels[1], 4, stride=2, padding=1),
                nn.Conv2d(channels[1], channels[2], 4, stride=2, padding=1),
            )
        )
        features = channels[-1] * prod(padded(shape)) // MULTIPLE**2
        self.head = nn.Linear(features, 2 * latents)
        nn.init.normal_(self.head.weight, std=0.3 * features**-0.5)

    def forward(self, residual: Tensor) -> Tensor:
        """Means and log-variances, [b, 2·latent]; the latter are kept where a step cannot throw them out of range."""
        h = blocks(RESIDUAL_GAIN * pad(residual))
        for convolution in self.convolutions:
            h = F.silu(convolution(h))
        mean, log_var = self.head(h.flatten(1)).float().chunk(2, dim=1)
        return torch.cat((mean, log_var.clamp(LEAST_LOG_VAR, GREATEST_LOG_VAR)), dim=1)


class StyleMaps(nn.Module):
    """z to a scale and a shift for every channel at every place of a few maps of one size."""

    def __init__(self, latents: int, maps: tuple[int, int], channels: int, sites: int, hidden: int) -> None:
        super().__init__()
        self.place, self.sites = (*maps, hidden), sites
        self.spread = nn.Linear(latents, prod(self.place))
        self.styles = nn.Conv2d(hidden, 2 * channels * sites, 1)
        # Maps of variance one, scales and shifts of about a quarter: z is heard from the first step.
        nn.init.normal_(self.spread.weight, std=latents**-0.5)
        nn.init.normal_(self.styles.weight, std=0.5 * hidden**-0.5)
        for layer in (self.spread, self.styles):
            nn.init.zeros_(layer.bias)  # type: ignore[arg-type]

    def forward(self, z: Tensor) -> list[tuple[Tensor, Tensor]]:
        """(scale, shift), each [b, channel, height, width], for each site."""
        maps = self.spread(z).unflatten(1, self.place).permute(0, 3, 1, 2)  # channels-last, as the convolutions like it
        pairs = [site.chunk(2, dim=1) for site in self.styles(F.silu(maps)).chunk(self.sites, dim=1)]
        return [(1 + scale, shift) for scale, shift in pairs]


class DetailDecoder(nn.Module):
    """x̂ = y + what z makes of y. z enters by `film` alone, at maps of an eighth and a quarter of the image's side.

    At the start x̂ is y. z has no say at half the side: there it draws a grid over the picture. With `normalize` the
    maps are instance-normalised first, which makes `film` AdaIN as in the paper, and learning slower.

    Args:
        shape: (channel, height, width).
        latents: the length of z.
        width: fraction of the channels.
        normalize: instance norm before every scale and shift, as in AdaIN.

    Example:
        >>> DetailDecoder((3, 16, 16), latents=5, width=0.1)(torch.rand(2, 3, 16, 16), torch.randn(2, 5)).shape
        torch.Size([2, 3, 16, 16])
    """

    def __init__(self, shape: tuple[int, ...], latents: int, width: float = 1.0, *, normalize: bool = False) -> None:
        super().__init__()
        self.normalize = normalize
        low, middle, high = (scaled(c, width) for c in (96, 48, 24))
        values, (h, w) = BLOCK**2 * shape[0], padded(shape)
        self.low_styles = StyleMaps(latents, (h // 8, w // 8), low, sites=3, hidden=32)
        self.middle_styles = StyleMaps(latents, (h // 4, w // 4), middle, sites=2, hidden=16)
        self.into_low = nn.Conv2d(values, low, 4, stride=2, padding=1)
        self.low = nn.ModuleList(nn.Conv2d(low, low, 3, padding=1) for _ in range(2))
        self.into_middle = nn.Conv2d(low, 4 * middle, 1)
        self.skip = nn.Conv2d(values, middle, 1)
        self.middle = nn.Conv2d(middle, middle, 3, padding=1)
        self.into_high = nn.Conv2d(middle, 4 * high, 1)
        self.out = nn.Conv2d(high, 4 * shape[0], 3, padding=1)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)  # type: ignore[arg-type]

    def forward(self, y: Tensor, z: Tensor) -> Tensor:
        """The mean of x, [b, channel, height, width], which may leave [0, 1] by a little."""
        first, *low_styles = self.low_styles(z)
        middle_styles = self.middle_styles(z)
        u = blocks(pad(y))
        h = self.film(self.into_low(u), first)
        for convolution, style in zip(self.low, low_styles, strict=True):
            h = h + self.film(convolution(h), style)
        h = self.film(F.pixel_shuffle(self.into_middle(h), 2) + self.skip(u), middle_styles[0])
        h = h + self.film(self.middle(h), middle_styles[1])
        h = F.silu(F.pixel_shuffle(self.into_high(h), 2))
        change = F.pixel_shuffle(self.out(h), 2)[:, :, : y.shape[2], : y.shape[3]]
        return y + change.float()

    def film(self, h: Tensor, style: tuple[Tensor, Tensor]) -> Tensor:
        """SiLU of the maps, scaled and shifted."""
        scale, shift = style
        if self.normalize:
            variance, mean = torch.var_mean(h, (2, 3), correction=0, keepdim=True)
            h = (h - mean) * torch.rsqrt(variance + EPSILON)
        return F.silu(torch.addcmul(shift.to(h.dtype), h, scale.to(h.dtype)))
