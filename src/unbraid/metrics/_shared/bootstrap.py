"""Randomness by name, and bootstrap intervals of functions of means."""

from __future__ import annotations

import math
import zlib

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

REPEATS = 200  # bootstrap samples for an interval
_GROUPS = 1000
_COPIED = 1 << 22


def stream(seed: int, purpose: str) -> np.random.Generator:
    """A generator that belongs to one purpose, so that no metric's draws depend on which others ran."""
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])


def resampled_means(contributions: Array, *, seed: int, replicates: int = REPEATS, purpose: str = "bootstrap") -> Array:
    """Means over bootstrap samples of the rows: `[n, …]` → `[replicates, …]`.

    Every metric here is a function of means of what single rows (or votes, or test points) contribute, so
    resampling the contributions resamples the metric, and no probe is fitted again. Rows are dealt at random
    into at most a thousand groups that are resampled as wholes: for exchangeable rows the variance of a mean is
    the same, and the cost no longer grows with rows × replicates.
    """
    draws = stream(seed, purpose)
    n = len(contributions)
    groups = min(n, _GROUPS)
    starts = np.linspace(0, n, groups, endpoint=False).astype(np.int64)
    flat = contributions.reshape(n, -1)
    if groups < n:
        flat = _group_sums(flat, draws.permutation(n), starts)
    sizes = np.diff(starts, append=n).astype(np.float64)
    drawn = draws.integers(groups, size=(replicates, groups)) + groups * np.arange(replicates)[:, None]
    weights = np.bincount(drawn.ravel(), minlength=replicates * groups).reshape(replicates, groups).astype(np.float64)
    means = (weights @ flat) / (weights @ sizes)[:, None]
    return np.asarray(means.reshape(replicates, *contributions.shape[1:]))


def _group_sums(rows: Array, order: NDArray[np.int64], starts: NDArray[np.int64]) -> Array:
    """Sums of the rows of each group, a few groups at a time: no copy of all rows is made."""
    ends = np.append(starts[1:], len(order))
    at_once = max(1, _COPIED * len(starts) // rows.size)
    out = np.empty((len(starts), rows.shape[1]))
    for first in range(0, len(starts), at_once):
        some = slice(first, first + at_once)
        begin, end = starts[some][0], ends[some][-1]
        out[some] = np.add.reduceat(rows[order[begin:end]], starts[some] - begin, axis=0)
    return out


def interval(
    value: float, replicates: Array, low: float = -math.inf, high: float = math.inf
) -> tuple[float, float] | None:
    """The 95 % percentile interval, moved so that the replicates' mean falls on the value.

    A maximum or an entropy of a resample is biased against that of the sample; without the move a score could
    lie outside its own interval. `low` and `high` are the ends of the metric's range.
    """
    finite = replicates[np.isfinite(replicates)]
    if not math.isfinite(value) or finite.size == 0:
        return None
    # By rank/(count + 1): 200 replicates' usual quantiles would leave out 3 % on either side.
    below, above = np.quantile(finite - finite.mean(), [0.025, 0.975], method="weibull")
    return (
        float(min(max(value + below, low), value)),
        float(max(min(value + above, high), value)),
    )


def mean_interval(
    contributions: Array, *, seed: int, replicates: int, low: float = -math.inf, high: float = math.inf
) -> tuple[float, float] | None:
    """The interval of the mean of what rows contribute `[n]`; None without replicates."""
    if not replicates:
        return None
    value = float(contributions.mean())
    return interval(value, resampled_means(contributions, seed=seed, replicates=replicates), low, high)
