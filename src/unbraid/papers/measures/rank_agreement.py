"""Whether one figure puts models into the order of another, with intervals from resampled models."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from unbraid.util.seeds import stream

REPEATS = 500
Groups = Sequence[Sequence[float]]  # a figure of each model, [group][seed]
Estimate = tuple[float, float, float]  # value and its 95 % interval


def rank_correlation(a: Sequence[float] | NDArray[np.float64], b: Sequence[float] | NDArray[np.float64]) -> float:
    """Spearman's ρ; NaN where either does not vary.

    Example:
        >>> rank_correlation([1.0, 2.0, 3.0], [10.0, 20.0, 90.0])
        1.0
    """
    from scipy.stats import rankdata

    ranks = [rankdata(values) for values in (a, b)]
    if any(np.ptp(one) == 0 for one in ranks):
        return float("nan")
    return round(float(np.corrcoef(*ranks)[0, 1]), 12)


def between_groups(a: Groups, b: Groups) -> Estimate:
    """ρ of the groups' means; seeds are resampled within each group."""
    chance = stream(0, "between groups")

    def once(draw: bool) -> float:
        means = []
        for one, other in zip(a, b, strict=True):
            rows = chance.integers(len(one), size=len(one)) if draw else np.arange(len(one))
            means.append((np.mean(np.array(one)[rows]), np.mean(np.array(other)[rows])))
        return rank_correlation(*np.array(means).T)

    return estimate(once)


def over_all(a: Groups, b: Groups) -> Estimate:
    """ρ over all models of all groups; models are resampled."""
    chance = stream(0, "over all")
    one, other = np.concatenate([*a]), np.concatenate([*b])

    def once(draw: bool) -> float:
        rows = chance.integers(len(one), size=len(one)) if draw else np.arange(len(one))
        return rank_correlation(one[rows], other[rows])

    return estimate(once)


def within_groups(a: Groups, b: Groups) -> Estimate:
    """The mean over groups of ρ among a group's seeds; groups are resampled. It tells a good seed from a bad one."""
    chance = stream(0, "within groups")
    found = np.array([rank_correlation(one, other) for one, other in zip(a, b, strict=True)])
    found = found[np.isfinite(found)]
    if not len(found):
        return (float("nan"),) * 3

    def once(draw: bool) -> float:
        rows = chance.integers(len(found), size=len(found)) if draw else np.arange(len(found))
        return float(found[rows].mean())

    return estimate(once)


def estimate(once: Callable[[bool], float]) -> Estimate:
    """A value and the middle 95 % of it over resampled models."""
    drawn = np.array([once(True) for _ in range(REPEATS)])
    drawn = drawn[np.isfinite(drawn)]
    low, high = np.quantile(drawn, [0.025, 0.975]) if len(drawn) else (float("nan"), float("nan"))
    return once(False), float(low), float(high)
