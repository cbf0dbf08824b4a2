"""Counts of a run on a scale where errors mean something, and rates for an observation's own total."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.runs.directory import RunDirectory


def comparable(run: RunDirectory, observations: NDArray[Any]) -> NDArray[Any]:
    """Observations as errors are taken of them: counts as log(1 + count), others as they are.

    Differences of counts are those of the greatest alone; their logarithms differ by what they are multiplied with.
    Where rates are shares of a total (`--library-size`), counts are first brought to the typical total.

    Args:
        run: whose observations or outputs they are.
        observations: stored as the data set stores them, [n, …].
    """
    if not run.preprocessing.counts:
        return observations
    counts: NDArray[np.float32] = np.log1p(at_total(run, observations, typical_total(run)))
    return counts


def with_own_total(run: RunDirectory, made: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """Rates that sum up to each observation's own total, where they are shares of it; else as they are.

    Args:
        run: that made them.
        made: rates, [n, value].
        x: the counts of the same observations, [n, value].
    """
    return at_total(run, made, x.sum(axis=-1, keepdims=True)) if run.preprocessing.counts else made


def at_total(run: RunDirectory, counts: NDArray[Any], total: NDArray[Any] | float) -> NDArray[Any]:
    """Counts with the same shares of another total, in a run whose rates are shares."""
    if not getattr(run.config(1), "library_size", False):
        return counts
    own = np.maximum(counts.sum(axis=-1, keepdims=True), np.finfo(np.float32).tiny)
    scaled: NDArray[np.float32] = (counts * (total / own)).astype(np.float32)
    return scaled


def typical_total(run: RunDirectory) -> float:
    """The median total of the counts that the run was trained on."""
    counts = run.spec(1).counts
    return 1.0 if counts is None else counts.library
