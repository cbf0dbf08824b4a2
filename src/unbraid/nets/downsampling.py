"""The encoders' layer: a convolution of stride 2, without what makes PyTorch's own slow on a CPU."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.nets.doubling import FEW_CHANNELS
from unbraid.nets.upsampling import takes_own_backward, upsample


class Downsampling(nn.Conv2d):
    """`nn.Conv2d` of stride 2 whose gradients take less time on a CPU, and differ by rounding.

    PyTorch is slow there in two places: the gradient of larger maps of few channels, which is an `Upsampling`, and the
    gradient of the bias, a plain sum. Parameters have the same names and shapes. Elsewhere, in exported graphs and in
    transforms of `torch.func` it is the ordinary layer.

    Args:
        before: channels of the larger maps.
        after: channels of the maps.
        kernel: height and width of the kernels.

    Example:
        >>> Downsampling(1, 8, kernel=4)(torch.zeros(2, 1, 32, 32)).shape
        torch.Size([2, 8, 16, 16])
    """

    def __init__(self, before: int, after: int, kernel: int) -> None:
        super().__init__(before, after, kernel, stride=2, padding=(kernel - 1) // 2)

    def forward(self, x: Tensor) -> Tensor:
        """[b, after, height, width] from [b, before, 2·height, 2·width]."""
        if not takes_own_backward(x):
            return super().forward(x)
        made: Tensor = _Downsample.apply(x, self.weight, self.bias, self.padding)  # type: ignore[no-untyped-call]
        return made


class _Downsample(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, padding: tuple[int, int]) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.padding = padding
        return F.conv2d(x, weight, bias, 2, padding)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        """It consists of differentiable operations."""
        x, weight = (saved.to(gradient.dtype) for saved in ctx.saved_tensors)  # half precision keeps single weights
        for_x, for_weight, for_bias = ctx.needs_input_grad[:3]
        enlarges = for_x and weight.shape[1] <= FEW_CHANNELS
        wanted = (for_x and not enlarges, for_weight, False)
        of_x, of_weight, _ = torch.ops.aten.convolution_backward.default(
            gradient, x, weight, None, (2, 2), ctx.padding, (1, 1), False, (0, 0), 1, wanted
        )
        if enlarges:
            of_x = upsample(gradient, weight, None, ctx.padding, rest(x, gradient, weight, ctx.padding))
        return of_x, of_weight, gradient.sum((0, 2, 3)) if for_bias else None, None


def rest(large: Tensor, small: Tensor, weight: Tensor, padding: tuple[int, int]) -> tuple[int, int]:
    """Rows and columns of a map that no kernel reaches, because its size is odd.

    Example:
        >>> weight = torch.zeros(1, 1, 4, 4)
        >>> rest(torch.zeros(1, 1, 9, 8), torch.zeros(1, 1, 4, 4), weight, (1, 1))
        (1, 0)
    """
    height, width = (
        large.shape[side] - (2 * (small.shape[side] - 1) + weight.shape[side] - 2 * padding[side - 2])
        for side in (2, 3)
    )
    return height, width
