"""A spatial-broadcast decoder (Watters et al. 2019): every place of a small grid sees all codes and where it lies.

What is at a place is then a simple function of the codes and two coordinates, so that moving something is as easy to
learn as painting it. The grid is a quarter of the image, and the last convolution gives each place 4×4 pixels: this
costs a tenth of the paper's grid of the image's own size.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

PIXELS = 4  # the side of the square of pixels that one place of the grid makes
CHANNELS = 64


def broadcast_decoder(inputs: int, shape: tuple[int, ...], channels: int) -> nn.Sequential:
    """Codes [b, inputs] to images [b, *shape] (logits): a grid of places and three 3×3 convolutions on it."""
    values, height, width = shape
    grid = (-(-height // PIXELS), -(-width // PIXELS))  # rounded up; what sticks out is cut off
    return nn.Sequential(
        nn.Linear(inputs, channels),
        AtEveryPlace(channels, grid),
        nn.ReLU(),
        nn.Conv2d(channels, channels, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(channels, channels, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(channels, values * PIXELS**2, 3, padding=1),
        nn.PixelShuffle(PIXELS),
        Cut(height, width),
    )


@torch.no_grad()
def start_at_colour(decoder: nn.Sequential, colour: Tensor) -> None:
    """Let an untrained decoder paint every pixel in this colour, [value] within [0, 1].

    From grey, its first steps towards bright images overshoot into the flat ends of the logistic function, where no
    gradient leads back.
    """
    last = next(layer for layer in reversed(decoder) if isinstance(layer, nn.Conv2d))
    assert last.bias is not None
    last.bias.copy_(colour.clamp(0.01, 0.99).logit().repeat_interleave(PIXELS**2))


class AtEveryPlace(nn.Module):
    """Features [b, channel] to a map [b, channel, *grid]: the features plus a linear function of the place."""

    places: Tensor

    def __init__(self, channels: int, grid: tuple[int, int]) -> None:
        super().__init__()
        rows, columns = (torch.linspace(-1, 1, size) for size in grid)
        self.register_buffer(
            "places", torch.stack(torch.meshgrid(rows, columns, indexing="ij"))[None], persistent=False
        )
        self.project = nn.Conv2d(2, channels, 1, bias=False)

    def forward(self, features: Tensor) -> Tensor:
        """The same features everywhere, told apart by where they are."""
        return features[:, :, None, None] + self.project(self.places)  # type: ignore[no-any-return]


class Cut(nn.Module):
    """Images cut to a height and a width from their upper left corner."""

    def __init__(self, height: int, width: int) -> None:
        super().__init__()
        self.height, self.width = height, width

    def forward(self, images: Tensor) -> Tensor:
        """[b, channel, height, width]."""
        return images[:, :, : self.height, : self.width]
