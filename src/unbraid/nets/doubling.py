"""A transposed 4×4 convolution of stride 2 and padding 1, without what makes PyTorch's own slow on a CPU.

It makes a decoder's maps twice as large, and takes the gradient of an encoder's back to the larger map.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

KERNEL = 4
FEW_CHANNELS = 16  # of the larger maps, up to which all of these are faster than PyTorch's own; with 32 they are not
FEWEST_SHIFTED = 4  # channels of the larger maps from which `shifts` multiplies matrices of some width


def doubled(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """The transposed convolution in the way that is fastest for these channels.

    Args:
        x: maps, [b, before, height, width].
        weight: [before, after, 4, 4].
        bias: [after].

    Returns:
        [b, after, 2·height, 2·width], channels-last.

    Example:
        >>> doubled(torch.zeros(2, 5, 3, 4), torch.zeros(5, 1, 4, 4)).shape
        torch.Size([2, 1, 6, 8])
    """
    before, after = weight.shape[:2]
    if after > FEW_CHANNELS:
        return F.conv_transpose2d(x, weight, bias, 2, 1)
    if x.element_size() < 4 or torch.is_autocast_enabled("cpu"):
        return phases(x, weight, bias)  # the others' sums would be rounded to half precision one by one
    if after == 1:
        return overlaps(x, weight, bias)
    return shifts(x, weight, bias) if after >= FEWEST_SHIFTED and before <= FEW_CHANNELS else phases(x, weight, bias)


def phases(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """The same as one 2×2 convolution.

    Each pixel of the image sees 2×2 pixels of the maps. Which of the 16 weights meet them depends on whether its row
    and its column are even or odd: four kernels of 2×2. What they make of one place are four neighbours in an image
    with a border of one pixel, which is cut off.

    Args:
        x: maps, [b, before, height, width].
        weight: [before, after, 4, 4].
        bias: [after].

    Returns:
        [b, after, 2·height, 2·width], channels-last.

    Example:
        >>> x, weight, bias = torch.randn(2, 5, 3, 4), torch.randn(5, 3, 4, 4), torch.randn(3)
        >>> torch.allclose(phases(x, weight, bias), F.conv_transpose2d(x, weight, bias, 2, 1), atol=1e-5)
        True
    """
    before, after = weight.shape[:2]
    taps = weight.reshape(before, after, 2, 2, 2, 2).flip(2, 4)  # [before, after, tap, odd row, tap, odd column]
    kernels = taps.permute(3, 5, 1, 2, 4, 0).reshape(4 * after, 2, 2, before).permute(0, 3, 1, 2)  # channels-last
    made = F.conv2d(x, kernels, None if bias is None else torch.cat((bias,) * 4), padding=1)
    return _neighbours(made.permute(0, 2, 3, 1), after)


def shifts(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """The convolution of `phases` as four products of matrices, one for each pixel of the maps that a pixel sees.

    With a column and a row of zeros after each map, a neighbour is a fixed number of places away, also from one row to
    the next: the matrix of all neighbours is the matrix of all places, begun earlier.

    Args:
        x: maps, [b, before, height, width].
        weight: [before, after, 4, 4].
        bias: [after].

    Returns:
        [b, after, 2·height, 2·width], channels-last.

    Example:
        >>> x, weight, bias = torch.randn(2, 5, 3, 4), torch.randn(5, 8, 4, 4), torch.randn(8)
        >>> torch.allclose(shifts(x, weight, bias), F.conv_transpose2d(x, weight, bias, 2, 1), atol=1e-5)
        True
    """
    before, after = weight.shape[:2]
    batch, _, height, width = x.shape
    line, count = width + 1, batch * (height + 1) * (width + 1)
    places = x.new_zeros(line + 1 + count, before)  # above the first row and left of the first place are zeros, too
    places[line + 1 :].view(batch, height + 1, line, before)[:, :height, :width] = x.permute(0, 2, 3, 1)
    taps = weight.reshape(before, after, 2, 2, 2, 2).permute(2, 4, 0, 3, 5, 1).reshape(4, before, 4 * after)
    here, left, above, above_left = taps.unbind()
    own = places[line + 1 :]
    made = own @ here if bias is None else torch.addmm(torch.cat((bias,) * 4), own, here)
    made.addmm_(places[line:-1], left).addmm_(places[1:-line], above).addmm_(places[:count], above_left)
    return _neighbours(made.view(batch, height + 1, line, 4 * after), after)


def overlaps(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """The same as one product of matrices: each place of the maps makes 4×4 pixels, which overlap by two.

    The inner 2×2 of them are a place's own; the outer ones are added to the inner ones of its neighbours.

    Args:
        x: maps, [b, before, height, width].
        weight: [before, after, 4, 4].
        bias: [after].

    Returns:
        [b, after, 2·height, 2·width], channels-last.

    Example:
        >>> x, weight, bias = torch.randn(2, 5, 3, 4), torch.randn(5, 1, 4, 4), torch.randn(1)
        >>> torch.allclose(overlaps(x, weight, bias), F.conv_transpose2d(x, weight, bias, 2, 1), atol=1e-5)
        True
    """
    before, after = weight.shape[:2]
    batch, _, height, width = x.shape
    places, kernels = x.permute(0, 2, 3, 1).reshape(-1, before), weight.permute(2, 3, 1, 0).reshape(-1, before)
    made = (kernels @ places.T).view(KERNEL, KERNEL, after, batch, height, width)
    made[1, ..., 1:, :] += made[3, ..., :-1, :]
    made[2, ..., :-1, :] += made[0, ..., 1:, :]
    rows = made[1:3]  # [row, column, after, b, height, width]
    rows[:, 1, ..., 1:] += rows[:, 3, ..., :-1]
    rows[:, 2, ..., :-1] += rows[:, 0, ..., 1:]
    image = rows[:, 1:3].permute(3, 4, 0, 5, 1, 2).reshape(batch, 2 * height, 2 * width, after)
    if bias is not None:
        image += bias
    return image.permute(0, 3, 1, 2)


def _neighbours(made: Tensor, after: int) -> Tensor:
    """Four neighbours of each place, [b, height + 1, width + 1, 4·after], as an image without its border."""
    batch, lines, places, _ = made.shape
    rows = made.reshape(batch, lines, places, 2, 2 * after).transpose(2, 3)
    image = rows.reshape(batch, 2 * lines, 2 * places, after)
    return image[:, 1:-1, 1:-1].contiguous().permute(0, 3, 1, 2)
