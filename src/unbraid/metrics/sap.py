"""SAP: how much better the best single latent predicts a factor than the second best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.errors import InputError, unknown
from unbraid.metrics.bootstrap import REPLICATES, Array, interval, resampled_means
from unbraid.metrics.correlation import squared_correlation
from unbraid.metrics.information import gaps
from unbraid.metrics.intervention import TEST, TRAIN
from unbraid.metrics.score import Score
from unbraid.metrics.solvers import SortedColumn
from unbraid.metrics.table import Table, as_table

_SEGMENTS = 512
MODES = ("auto", "svm", "threshold", "regression")


def sap(
    codes: ArrayLike | Table,
    factors: ArrayLike | None = None,
    *,
    mode: str = "auto",
    kinds: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    train: int = TRAIN,
    test: int = TEST,
    penalty: float = 0.01,
    inactive: float = 1e-12,
    seed: int = 0,
    replicates: int = REPLICATES,
) -> Score:
    """Separated attribute predictability: 1/K Σ_k (S_{j(k) k} − max_{j≠j(k)} S_jk) (Kumar et al. 2018, §3).

    S_jk says how well latent j alone predicts factor k; a latent whose variance is at most `inactive` scores 0.
    `svm` (Locatello et al. 2019): test accuracy of a linear SVM, C = 0.01, class-balanced as in liblinear.
    `threshold` (the paper's own): the balanced accuracy of the best thresholds on the latent, at most one fewer
    than the factor has values, fitted on the test rows (beyond two values, cut at no more than 512 quantiles).
    `regression`: squared correlation with the factor's values; with cosine and sine for a cyclic factor, with
    the class means for a categorical one. `auto`: `svm` for discrete factors, `regression` for continuous
    ones. The interval resamples test rows, with the probes as fitted.
    """
    if mode not in MODES:
        raise unknown("mode of SAP", mode, MODES)
    table = as_table(codes, factors, kinds=kinds, names=names)
    fit, held = table.split(train, test, seed)
    active = table.codes[fit].var(axis=0) > inactive
    d, k = table.codes.shape[1], table.factors.shape[1]
    used = [mode if mode != "auto" else "svm" if table.discrete[f] else "regression" for f in range(k)]
    scores, again = np.zeros((d, k)), np.zeros((replicates, d, k))
    for f, how in enumerate(used):
        if how == "regression":
            scores[:, f], again[:, :, f] = squared_correlation(table, f, held, seed, replicates)
            continue
        # One weight per test row and latent, whose mean over the rows is the score.
        credit, share = (_svm if how == "svm" else _threshold)(table, f, fit, held, active, penalty)
        scores[:, f] = credit.mean(axis=0) / share.mean()
        if replicates:
            means = resampled_means(np.column_stack([credit, share]), seed=seed, replicates=replicates)
            again[:, :, f] = means[:, :d] / np.maximum(means[:, d:], 1e-12)
    scores[~active], again[:, ~active] = 0.0, 0.0
    gap = gaps(scores)
    value = float(gap.mean())
    return Score(
        value,
        interval(value, gaps(again).mean(axis=-1), 0, 1) if replicates else None,
        {
            "mode": dict(zip(table.names, used, strict=True)),
            "seed": seed,
            "train": len(fit),
            "test": len(held),
            "active": int(active.sum()),
            "per_factor": dict(zip(table.names, gap.tolist(), strict=True)),
            "scores": scores,
        },
    )


def _labelled(table: Table, factor: int, fit: NDArray[np.int64], held: NDArray[np.int64]) -> NDArray[np.int64]:
    labels, _ = table.groups(factor)
    for rows, name in ((fit, "fit"), (held, "test")):
        if len(np.unique(labels[rows][labels[rows] >= 0])) < 2:
            raise InputError(
                f"factor {table.names[factor]!r} has fewer than two values among the rows to {name} on; "
                "give more rows or leave it out of the factors."
            )
    return labels


def _svm(
    table: Table,
    factor: int,
    fit: NDArray[np.int64],
    held: NDArray[np.int64],
    active: NDArray[np.bool_],
    penalty: float,
) -> tuple[Array, Array]:
    """Whether each test row is classified rightly from each latent, and whether its label is known."""
    labels = _labelled(table, factor, fit, held)
    fit = fit[labels[fit] >= 0]
    truth = labels[held]
    # Values that no training row has cannot be learned; the others keep their order.
    seen, index = np.unique(labels[fit], return_inverse=True)
    credit = np.zeros((len(held), table.codes.shape[1]))
    for j in np.flatnonzero(active):
        column = SortedColumn(table.codes[fit, j])
        slope, intercept = column.svm_one_vs_rest(index, len(seen), penalty)
        decision = np.multiply.outer(table.codes[held, j], slope) + intercept
        guess = decision.argmax(axis=1) if len(seen) > 2 else (decision[:, 0] > 0).astype(np.int64)
        credit[:, j] = seen[guess] == truth
    return credit, (truth >= 0).astype(np.float64)


def _threshold(
    table: Table,
    factor: int,
    fit: NDArray[np.int64],
    held: NDArray[np.int64],
    active: NDArray[np.bool_],
    penalty: float,
) -> tuple[Array, Array]:
    """Each test row's part of the balanced accuracy under the best thresholds, latent by latent."""
    labels = _labelled(table, factor, held, held)[held]
    there = np.flatnonzero(labels >= 0)
    _, label = np.unique(labels[there], return_inverse=True)
    counts = np.bincount(label)
    weight = len(there) / (len(counts) * counts[label])  # a class's rows weigh 1/size together
    credit = np.zeros((len(held), table.codes.shape[1]))
    for j in np.flatnonzero(active):
        segment, segments = _segments(table.codes[held[there], j], len(counts))
        cell = segment * len(counts) + label
        mass = _mass(cell, weight, segments, len(counts))
        guess = _best_split(mass) if len(counts) == 2 else _best_intervals(mass)
        credit[there, j] = weight * (guess[segment] == label)
    known = np.zeros(len(held))
    known[there] = 1.0
    return credit, known


def _mass(cell: NDArray[np.int64], weight: Array, segments: int, size: int) -> Array:
    return np.bincount(cell, weight, minlength=segments * size).astype(np.float64).reshape(segments, size)


def _segments(x: Array, size: int) -> tuple[NDArray[np.int64], int]:
    """The stretch of the latent that each row lies in: thresholds may only stand between stretches."""
    distinct, segment = np.unique(x, return_inverse=True)
    if size == 2 or len(distinct) <= _SEGMENTS:
        return segment, len(distinct)
    edges = np.unique(np.quantile(x, np.linspace(0, 1, _SEGMENTS + 1)[1:-1]))
    return np.searchsorted(edges, x, side="right"), len(edges) + 1


def _best_split(mass: Array) -> NDArray[np.int64]:
    """The class of each stretch under the best single threshold for two classes."""
    lead = np.cumsum(mass[:, 0] - mass[:, 1])  # how far class 0 leads below each threshold
    at = int(np.abs(lead).argmax())
    low = 0 if lead[at] >= 0 else 1
    return np.where(np.arange(len(mass)) <= at, low, 1 - low)


def _best_intervals(mass: Array) -> NDArray[np.int64]:
    """The class of each stretch that gains most with at most one threshold fewer than classes.

    best[t, c]: the most that the stretches so far can gain with t thresholds if the last one is class c.
    """
    segments, size = mass.shape
    best = np.full((size, size), -np.inf)
    best[0] = mass[0]
    came_from = np.empty((segments, size, size), dtype=np.int32)  # class before, for each (t, c)
    stay = np.broadcast_to(np.arange(size), (size, size))
    for s in range(1, segments):
        leader = best.argmax(axis=1)
        switched = np.full((size, 1), -np.inf)
        switched[1:, 0] = best[np.arange(size - 1), leader[:-1]]
        before = np.zeros((size, 1), dtype=np.int64)
        before[1:, 0] = leader[:-1]
        switch = switched > best
        came_from[s] = np.where(switch, before, stay)
        best = np.where(switch, switched, best) + mass[s]
    guess = np.empty(segments, dtype=np.int64)
    t, c = np.unravel_index(int(best.argmax()), best.shape)
    for s in range(segments - 1, -1, -1):
        guess[s] = c
        if s and came_from[s, t, c] != c:
            t, c = t - 1, came_from[s, t, c]
    return guess
