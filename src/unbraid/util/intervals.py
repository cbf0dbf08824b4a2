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
