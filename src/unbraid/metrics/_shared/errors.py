"""Mean errors between two arrays of observations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import Array, mean_interval
from unbraid.metrics.score import Score

_BLOCK = 1 << 22


def mean_error(a: ArrayLike, b: ArrayLike, loss: Callable[[Array], Array], seed: int, replicates: int) -> Score:
    """The mean loss of a − b over all values; uint8 images count as [0, 1]."""
    left, right = np.asarray(a), np.asarray(b)
    for name, array in (("first", left), ("second", right)):
        if array.dtype.kind not in "uif":
            raise InputError(f"the {name} observations hold {array.dtype} values; give uint8 images or floats.")
    if left.shape != right.shape or left.ndim < 2 or left.size == 0:
        raise InputError(
            f"observations of shapes {left.shape} and {right.shape} cannot be compared; "
            "give two arrays of one shape, one observation a row."
        )
    n = len(left)
    each = np.empty(n)
    rows = max(1, _BLOCK // max(1, left[0].size))
    for start in range(0, n, rows):
        part = slice(start, start + rows)
        error = loss(_unit(left[part]) - _unit(right[part])).reshape(len(left[part]), -1)
        each[part] = error.mean(axis=1)
    if not np.isfinite(each.mean()):
        raise InputError("the observations hold NaN or infinite values; drop those rows or repair the model.")
    return mean_distance(each, seed, replicates)


def mean_distance(each: Array, seed: int, replicates: int) -> Score:
    """The mean of one distance a pair of observations `[n]`, none below 0."""
    spread = mean_interval(each, seed=seed, replicates=replicates, low=0.0)
    return Score(float(each.mean()), spread, {"observations": len(each), "seed": seed})


def _unit(array: NDArray[np.generic]) -> Array:
    scale = 255.0 if array.dtype == np.uint8 else 1.0
    return array.astype(np.float64) / scale
