"""The decoders' layer: a transposed convolution of stride 2, without what makes PyTorch's own slow on a CPU."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

FEW_CHANNELS = 8  # up to which `phases` is faster than PyTorch's own; with 16 it is not
KERNEL = 4  # of `phases`


class Upsampling(nn.ConvTranspose2d):
    """`nn.ConvTranspose2d` of stride 2 whose values and gradients take less time on a CPU, and differ by rounding.

    PyTorch is slow there in two places: the values of few channels, as in the last layer (`phases` takes a third of the
    time), and the gradient of the bias, which its backward takes up to 70 times as long for as a plain sum. Parameters
    have the same names and shapes. Elsewhere, and in exported graphs, it is the ordinary layer.

    Args:
        before: channels of the maps.
        after: channels of the larger maps.
        kernel: height and width of the kernels.
        extra: rows and columns beyond twice the size.

    Example:
        >>> Upsampling(8, 1, kernel=4)(torch.zeros(2, 8, 16, 16)).shape
        torch.Size([2, 1, 32, 32])
    """

    def __init__(self, before: int, after: int, kernel: int, extra: tuple[int, int] = (0, 0)) -> None:
        super().__init__(before, after, kernel, stride=2, padding=(kernel - 1) // 2, output_padding=extra)

    def forward(self, x: Tensor, output_size: list[int] | None = None) -> Tensor:
        """[b, after, 2·height, 2·width] from [b, before, height, width]."""
        if x.device.type != "cpu" or torch.compiler.is_compiling():
            return super().forward(x, output_size)
        made: Tensor = _Upsample.apply(x, self.weight, self.bias, self.padding, self.output_padding)  # type: ignore[no-untyped-call]
        return made


class _Upsample(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, weight: Tensor, bias: Tensor, padding: tuple[int, int], extra: tuple[int, int]) -> Tensor:
        if weight.shape[1] <= FEW_CHANNELS and weight.shape[2] == KERNEL and extra == (0, 0):
            return phases(x, weight, bias)
        return F.conv_transpose2d(x, weight, bias, 2, padding, extra)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        x, weight, _, *ctx.sizes = inputs
        ctx.save_for_backward(x, weight)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        """The ordinary layer's, but for the bias. It consists of differentiable operations."""
        x, weight = (saved.to(gradient.dtype) for saved in ctx.saved_tensors)  # half precision keeps single weights
        padding, extra = ctx.sizes
        for_x, for_weight, for_bias = ctx.needs_input_grad[:3]
        of_x, of_weight, _ = torch.ops.aten.convolution_backward(
            gradient, x, weight, None, (2, 2), padding, (1, 1), True, extra, 1, (for_x, for_weight, False)
        )
        return of_x, of_weight, gradient.sum((0, 2, 3)) if for_bias else None, None, None


def phases(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """A transposed 4×4 convolution of stride 2 and padding 1 as one 2×2 convolution.

    Each pixel of the image sees 2×2 pixels of the maps. Which of the 16 weights meet them depends on whether its row
    and its column are even or odd: four kernels of 2×2, whose four images are interleaved.

    Args:
        x: maps, [b, before, height, width].
        weight: [before, after, 4, 4].
        bias: [after].

    Returns:
        [b, after, 2·height, 2·width], channels-last.

    Example:
        >>> x, weight, bias = torch.randn(2, 5, 3, 4), torch.randn(5, 1, 4, 4), torch.randn(1)
        >>> torch.allclose(phases(x, weight, bias), F.conv_transpose2d(x, weight, bias, 2, 1), atol=1e-5)
        True
    """
    before, after = weight.shape[:2]
    batch, _, height, width = x.shape
    taps = weight.flip(2, 3).reshape(before, after, 2, 2, 2, 2)  # [before, after, tap, odd row, tap, odd column]
    kernels = taps.permute(3, 5, 1, 2, 4, 0).reshape(4 * after, 2, 2, before).permute(0, 3, 1, 2)  # channels-last
    parts = F.conv2d(x, kernels, bias.expand(4, -1).flatten(), padding=1).unflatten(1, (2, 2, after))
    image: Tensor = parts.new_empty(batch, 2 * height, 2 * width, after).permute(0, 3, 1, 2)
    for row in (0, 1):
        for column in (0, 1):
            part = parts[:, row, column, :, row : row + height, column : column + width]
            image[:, :, row::2, column::2] = part
    return image
