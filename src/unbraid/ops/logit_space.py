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
    """Observations as density models see them; vectors stay as they are.

    Args:
        x: images [b, channel, height, width] in [0, 1], or vectors [b, value].
        noise: in [0, 1), [b, value]: where within its byte a value lies; the middle, if none is given.

    Returns:
        [b, value]: for images the logit of the dequantised bytes.

    Reference:
        Papamakarios et al. 2017; MS-VAE, appendix D.

    Example:
        >>> enter(torch.full((1, 1, 1, 1), 0.5)).abs().item() < 1e-6  # the middle of [0, 1] is 0
        True
    """
    if x.ndim != 4:
        return x
    flat = x.flatten(1)
    share = torch.full_like(flat, 0.5) if noise is None else noise
    p = ((LEVELS - 1) * flat + share) / LEVELS
    return torch.logit(MARGIN + (1 - 2 * MARGIN) * p)


def enter_noisily(x: Tensor) -> Tensor:
    """The same with uniform noise: a draw of the continuous value that the byte stands for.

    Args:
        x: images [b, channel, height, width] in [0, 1], or vectors [b, value].

    Returns:
        [b, value].

    Example:
        >>> enter_noisily(torch.zeros(2, 1, 2, 2)).shape
        torch.Size([2, 4])
    """
    return enter(x, torch.rand_like(x.flatten(1)) if x.ndim == 4 else None)


def leave(t: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Observations from values in logit space: the inverse of `enter`, up to dequantisation.

    Args:
        t: values in the space, [b, value].
        shape: of an observation.

    Returns:
        [b, *shape]; images in [0, 1].

    Example:
        >>> x = torch.tensor([0.0, 51.0, 255.0]).view(1, 3, 1, 1) / 255
        >>> bool(torch.allclose(leave(enter(x), (3, 1, 1)), x, atol=1e-4))
        True
    """
    if len(shape) != 3:
        return t
    p = (t.sigmoid() - MARGIN) / (1 - 2 * MARGIN)
    return ((LEVELS * p - 0.5) / (LEVELS - 1)).clamp(0, 1).unflatten(1, shape)  # type: ignore[no-any-return]


def dimension(shape: tuple[int, ...]) -> int:
    """How many values an observation has.

    Args:
        shape: of an observation.

    Returns:
        The product of its sizes.

    Example:
        >>> dimension((3, 4, 5))
        60
    """
    return prod(shape)
