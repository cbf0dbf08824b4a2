"""MS-VAE's decoder where it starts from codes in place of an image: the upper half of `AdainMaps`."""

from __future__ import annotations

from math import prod

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.errors import InputError
from unbraid.nets.adain import Styles, adain, halvings
from unbraid.nets.layers import upsampling
from unbraid.nets.stacks import VECTOR_UNITS, scaled


class DecoderFromCodes(nn.Module):
    """p(x | c, z): c through a fully connected layer and the transposed convolutions, z through AdaIN.

    Args:
        shape: of x.
        content: the number of codes c.
        latents: the number of codes z.
        width: fraction of the paper's units in every layer.
        concatenate: z comes in beside c instead, and nothing is normalised but by `norm`.
        norm: of all maps with concatenated codes, made for a number of channels.

    Reference:
        MS-VAE, appendix L.

    Example:
        >>> DecoderFromCodes((3, 16, 16), 4, 5, width=0.1)(torch.randn(2, 4), torch.randn(2, 5)).shape
        torch.Size([2, 3, 16, 16])
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        content: int,
        latents: int,
        width: float,
        *,
        concatenate: bool = False,
        norm: type[nn.Module] | None = None,
    ) -> None:
        super().__init__()
        self.concatenate = concatenate
        inputs = content + latents if concatenate else content
        if len(shape) == 1:
            units = scaled(VECTOR_UNITS, width)
            self.start = nn.Sequential(nn.Linear(inputs, units), nn.ReLU())
            self.up = nn.ModuleList(nn.Linear(units, units) for _ in range(2))
            self.out: nn.Module = nn.Linear(units, shape[0])
            sites = [units] * 2
        else:
            maps = halvings(shape)[::-1]  # from the smallest map up to the image
            least = 3 if concatenate else 5  # below, no map between the smallest and the image is left for z to style
            if min(shape[1:]) < least:
                raise InputError(
                    f"images of {shape[1]}×{shape[2]} are too small for a decoder that starts from codes: "
                    f"it needs {least}×{least} or more."
                )
            channels = [scaled(64 * 2**step, width) for step in range(len(maps) - 1)][::-1]
            lowest = (channels[0], *maps[0])
            first = [nn.Unflatten(1, lowest), norm(channels[0]), nn.ReLU()] if norm is not None else []
            self.start = nn.Sequential(
                nn.Linear(inputs, prod(lowest)), *(first or [nn.ReLU(), nn.Unflatten(1, lowest)])
            )
            self.up = nn.ModuleList(
                upsampling(channels[step], channels[step + 1], maps[step], maps[step + 1], kernel=5)
                for step in range(len(channels) - 1)
            )
            if norm is not None:
                self.up = nn.ModuleList(
                    nn.Sequential(layer, norm(after)) for layer, after in zip(self.up, channels[1:], strict=True)
                )
            self.out = upsampling(channels[-1], shape[0], maps[-2], maps[-1], kernel=5)
            sites = channels[1:]
        if not concatenate:
            self.styles = Styles(latents, sites, units=scaled(128, width))

    def forward(self, c: Tensor, z: Tensor) -> Tensor:
        """Logits of x, or its mean for vectors."""
        h = self.start(torch.cat((c, z), dim=1) if self.concatenate else c)
        if h.ndim == 4:
            h = h.contiguous(memory_format=torch.channels_last)
        styles = [] if self.concatenate else self.styles(z)
        for number, layer in enumerate(self.up):
            h = layer(h)
            h = F.relu(h if self.concatenate else adain(h, *styles[number]))
        return self.out(h)  # type: ignore[no-any-return]
