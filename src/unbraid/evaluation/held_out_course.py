"""When the loss of held-out data turned: from then on a model learned its training data by heart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unbraid.evaluation.sentence import Sentence

LEAST_POINTS = 20  # of the held-out loss, below which its course cannot be told from noise
SMOOTHED = 5  # points that are averaged
EARLY = 0.7  # part of the training in which the loss must have been lowest: later, little was lost
DEVIATIONS = (
    8  # of the noise of an average, which the rise must be beyond: the lowest of many averages is low by chance
)

HARM = 0.25  # part of its fall that a loss may rise again and still count as at rest


def turning_point(steps: NDArray[np.float64], loss: NDArray[np.float64]) -> int | None:
    """The step after which held-out loss was lowest, if it has clearly risen since.

    Args:
        steps: at which it was taken, in order.
        loss: of held-out observations at these steps.

    Returns:
        The step; None where the loss has not turned, or nothing can be told.

    Example:
        >>> steps = np.arange(100.0, 5001.0, 100.0)
        >>> turning_point(steps, np.abs(steps - 1000.0)), turning_point(steps, 1 / steps)
        (1000, None)
    """
    if len(steps) < LEAST_POINTS:
        return None
    smooth = np.convolve(loss, np.ones(SMOOTHED) / SMOOTHED, mode="valid")
    lowest = int(smooth.argmin())
    noise = float(np.median(np.abs(np.diff(loss)))) / np.sqrt(SMOOTHED)
    step = int(steps[lowest + SMOOTHED // 2])
    return step if step <= EARLY * steps[-1] and smooth[-1] - smooth[lowest] > DEVIATIONS * noise else None


def has_lost(loss: NDArray[np.float64]) -> bool:
    """Whether a loss that has turned has risen by a good part of what it had fallen: then more steps did harm.

    Example:
        >>> has_lost(np.array([9.0, 5.0, 5.5])), has_lost(np.array([9.0, 5.0, 8.0]))
        (False, True)
    """
    return bool(loss[-1] - loss.min() > HARM * max(loss[0] - loss.min(), 0.0))


def turned(where: str, best: int, total: int, *, harmed: bool) -> Sentence:
    """The sentence on a loss that has turned.

    Example:
        >>> turned("The loss", 600, 10_000, harmed=True).text
        'The loss of held-out data was lowest after about 600 of 10,000 steps and has risen since: train so many.'
    """
    when = f"after about {best:,} of {total:,} steps"
    if harmed:
        return Sentence("bad", f"{where} of held-out data was lowest {when} and has risen since: train so many.")
    return Sentence("good", f"{where} of held-out data had come to rest {when}.")
