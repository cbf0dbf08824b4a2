"""Networks that work on images smaller than the data: a first stage blurs anyway, and half the side costs a quarter."""

from __future__ import annotations

from math import prod

from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.errors import InputError


class Resolution(nn.Module):
    """The size that a method's networks work with, between observations of one size on both sides.

    Encoders see means over areas; decoders' images are enlarged by bilinear interpolation. `weight` is the number of
    the data's values for each of the networks': a loss that is summed over the small image and taken that many times
    is as large against the KL as at full size, so that β and its like need no other value. (It is then a likelihood of
    the small image, counted several times.)

    Args:
        shape: of the observations.
        side: pixels of the smaller image's shorter side; 0 for the observations' own size.

    Example:
        >>> half = Resolution((3, 64, 64), side=32)
        >>> half.shape, half.weight
        ((3, 32, 32), 4.0)
    """

    def __init__(self, shape: tuple[int, ...], side: int) -> None:
        super().__init__()
        self.full, self.shape, self.weight = shape, shape, 1.0
        if side == 0:
            return
        if len(shape) != 3:
            raise InputError("--resolution is for images: leave it out for vectors.")
        shorter = min(shape[1:])
        if not 1 <= side <= shorter:
            raise InputError(f"--resolution must be from 1 to the {shorter} pixels of the images, not {side}.")
        self.shape = (shape[0], *(max(1, round(length * side / shorter)) for length in shape[1:]))
        self.weight = prod(self.full) / prod(self.shape)

    def down(self, x: Tensor) -> Tensor:
        """Observations as the networks see them."""
        if self.shape == self.full:
            return x
        if all(length == 2 * half for length, half in zip(self.full[1:], self.shape[1:], strict=True)):
            # The same means to the bit in a third of the time, which is a tenth of a small first stage's step.
            top, bottom = x[..., ::2, :], x[..., 1::2, :]
            return (top[..., ::2] + top[..., 1::2] + bottom[..., ::2] + bottom[..., 1::2]) * 0.25
        return F.interpolate(x, self.shape[1:], mode="area")

    def up(self, x: Tensor) -> Tensor:
        """What the networks make, in the size of the observations."""
        return x if self.shape == self.full else F.interpolate(x, self.full[1:], mode="bilinear")
