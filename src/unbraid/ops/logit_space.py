"""Densities of images live in logit space: bytes are dequantised, then stretched from [0, 1] over the real line.

A log-density there is of the stretched values; it is what Papamakarios et al. 2017 and MS-FLOW report.
"""

from __future__ import annotations

from math import prod

import torch
from torch import Tensor

LEVELS = 256
MARGIN = 1e-6  # λ: how far from 0 and 1 the logit is taken


def enter(x: Tensor, noise: Tensor | None = None) -> Tensor:
    """Observations as density models see them, [b, value]; vectors stay as they are.

    Images in [0, 1] get `noise` in [0, 1) within their byte (its middle, if none is given), then the logit.
    """
    if x.ndim != 4:
        return x
    flat = x.flatten(1)
    share = torch.full_like(flat, 0.5) if noise is None else noise
    p = ((LEVELS - 1) * flat + share) / LEVELS
    return torch.logit(MARGIN + (1 - 2 * MARGIN) * p)


def enter_noisily(x: Tensor) -> Tensor:
    """The same with uniform noise: a draw of the continuous value that the byte stands for."""
    return enter(x, torch.rand_like(x.flatten(1)) if x.ndim == 4 else None)


def leave(t: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Observations of this shape from values in the space: the inverse of `enter`, up to dequantisation."""
    if len(shape) != 3:
        return t
    p = (t.sigmoid() - MARGIN) / (1 - 2 * MARGIN)
    return ((LEVELS * p - 0.5) / (LEVELS - 1)).clamp(0, 1).unflatten(1, shape)  # type: ignore[no-any-return]


def dimension(shape: tuple[int, ...]) -> int:
    """Values of an observation."""
    return prod(shape)
