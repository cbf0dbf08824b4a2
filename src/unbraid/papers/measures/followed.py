"""Traversals of a chain in numbers: does x̂ change as y does when a code is moved, and how much detail has it?"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from unbraid.api import Run
from unbraid.papers.measures.chains import NOTHING, Measures
from unbraid.papers.measures.moving import ROWS, Moves, move_each
from unbraid.runs.codes import choose_rows


def agreement(one: Tensor, other: Tensor) -> float:
    """The mean over images of the cosine between two changes; 1: the same direction in every pixel.

    Args:
        one: changes, [n, …].
        other: as many.

    Returns:
        From −1 to 1.

    Example:
        >>> agreement(torch.tensor([[3.0, 0.0], [1.0, 1.0]]), torch.tensor([[6.0, 0.0], [1.0, -1.0]]))
        0.5
    """
    return float(torch.cosine_similarity(one.flatten(1), other.flatten(1)).mean())


def detail(images: Tensor) -> float:
    """The mean absolute difference between neighbouring pixels.

    Args:
        images: [n, channel, height, width].

    Returns:
        0 for images of one colour.

    Example:
        >>> detail(torch.tensor([[[[0.0, 1.0], [0.0, 1.0]]]]))
        0.5
    """
    down, across = images.diff(dim=-2).abs().mean(), images.diff(dim=-1).abs().mean()
    return float((down + across) / 2)


def compare(moves: Moves, real: Tensor) -> tuple[float, float, float, float]:
    """Of codes that are moved one at a time while z stays, means over codes.

    Args:
        moves: of a chain with two stages or more.
        real: images of the data, [n, channel, height, width].

    Returns:
        How x̂ changes with y's change; with the change that the next code makes to y; the detail of the moved y and x̂
        in parts of the data's.
    """
    if len(moves.used) < 2 or len(moves.before) < 2:
        return NOTHING, NOTHING, NOTHING, NOTHING
    y = [after[0] - moves.before[0] for after in moves.after]
    made = [after[-1] - moves.before[-1] for after in moves.after]
    same = np.mean([agreement(a, b) for a, b in zip(made, y, strict=True)])
    other = np.mean([abs(agreement(a, b)) for a, b in zip(made, y[1:] + y[:1], strict=True)])
    coarse, fine = (np.mean([detail(after[stage]) for after in moves.after]) / detail(real) for stage in (0, -1))
    return float(same), float(other), float(coarse), float(fine)


@lru_cache(maxsize=1)
def traversed(folder: Path) -> tuple[float, float, float, float]:
    """The same of a run."""
    run = Run.open(folder)
    return compare(move_each(run), run.observations(choose_rows(len(run.data), ROWS, 1)))


MEASURES: Measures = {
    "follows": lambda run: traversed(run.folder)[0],
    "follows-another": lambda run: traversed(run.folder)[1],
    "detail-y": lambda run: traversed(run.folder)[2],
    "detail-made": lambda run: traversed(run.folder)[3],
}
