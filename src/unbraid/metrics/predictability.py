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
    active = table.codes.var(axis=0) > inactive
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
    latents = np.flatnonzero(active)
    known = np.zeros(len(held))
    known[there] = 1.0
    if not latents.size:
        return credit, known
    stretch = [_segments(table.codes[held[there], j], len(counts)) for j in latents]
    mass = np.zeros((len(latents), max(count for _, count in stretch), len(counts)))
    for i, (segment, _) in enumerate(stretch):
        np.add.at(mass[i], (segment, label), weight)
    guesses = _best_split(mass) if len(counts) == 2 else _best_intervals(mass)
    for j, guess, (segment, _) in zip(latents, guesses, stretch, strict=True):
        credit[there, j] = weight * (guess[segment] == label)
    return credit, known


def _segments(x: Array, size: int) -> tuple[NDArray[np.int64], int]:
    """The stretch of the latent that each row lies in: thresholds may only stand between stretches."""
    distinct, segment = np.unique(x, return_inverse=True)
    if size == 2 or len(distinct) <= _SEGMENTS:
        return segment, len(distinct)
    edges = np.unique(np.quantile(x, np.linspace(0, 1, _SEGMENTS + 1)[1:-1]))
    return np.searchsorted(edges, x, side="right"), len(edges) + 1


def _best_split(mass: Array) -> NDArray[np.int64]:
    """For two classes, each stretch's class under the best single threshold: `[latent, stretch]`."""
    lead = np.cumsum(mass[:, :, 0] - mass[:, :, 1], axis=1)  # how far class 0 leads below each threshold
    at = np.abs(lead).argmax(axis=1)[:, None]
    low = (np.take_along_axis(lead, at, axis=1) < 0).astype(np.int64)
    return np.where(np.arange(mass.shape[1]) <= at, low, 1 - low)


def _best_intervals(mass: Array) -> NDArray[np.int64]:
    """Each stretch's class under the best thresholds, at most one fewer than classes: `[latent, stretch]`.

    best[j, t, c]: the most that latent j's stretches so far can gain with t thresholds if the last one is class c.
    """
    d, segments, size = mass.shape
    best = np.full((d, size, size), -np.inf)
    best[:, 0] = mass[:, 0]
    switch = np.zeros((segments, d, size, size), dtype=bool)
    before = np.zeros((segments, d, size), dtype=np.int16)  # the class that a threshold leaves, for each (j, t)
    for s in range(1, segments):
        before[s, :, 1:] = best[:, :-1].argmax(axis=2)
        gain = np.full((d, size, 1), -np.inf)
        gain[:, 1:, 0] = best[:, :-1].max(axis=2)
        np.greater(gain, best, out=switch[s])
        best = np.maximum(best, gain) + mass[:, s, None]
    guess = np.empty((d, segments), dtype=np.int64)
    latent = np.arange(d)
    t, c = np.divmod(best.reshape(d, -1).argmax(axis=1), size)
    for s in range(segments - 1, -1, -1):
        guess[:, s] = c
        turn = switch[s, latent, t, c]
        t, c = np.where(turn, t - 1, t), np.where(turn, before[s, latent, t], c)
    return guess
