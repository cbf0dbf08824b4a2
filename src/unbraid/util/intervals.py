"""Means over seeds and what is known of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def mean_and_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean over seeds and its 95 % Student interval.

    Args:
        values: a figure of each seed.

    Returns:
        Mean, lower end and upper end; three times the value if there is one seed.

    Example:
        >>> mean_and_interval([0.5])
        (0.5, 0.5, 0.5)
    """
    from scipy.stats import t as student  # deferred: lists and help should not import SciPy

    mean, n = float(np.mean(values)), len(values)
    if n < 2:
        return mean, mean, mean
    half = float(student.ppf(0.975, n - 1) * np.std(values, ddof=1) / np.sqrt(n))
    return mean, mean - half, mean + half


def median_and_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The median over seeds and its 95 % interval by ranks alone: no seed that went astray can move it far.

    Its ends are the values of rank k and n + 1 − k, with the largest k at which both tails together are at most 5 %.

    Args:
        values: a figure of each seed.

    Returns:
        Median, lower end and upper end; infinite ends below six values, of which even the extremes hold it too seldom.

    Example:
        >>> median_and_interval(range(1, 21))
        (10.5, 6.0, 15.0)
        >>> median_and_interval([1, 2, 3])
        (2.0, -inf, inf)
    """
    from scipy.stats import binom  # deferred, as above

    ordered, n = np.sort(np.asarray(values, float)), len(values)
    left_out = int(binom.ppf(0.025, n, 0.5)) if n else 0  # P(at most left_out − 1 values below the median) < 2.5 %
    if left_out < 1:
        return float(np.median(ordered)), -np.inf, np.inf
    return float(np.median(ordered)), float(ordered[left_out - 1]), float(ordered[n - left_out])
