"""Does one code move alone? Each code of c is given another image's value, z stays, and stage 1 reads what was made."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid.api import Run
from unbraid.papers.measures.exchanged import found_in
from unbraid.papers.measures.moving import move_each


def share_of_others(moves: NDArray[np.float64]) -> float:
    """How much of what moves is another code than the one that was moved.

    Args:
        moves: squared moves in parts of each code's variance, averaged over images, [moved code, read code].

    Returns:
        The share of the sum that does not lie on the diagonal: 0 where codes move alone.

    Example:
        >>> share_of_others(np.array([[3.0, 1.0], [0.0, 4.0]]))
        0.125
    """
    return float(1 - np.trace(moves) / moves.sum())


@torch.inference_mode()
def moved_alone(run: Run, stage: int = -1) -> float:
    """The share of others when the codes c of stage 1 are moved one at a time and all else stays.

    Args:
        run: whose stage 1 holds c, as its first group of codes.
        stage: whose output stage 1's encoder reads: −1 for x̂, 0 for y.

    Returns:
        0 where codes move alone; NaN where no code tells anything.
    """
    moves = move_each(run)

    def read(outputs: list[Tensor]) -> Tensor:
        return found_in(run, outputs[stage])[:, moves.used]

    if not moves.used:
        return float("nan")
    before = read(moves.before)
    moved = [(((read(after) - before) / moves.spreads) ** 2).mean(0) for after in moves.after]
    return share_of_others(torch.stack(moved).double().cpu().numpy())
