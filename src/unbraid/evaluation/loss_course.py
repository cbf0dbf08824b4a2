"""The course of a training loss: has it come to rest, and if not, how many steps would it have taken to?"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

LEAST_POINTS = 40  # of the loss, below which its course cannot be told from noise
AT_REST = 0.01  # part of the whole fall that a quarter of the training may still bring to a loss at rest
NOT_SLOWING = -1  # in place of a number of steps


def logged_loss(path: Path, name: str = "total") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Steps and loss of a stage's first update; a step that was logged twice counts once, as last written.

    Args:
        path: of the log.
        name: of the loss: total, or held_out/total.
    """
    values: dict[int, float] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        try:
            entry = json.loads(line)
        except ValueError:  # a killed run can leave half a line
            continue
        first = next((key for key in entry if key.partition("/")[2] == name), None)
        if first is not None and isinstance(entry[first], int | float) and np.isfinite(entry[first]):
            values[int(entry["step"])] = float(entry[first])
    steps = sorted(values)
    return np.array(steps, dtype=float), np.array([values[step] for step in steps], dtype=float)


def steps_to_rest(steps: NDArray[np.float64], loss: NDArray[np.float64]) -> int | None:
    """How many more steps until a quarter of the training so far brings hardly anything.

    The falls from the second quarter of the training to the third, and from the third to the last, say how fast the
    fall slows down; it is taken to go on like that.

    Returns:
        0 at rest, `NOT_SLOWING` if there is no end to it, None if nothing can be told: of few points, or of a loss that
        rises, as those do whose weights grow.
    """
    if len(steps) < LEAST_POINTS:
        return None
    end = steps[-1]
    quarters = [loss[(steps > end * k / 4) & (steps <= end * (k + 1) / 4)] for k in range(4)]
    if min(map(len, quarters)) < LEAST_POINTS // 8:
        return None
    second, third, last = (float(quarter.mean()) for quarter in quarters[1:])
    earlier, fall = second - third, third - last
    noise = float(np.sqrt(spread(quarters[2]) ** 2 / len(quarters[2]) + spread(quarters[3]) ** 2 / len(quarters[3])))
    least = AT_REST * (float(loss[: max(1, len(loss) // 50)].mean()) - last)
    if fall < -3 * noise or least <= 0:
        return None
    if fall <= max(3 * noise, least):
        return 0
    ratio = fall / earlier if earlier > 0 else 1.0
    if ratio >= 0.95:
        return NOT_SLOWING
    return int(np.ceil(np.log(least / fall) / np.log(ratio) * end / 4))


def spread(values: NDArray[np.float64]) -> float:
    """The noise of a loss from step to step, without its trend."""
    return float(np.diff(values).std() / np.sqrt(2))
