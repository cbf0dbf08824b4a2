"""How well classes that a model names are those that people name."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import REPEATS, mean_interval
from unbraid.metrics.record import Metric, register
from unbraid.metrics.score import Score

Naming = Literal["given", "best"]


def class_accuracy(
    guessed: ArrayLike, true: ArrayLike, *, naming: Naming = "given", seed: int = 0, replicates: int = REPEATS
) -> Score:
    """The share of observations whose class is guessed right, of those whose class is known.

    Args:
        guessed: class indices [n].
        true: true class indices [n]; NaN where unknown.
        naming: "given": classes are called by their own numbers. "best": classes found without labels have no names,
            so that each is given the name that makes most of all guesses right, one name each.
        seed: of the bootstrap.
        replicates: bootstrap samples of the observations, with the names as they are; 0 for no interval.

    Returns:
        The accuracy in [0, 1].

    Example:
        >>> class_accuracy([0, 1, 1, 0], [0, 1, 0, float("nan")]).value == 2 / 3
        True
        >>> class_accuracy([1, 0, 0], [0, 1, 1], naming="best").value
        1.0
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
    spread = mean_interval(right, seed=seed, replicates=replicates, low=0, high=1)
    return Score(float(right.mean()), spread, {"observations": int(known.sum()), "naming": naming, "seed": seed})


def best_names(guessed: ArrayLike, true: ArrayLike) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """For each class, from 0, the true one that it is called after, so that most of all guesses are right.

    Example:
        >>> best_names([0, 0, 1], [1, 1, 0])
        array([1, 0])
    """
    from scipy.optimize import linear_sum_assignment  # deferred: importing the metrics should not import SciPy

    a, b = np.asarray(guessed, dtype=np.int64), np.asarray(true, dtype=np.int64)
    size = int(max(a.max(), b.max())) + 1
    counts = np.bincount(a * size + b, minlength=size * size).reshape(size, size)
    names: np.ndarray[tuple[int], np.dtype[np.int64]] = linear_sum_assignment(-counts)[1].astype(np.int64)
    return names


register(
    Metric(
        name="class_accuracy",
        title="Class accuracy",
        description="share of observations whose class the model names right",
        when="For PartedVAE: how often its classes are right.",
        function=class_accuracy,
        needs="classes, labels",
    )
)
