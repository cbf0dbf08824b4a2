"""What a model makes of combinations of factors that training did not see, on two balls (`balls`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unbraid import metrics
from unbraid.api import Run
from unbraid.data import FactorData
from unbraid.data.drawn.balls import held_out_corner
from unbraid.util.seeds import stream

Pictures = NDArray[np.uint8]


def seen_error(run: Run) -> float:
    """Squared error of reconstructions of the pictures that training sees, for each value in [0, 1]."""
    return error(run, seen_rows(run.data))


def corner_error(run: Run) -> float:
    """The same of pictures with both balls in the upper half: training sees none of them."""
    return error(run, held_out_corner(run.data))


def combined_error(run: Run) -> float:
    """Squared error of unseen pictures that are made of two seen ones: the code of one ball of each.

    Nothing but the decoder extrapolates here: the encoder reads pictures that training has seen.
    """
    rows = held_out_corner(run.data)
    return squared(combined(run, rows), run.data.observations[rows])


def agreement(run: Run) -> float:
    """MCC (Spearman) of codes and heights over the pictures that training sees."""
    return float(matching(run).value)


def seen_rows(data: FactorData) -> NDArray[np.int64]:
    """All pictures but the corner's."""
    return np.setdiff1d(np.arange(len(data)), held_out_corner(data))


def error(run: Run, rows: NDArray[np.int64]) -> float:
    """Squared error of the reconstructions of these pictures."""
    pictures = run.data.observations[rows]
    return squared(run.reconstruct(pictures)[-1], pictures)


def squared(made: NDArray[np.generic], true: NDArray[np.generic]) -> float:
    """Mean squared difference of pictures of bytes, in units of white."""
    return float(np.square((made.astype(np.float64) - true.astype(np.float64)) / 255).mean())


def combined(run: Run, rows: NDArray[np.int64]) -> Pictures:
    """These pictures, made of the left ball's code of one seen picture and the right ball's of another.

    The first has the same left height and the second the same right height; the other height of each is drawn among
    the lower half. Which code is which ball's is read from how they go together over the seen pictures.
    """
    data = run.data
    values = data.factor_info[0].size
    left, right = data.factors[rows].astype(np.int64).T
    lower = stream(run.plan.seed, "lower").integers(0, values // 2, (2, len(rows)))
    found = matching(run).details["latent"]
    places = [int(found[name][1:]) - 1 for name in ("factor 0", "factor 1")]  # latents are named z1, z2
    one, two = (
        run.encode(data.observations[chosen]).codes for chosen in (left * values + lower[0], lower[1] * values + right)
    )
    codes = one.copy()
    codes[:, places[1]] = two[:, places[1]]
    made: Pictures = run.decode(codes)[-1]
    return made


def matching(run: Run) -> metrics.Score:
    """Which code goes with which ball, and how closely, over the pictures that training sees."""
    rows = seen_rows(run.data)
    codes = run.encode(run.data.observations[rows]).codes
    return metrics.mcc(codes, run.data.factors[rows], method="spearman", replicates=0)


def nearest_seen(data: FactorData) -> float:
    """The error of one who can only repeat: of each unseen picture to the nearest seen one."""
    pictures = data.observations.reshape(len(data), -1).astype(np.float64) / 255
    seen, unseen = pictures[seen_rows(data)], pictures[held_out_corner(data)]
    distances = (unseen**2).sum(1)[:, None] + (seen**2).sum(1) - 2 * unseen @ seen.T
    return float(distances.min(1).mean() / pictures.shape[1])
