"""The Inception-v3 of 2015-12-05 up to its pool features, as FID has always used it.

The weights are the public file `pt_inception-2015-12-05-6726825d.pth`; names of submodules are that file's. Against
the torchvision network three things differ: average pools leave the padding out of the count, the last block pools by
maximum, and batch normalisation has no scale.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Kernel = int | tuple[int, int]
Layer = tuple[str, int, Kernel, int]  # name, channels, kernel, stride; a stride of 2 and stem layers have no padding
POOL_FEATURES = 2048


class ConvNorm(nn.Module):
    """Convolution, batch normalisation with the stored statistics, ReLU."""

    def __init__(self, before: int, after: int, kernel: Kernel, stride: int = 1, padded: bool = True) -> None:
        super().__init__()
        height, width = (kernel, kernel) if isinstance(kernel, int) else kernel
        padding = (height // 2, width // 2) if padded else (0, 0)
        self.conv = nn.Conv2d(before, after, (height, width), stride, padding, bias=False)
        self.bn = nn.BatchNorm2d(after, eps=0.001)

    def forward(self, x: Tensor) -> Tensor:
        """Maps to maps."""
        return F.relu(self.bn(self.conv(x)))


class Block(nn.Module):
    """Branches side by side, joined by channel. A branch is layers in a row; a tuple at its end forks it in two."""

    def __init__(self, before: int, branches: list[list[Layer | tuple[Layer, Layer]]], pool: str) -> None:
        super().__init__()
        self.branches: list[list[tuple[str, ...]]] = []
        self.pool = pool
        self.channels = 0
        for branch in branches:
            channels, names = before, []
            for step in branch:
                fork = step if isinstance(step[0], tuple) else (step,)
                for name, after, kernel, stride in fork:
                    self.add_module(name, ConvNorm(channels, after, kernel, stride, padded=stride == 1))
                names.append(tuple(layer[0] for layer in fork))
                channels = sum(layer[1] for layer in fork)
            self.branches.append(names)
            self.channels += channels
        if pool == "max-2":
            self.channels += before

    def forward(self, x: Tensor) -> Tensor:
        """Maps to maps."""
        outputs = []
        for names in self.branches:
            h = self._pooled(x) if names[0][0] == "branch_pool" else x
            for fork in names:
                h = torch.cat([self.get_submodule(name)(h) for name in fork], dim=1)
            outputs.append(h)
        if self.pool == "max-2":
            outputs.append(F.max_pool2d(x, 3, stride=2))
        return torch.cat(outputs, dim=1)

    def _pooled(self, x: Tensor) -> Tensor:
        if self.pool == "max":
            return F.max_pool2d(x, 3, stride=1, padding=1)
        return F.avg_pool2d(x, 3, stride=1, padding=1, count_include_pad=False)


def _block_a(before: int, pool: int) -> Block:
    return Block(
        before,
        [
            [("branch1x1", 64, 1, 1)],
            [("branch5x5_1", 48, 1, 1), ("branch5x5_2", 64, 5, 1)],
            [("branch3x3dbl_1", 64, 1, 1), ("branch3x3dbl_2", 96, 3, 1), ("branch3x3dbl_3", 96, 3, 1)],
            [("branch_pool", pool, 1, 1)],
        ],
        "average",
    )


def _block_b(before: int) -> Block:
    double: list[Layer | tuple[Layer, Layer]] = [
        ("branch3x3dbl_1", 64, 1, 1),
        ("branch3x3dbl_2", 96, 3, 1),
        ("branch3x3dbl_3", 96, 3, 2),
    ]
    return Block(before, [[("branch3x3", 384, 3, 2)], double], "max-2")


def _block_c(before: int, inner: int) -> Block:
    wide, tall = (1, 7), (7, 1)
    return Block(
        before,
        [
            [("branch1x1", 192, 1, 1)],
            [("branch7x7_1", inner, 1, 1), ("branch7x7_2", inner, wide, 1), ("branch7x7_3", 192, tall, 1)],
            [
                ("branch7x7dbl_1", inner, 1, 1),
                ("branch7x7dbl_2", inner, tall, 1),
                ("branch7x7dbl_3", inner, wide, 1),
                ("branch7x7dbl_4", inner, tall, 1),
                ("branch7x7dbl_5", 192, wide, 1),
            ],
            [("branch_pool", 192, 1, 1)],
        ],
        "average",
    )


def _block_d(before: int) -> Block:
    return Block(
        before,
        [
            [("branch3x3_1", 192, 1, 1), ("branch3x3_2", 320, 3, 2)],
            [
                ("branch7x7x3_1", 192, 1, 1),
                ("branch7x7x3_2", 192, (1, 7), 1),
                ("branch7x7x3_3", 192, (7, 1), 1),
                ("branch7x7x3_4", 192, 3, 2),
            ],
        ],
        "max-2",
    )


def _block_e(before: int, pool: str) -> Block:
    wide, tall = (1, 3), (3, 1)
    return Block(
        before,
        [
            [("branch1x1", 320, 1, 1)],
            [("branch3x3_1", 384, 1, 1), (("branch3x3_2a", 384, wide, 1), ("branch3x3_2b", 384, tall, 1))],
            [
                ("branch3x3dbl_1", 448, 1, 1),
                ("branch3x3dbl_2", 384, 3, 1),
                (("branch3x3dbl_3a", 384, wide, 1), ("branch3x3dbl_3b", 384, tall, 1)),
            ],
            [("branch_pool", 192, 1, 1)],
        ],
        pool,
    )


class Inception(nn.Module):
    """Images [b, 3, 299, 299] in [−1, 1] to pool features [b, 2048]."""

    def __init__(self) -> None:
        super().__init__()
        self.Conv2d_1a_3x3 = ConvNorm(3, 32, 3, stride=2, padded=False)
        self.Conv2d_2a_3x3 = ConvNorm(32, 32, 3, padded=False)
        self.Conv2d_2b_3x3 = ConvNorm(32, 64, 3)
        self.Conv2d_3b_1x1 = ConvNorm(64, 80, 1)
        self.Conv2d_4a_3x3 = ConvNorm(80, 192, 3, padded=False)
        channels = 192
        makers: dict[str, Callable[[int], Block]] = {
            "Mixed_5b": partial(_block_a, pool=32),
            "Mixed_5c": partial(_block_a, pool=64),
            "Mixed_5d": partial(_block_a, pool=64),
            "Mixed_6a": _block_b,
            "Mixed_6b": partial(_block_c, inner=128),
            "Mixed_6c": partial(_block_c, inner=160),
            "Mixed_6d": partial(_block_c, inner=160),
            "Mixed_6e": partial(_block_c, inner=192),
            "Mixed_7a": _block_d,
            "Mixed_7b": partial(_block_e, pool="average"),
            "Mixed_7c": partial(_block_e, pool="max"),
        }
        self.blocks = tuple(makers)
        for name, make in makers.items():
            block = make(channels)
            self.add_module(name, block)
            channels = block.channels

    def forward(self, x: Tensor) -> Tensor:
        """[b, 2048]."""
        h: Tensor = self.Conv2d_2b_3x3(self.Conv2d_2a_3x3(self.Conv2d_1a_3x3(x)))
        h = self.Conv2d_4a_3x3(self.Conv2d_3b_1x1(F.max_pool2d(h, 3, stride=2)))
        h = F.max_pool2d(h, 3, stride=2)
        for name in self.blocks:
            h = self.get_submodule(name)(h)
        return h.mean(dim=(2, 3))
