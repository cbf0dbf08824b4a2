"""How well classes that a model names are those that people name."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from unbraid.errors import InputError
from unbraid.metrics.bootstrap import REPLICATES, interval, resampled_means
from unbraid.metrics.score import Score

Naming = Literal["given", "best"]


def class_accuracy(
    guessed: ArrayLike, true: ArrayLike, *, naming: Naming = "given", seed: int = 0, replicates: int = REPLICATES
) -> Score:
    """The share of observations whose class is guessed right, of those whose class is known (not NaN).

    Classes found without labels have no names: with `naming="best"` each is given the name that makes most of all
    guesses right, one name each. The interval resamples observations, with the names as they are.
    """
    names, truth = np.asarray(guessed), np.asarray(true, dtype=np.float64)
    if names.shape != truth.shape or names.ndim != 1:
        raise InputError(f"guessed and true classes must be columns of one length, not {names.shape}, {truth.shape}.")
    known = ~np.isnan(truth)
    if not known.any():
        raise InputError("class_accuracy needs observations whose class is known; there are none.")
    names, truth = names[known].astype(np.int64), truth[known].astype(np.int64)
    if naming == "best":
        names = best_names(names, truth)[names]
    right = (names == truth).astype(np.float64)
    value = float(right.mean())
    spread = interval(value, resampled_means(right, seed=seed, replicates=replicates), 0, 1) if replicates else None
    return Score(value, spread, {"observations": int(known.sum()), "naming": naming, "seed": seed})


def best_names(guessed: ArrayLike, true: ArrayLike) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """For each class, from 0, the true one that it is called after, so that most of all guesses are right."""
    a, b = np.asarray(guessed, dtype=np.int64), np.asarray(true, dtype=np.int64)
    size = int(max(a.max(), b.max())) + 1
    counts = np.bincount(a * size + b, minlength=size * size).reshape(size, size)
    names: np.ndarray[tuple[int], np.dtype[np.int64]] = linear_sum_assignment(-counts)[1].astype(np.int64)
    return names
