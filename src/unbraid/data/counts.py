"""Observations that are counts: what tells them from measurements, and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import InputError

Kind = Literal["auto", "counts", "values"]
ROWS = 2000  # of a large table that are looked at
DISTINCT = 20  # values that counts take more of; fewer are classes, marks or levels
NEAR_ZERO = 0.25  # part of the mean that the least value of a column of counts comes down to, as ages and years do not


@dataclass(frozen=True)
class Counts:
    """What is known of observations that are counts."""

    rates: tuple[float, ...]  # the mean of each value
    library: float  # the typical (median) sum of an observation's counts

    @staticmethod
    def of(observations: NDArray[Any]) -> Counts:
        """Means and the median total of counts [n, value].

        Example:
            >>> Counts.of(np.array([[1.0, 2.0], [3.0, 6.0]]))
            Counts(rates=(2.0, 4.0), library=6.0)
        """
        total = float(np.median(observations.sum(axis=1, dtype=np.float64)))
        return Counts(tuple(observations.mean(axis=0, dtype=np.float64).tolist()), max(1.0, total))


def looks_like_counts(x: NDArray[Any]) -> bool:
    """Whether vectors [n, value] are counts: whole numbers of many sizes whose columns come down to nearly nothing.

    Example:
        >>> draws = np.random.default_rng(0).poisson(20, (50, 8)) * np.array([0, 1])[np.arange(50) % 2][:, None]
        >>> looks_like_counts(draws), looks_like_counts(draws + 100), looks_like_counts(np.minimum(draws, 9))
        (True, False, False)
    """
    rows = x[np.linspace(0, len(x) - 1, min(len(x), ROWS)).astype(np.int64)] if len(x) else x
    if not rows.size or not are_whole(rows) or len(np.unique(rows)) <= DISTINCT:
        return False
    mean = rows.mean(axis=0, dtype=np.float64)
    counted = mean > 0
    low = rows.min(axis=0)[counted] <= NEAR_ZERO * mean[counted]
    spread = rows.var(axis=0, dtype=np.float64)[counted] >= 0.5 * mean[counted]
    return bool((low & spread).mean() > 0.5)


def are_whole(x: NDArray[Any]) -> bool:
    """Whether all values are whole numbers from 0 on."""
    return bool(np.isfinite(x).all() and (x >= 0).all() and (x == np.rint(x)).all())


def is_counts(x: NDArray[Any], name: str, kind: Kind, standardize: Any) -> bool:
    """Whether vectors are to be taken for counts.

    Args:
        x: [n, value].
        name: of the data set, for messages.
        kind: what the user says of them.
        standardize: how values would be standardised; by known means and scales only those are that were no counts.
    """
    if kind == "values" or (kind == "auto" and not isinstance(standardize, bool)):
        return False
    if kind == "auto":
        return looks_like_counts(x)
    if not are_whole(x):
        raise InputError(f"{name}: counts must be whole numbers from 0 on; pass kind='values' (--data.kind values).")
    return True
