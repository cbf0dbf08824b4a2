"""The decoders' layer: a transposed convolution of stride 2, without what makes PyTorch's own slow on a CPU."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.nets.doubling import KERNEL, doubled

# What `torch.autograd.Function` itself asks; PyTorch has no public name for it, and one day may not have this one.
transforms_active = getattr(torch._C, "_are_functorch_transforms_active", lambda: False)


class Upsampling(nn.ConvTranspose2d):
    """`nn.ConvTranspose2d` of stride 2 whose values and gradients take less time on a CPU, and differ by rounding.

    PyTorch is slow there in two places: the values of few channels (`doubled`), and the gradient of the bias, which its
    backward takes up to 70 times as long for as a plain sum. Parameters have the same names and shapes. Elsewhere, in
    exported graphs and in transforms of `torch.func` it is the ordinary layer.

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
        if not takes_own_backward(x):
            return super().forward(x, output_size)
        return upsample(x, self.weight, self.bias, self.padding, self.output_padding)


def takes_own_backward(x: Tensor) -> bool:
    """Whether a layer may compute x in its own way: on a CPU, and not while something looks into what it does.

    Example:
        >>> takes_own_backward(torch.zeros(1)), takes_own_backward(torch.zeros(1, device="meta"))
        (True, False)
    """
    # A function that `torch.func` could look into would take 20 µs longer at every call.
    watched = torch.compiler.is_compiling() or transforms_active()
    return x.device.type == "cpu" and not watched


def upsample(x: Tensor, weight: Tensor, bias: Tensor | None, padding: Any, extra: Any) -> Tensor:
    """What the layer does, with its own backward.

    Example:
        >>> upsample(torch.zeros(2, 8, 4, 4), torch.zeros(8, 3, 4, 4), None, (1, 1), (0, 0)).shape
        torch.Size([2, 3, 8, 8])
    """
    if not torch.is_grad_enabled():
        return _values(x, weight, bias, padding, extra)
    return _Upsample.apply(x, weight, bias, padding, extra)  # type: ignore[no-untyped-call, no-any-return]


def _values(x: Tensor, weight: Tensor, bias: Tensor | None, padding: Any, extra: Any) -> Tensor:
    if weight.shape[2] == KERNEL and extra == (0, 0):
        return doubled(x, weight, bias)
    return F.conv_transpose2d(x, weight, bias, 2, padding, extra)


class _Upsample(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, padding: Any, extra: Any) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.sizes = padding, extra
        return _values(x, weight, bias, padding, extra)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        """The ordinary layer's, but for the bias. It consists of differentiable operations."""
        x, weight = (saved.to(gradient.dtype) for saved in ctx.saved_tensors)  # half precision keeps single weights
        padding, extra = ctx.sizes
        for_x, for_weight, for_bias = ctx.needs_input_grad[:3]
        of_x, of_weight, _ = torch.ops.aten.convolution_backward.default(
            gradient, x, weight, None, (2, 2), padding, (1, 1), True, extra, 1, (for_x, for_weight, False)
        )
        return of_x, of_weight, gradient.sum((0, 2, 3)) if for_bias else None, None, None
