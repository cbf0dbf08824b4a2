"""Traversals of one shape in numbers: how many codes move its place and size in what the decoder makes?"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid.api import Run
from unbraid.papers.measures.moving import move_each


def place_and_size(images: Tensor) -> Tensor:
    """Where a bright shape is and how large.

    Args:
        images: [n, 1, height, width], dark but for the shape.

    Returns:
        [n, 3]: the centre's column and row in pixels, and the root of the sum of all pixels.

    Example:
        >>> place_and_size(torch.tensor([[[[0.0, 0.0, 0.0], [0.0, 2.0, 2.0]]]]))
        tensor([[1.5000, 1.0000, 2.0000]])
    """
    weights = images.flatten(0, 1)  # [n, height, width]
    total = weights.sum(dim=(1, 2)).clamp(min=1e-6)
    rows, columns = (torch.arange(n, dtype=weights.dtype, device=weights.device) for n in weights.shape[1:])
    x, y = weights.sum(1) @ columns / total, weights.sum(2) @ rows / total
    return torch.stack([x, y, total.sqrt()], dim=1)


def share_of_the_first(moves: NDArray[np.float64]) -> float:
    """The share of a factor's movement that is one code's, averaged over factors.

    Args:
        moves: squared moves, averaged over images, [moved code, factor].

    Returns:
        1 where each factor is moved by one code alone; 1 / codes where all move it alike.

    Example:
        >>> share_of_the_first(np.array([[3.0, 1.0], [1.0, 1.0]]))
        0.625
    """
    return float((moves.max(axis=0) / moves.sum(axis=0)).mean())


@torch.inference_mode()
def moved_by_one(run: Run) -> float:
    """Of how a shape's x, y and size move when codes are given another image's value: the share of one code each.

    Args:
        run: of one stage, on images of one bright shape.

    Returns:
        From 1 / codes to 1; NaN where no code tells anything.
    """
    moves = move_each(run)
    if not moves.used:
        return float("nan")
    before = place_and_size(moves.before[0])
    moved = [((place_and_size(after[0]) - before) ** 2).mean(0) for after in moves.after]
    return share_of_the_first(torch.stack(moved).double().cpu().numpy())
