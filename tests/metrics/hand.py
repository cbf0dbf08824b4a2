"""What references of metrics are written with: draws of the bootstrap, their interval, labels, information. NumPy only.

Nothing here is the library's: a table has few rows, and everything is said for one row, one latent, one factor.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Rows = NDArray[Any]
KINDS = ("ordinal", "categorical", "cyclic", "continuous")
SIZES = (2.0, 3.0, 5.0, 0.0)
NAMES = ("coin", "shape", "turn", "weight")
SEED, REPLICATES = 3, 40


def mixed(n: int = 90, gaps: bool = True) -> tuple[Array, Array]:
    """Codes of four latents, the third of them constant, and a factor of each kind, some of which have gaps."""
    draws = np.random.default_rng(11)
    coin = (draws.random(n) < 0.35).astype(float)
    shape = draws.choice(3, n, p=[0.5, 0.2, 0.3]).astype(float)
    turn = draws.integers(5, size=n).astype(float)
    weight = draws.normal(size=n)
    codes = np.stack(
        [
            coin + 0.6 * draws.normal(size=n),
            shape + 0.8 * coin + 0.5 * draws.normal(size=n),
            np.full(n, 2.0),
            np.sin(2 * np.pi * turn / 5) + weight + 0.7 * draws.normal(size=n),
        ],
        axis=1,
    )
    factors = np.stack([coin, shape, turn, weight], axis=1)
    if gaps:
        for k, every in enumerate((7, 11, 0, 13)):
            if every:
                factors[k::every, k] = np.nan
    return codes, factors


def drawn(n: int, seed: int = SEED, replicates: int = REPLICATES, purpose: str = "bootstrap") -> Rows:
    """Rows of each bootstrap sample of up to a thousand rows, [replicate, row]."""
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())]).integers(n, size=(replicates, n))


def quantile(values: Array, p: float) -> float:
    """By rank/(count + 1)."""
    ordered = sorted(values)
    place = min(max(p * (len(ordered) + 1) - 1, 0.0), len(ordered) - 1.0)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (place - below) * (ordered[above] - ordered[below]))


def around(value: float, again: Array, low: float = -np.inf, high: float = np.inf) -> tuple[float, float]:
    """The interval: how far samples lie from their mean, put around the value, within its range."""
    away = [quantile(again - np.mean(again), p) for p in (0.025, 0.975)]
    return min(max(value + away[0], low), value), max(min(value + away[1], high), value)


def bins_of(column: Array, bins: int) -> Rows:
    """Bins of equal width over the range; an edge belongs to the bin above, the last one to the last bin."""
    low, width = column.min(), np.ptp(column) / bins
    return np.array([min(bins - 1, int(np.floor((v - low) / width + 1e-12))) if width else 0 for v in column])


def labels_of(column: Array, kind: str, cut: Callable[[Array], Rows]) -> Rows:
    """Values by number, −1 where there is none; those of a continuous factor are cut first."""
    known = ~np.isnan(column)
    values = cut(column[known]).astype(float) if kind == "continuous" else column[known]
    out = np.full(len(column), -1)
    out[known] = [sorted(set(values)).index(v) for v in values]
    return out


def levels(factors: Array, kinds: tuple[str, ...] = KINDS) -> list[Rows]:
    """Labels for information: continuous factors in twenty bins of equal width."""
    return [labels_of(c, kind, lambda v: bins_of(v, 20)) for c, kind in zip(factors.T, kinds, strict=True)]


def groups(factors: Array, kinds: tuple[str, ...] = KINDS) -> list[Rows]:
    """Labels for probes: continuous factors in twenty parts with as many rows each."""

    def parts(values: Array) -> Rows:
        edges = sorted({float(np.quantile(values, i / 20)) for i in range(1, 20)})
        return np.array([sum(edge <= v for edge in edges) for v in values])

    return [labels_of(column, kind, parts) for column, kind in zip(factors.T, kinds, strict=True)]


def surprise(labels: Rows) -> Array:
    """−log p of each row's label, NaN where it is missing."""
    known = labels >= 0
    out = np.full(len(labels), np.nan)
    for i in np.flatnonzero(known):
        out[i] = -np.log((labels == labels[i]).sum() / known.sum())
    return out


def pointwise(code: Rows, labels: Rows) -> Array:
    """log p(code, label)/(p(code) p(label)) of each row, over the rows with a label; NaN where there is none."""
    known = labels >= 0
    n, out = known.sum(), np.full(len(labels), np.nan)
    for i in np.flatnonzero(known):
        same = known & (code == code[i])
        out[i] = np.log((same & (labels == labels[i])).sum() * n / (same.sum() * (labels == labels[i]).sum()))
    return out


def split(n: int, train: int, test: int, seed: int = SEED) -> tuple[Rows, Rows]:
    """Rows to fit and to test on, in the same proportion where there are fewer than asked for."""
    order = np.random.default_rng([seed, zlib.crc32(b"split")]).permutation(n)
    share = min(1.0, n / (train + test))
    first, second = max(1, int(train * share)), max(1, int(test * share))
    return order[:first], order[first : first + second]


def gap(column: Array) -> float:
    """Between the greatest and the second greatest."""
    ordered = sorted(column)
    return float(ordered[-1] - ordered[-2])
