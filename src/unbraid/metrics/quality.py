"""Distances between two arrays of observations: L1, L2, and the mean of perceptual ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.errors import InputError
from unbraid.metrics.bootstrap import REPLICATES, Array, interval, resampled_means
from unbraid.metrics.score import Score

_BLOCK = 1 << 22


def l1(a: ArrayLike, b: ArrayLike, *, seed: int = 0, replicates: int = REPLICATES) -> Score:
    """Mean absolute error per value, mean |a − b|; uint8 images count as [0, 1]. The interval resamples rows."""
    return _error(a, b, np.abs, seed, replicates)


def l2(a: ArrayLike, b: ArrayLike, *, seed: int = 0, replicates: int = REPLICATES) -> Score:
    """Mean squared error per value, mean (a − b)²; uint8 images count as [0, 1]. The interval resamples rows."""
    return _error(a, b, np.square, seed, replicates)


def lpips(distances: ArrayLike, *, seed: int = 0, replicates: int = REPLICATES) -> Score:
    """Mean perceptual distance (Zhang et al. 2018), of the distances that the network gave each pair, `[n]`."""
    each = np.asarray(distances, dtype=np.float64)
    if each.ndim != 1 or len(each) == 0 or not np.isfinite(each).all():
        raise InputError(f"distances must be finite numbers, one a pair, not an array of shape {each.shape}.")
    return _mean(each, seed, replicates)


def _error(a: ArrayLike, b: ArrayLike, loss: Callable[[Array], Array], seed: int, replicates: int) -> Score:
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
    return _mean(each, seed, replicates)


def _mean(each: Array, seed: int, replicates: int) -> Score:
    value = float(each.mean())
    spread = interval(value, resampled_means(each, seed=seed, replicates=replicates), 0.0) if replicates else None
    return Score(value, spread, {"observations": len(each), "seed": seed})


def _unit(array: NDArray[np.generic]) -> Array:
    scale = 255.0 if array.dtype == np.uint8 else 1.0
    return array.astype(np.float64) / scale
