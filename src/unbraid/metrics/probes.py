"""One-vs-rest probes that read all codes, fitted once for a table, and the score of their ranking: explicitness."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.errors import InputError
from unbraid.metrics.bootstrap import REPLICATES, Array, interval, resampled_means
from unbraid.metrics.intervention import TEST, TRAIN
from unbraid.metrics.score import Score
from unbraid.metrics.solvers import logistic_one_vs_rest
from unbraid.metrics.table import Table, as_table

_COLUMNS = 256


def one_vs_rest_decisions(
    table: Table, train: int, test: int, seed: int, latents: tuple[int, ...] | None = None
) -> tuple[list[Array], list[NDArray[np.int64]]]:
    """For each factor, the test rows' log-odds of every value seen in training `[test, values]`, and those values.

    All values of all factors are fitted in one solve, and once for a table.
    """

    def make() -> tuple[list[Array], list[NDArray[np.int64]]]:
        fit, held = table.split(train, test, seed)
        codes = table.codes if latents is None else table.codes[:, list(latents)]
        codes = codes - codes[fit].mean(axis=0)  # the intercept is free, so this changes nothing but the rounding
        targets, masks, seen = [], [], []
        for f, name in enumerate(table.names):
            label = table.groups(f)[0][fit]
            values = np.unique(label[label >= 0])
            if len(values) < 2:
                raise InputError(
                    f"factor {name!r} has fewer than two values among the {len(fit)} rows to fit on; "
                    "give more rows or leave it out of the factors."
                )
            targets.append((label[:, None] == values).astype(np.float64))
            masks.append(np.repeat((label >= 0).astype(np.float64)[:, None], len(values), axis=1))
            seen.append(values)
        target, mask = np.concatenate(targets, axis=1), np.concatenate(masks, axis=1)
        complete = bool(mask.all())
        parts = np.array_split(np.arange(target.shape[1]), -(-target.shape[1] // _COLUMNS))
        weights = np.concatenate(
            [logistic_one_vs_rest(codes[fit], target[:, p], None if complete else mask[:, p]) for p in parts],
            axis=1,
        )
        decisions = codes[held] @ weights[:-1] + weights[-1]
        ends = np.cumsum([len(values) for values in seen])[:-1]
        return np.split(decisions, ends, axis=1), seen

    return table.shared(("one-vs-rest", train, test, seed, latents), make)


def explicitness(
    codes: ArrayLike | Table,
    factors: ArrayLike | None = None,
    *,
    kinds: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    train: int = TRAIN,
    test: int = TEST,
    normalise: bool = True,
    seed: int = 0,
    replicates: int = REPLICATES,
) -> Score:
    """Explicitness: whether the values of every factor can be read off the codes linearly.

    The ROC-AUC on test rows of a logistic regression (C = 1) of each value against the rest, averaged over a
    factor's values and then over factors (Ridgeway & Mozer 2018). `normalise` maps chance to 0 and perfect to 1,
    2·AUC − 1; without it the value is the AUC, as in Locatello et al. 2019. The interval resamples test rows.
    """
    table = as_table(codes, factors, kinds=kinds, names=names)
    decisions, seen = one_vs_rest_decisions(table, train, test, seed)
    _, held = table.split(train, test, seed)
    each, again = [], []
    for f, (decision, values) in enumerate(zip(decisions, seen, strict=True)):
        truth = table.groups(f)[0][held]
        there = truth >= 0
        area, draws = _areas(decision[there], truth[there, None] == values, seed, replicates)
        if not area.size:
            raise InputError(f"factor {table.names[f]!r} has one value only among the test rows; give more rows.")
        each.append(area.mean())
        again.append(draws.mean(axis=1))
    slope, offset = (2.0, -1.0) if normalise else (1.0, 0.0)
    value = float(slope * np.mean(each) + offset)
    return Score(
        value,
        interval(value, slope * np.mean(again, axis=0) + offset, offset, 1) if replicates else None,
        {
            "seed": seed,
            "normalised": normalise,
            "auc": float(np.mean(each)),
            "per_factor": dict(zip(table.names, [float(slope * a + offset) for a in each], strict=True)),
        },
    )


def _areas(decision: Array, positive: NDArray[np.bool_], seed: int, replicates: int) -> tuple[Array, Array]:
    """ROC-AUC of each column that has both classes, and bootstrap replicates of it.

    A positive's placement is the share of negatives below it (ties half), a negative's the share of positives
    above; the AUC is the mean placement on either side, and resampling placements resamples the AUC to first
    order (DeLong et al. 1988).
    """
    both = positive.any(axis=0) & ~positive.all(axis=0)
    decision, positive = decision[:, both], positive[:, both]
    if not decision.size:
        return np.zeros(0), np.zeros((replicates, 0))
    n, n_pos = len(decision), positive.sum(axis=0)
    beaten = _opponents_below(decision, positive)
    placement = np.where(positive, beaten / (n - n_pos), 1.0 - beaten / n_pos)
    area = np.where(positive, placement, 0.0).sum(axis=0) / n_pos
    if not replicates:
        return area, np.zeros((0, len(area)))
    parts = np.concatenate([positive * placement, positive, ~positive * placement], axis=1)
    above, share, below = np.split(resampled_means(parts, seed=seed, replicates=replicates), 3, axis=1)
    share = np.clip(share, 1e-12, 1 - 1e-12)
    return area, np.clip(above / share + below / (1 - share) - area, 0.0, 1.0)


def _opponents_below(decision: Array, positive: NDArray[np.bool_]) -> Array:
    """How many rows of the other class score below each row, ties counted half; one sort a column."""
    order = np.argsort(decision, axis=0)
    score = np.take_along_axis(decision, order, axis=0)
    sign = np.take_along_axis(positive, order, axis=0)
    index = np.broadcast_to(np.arange(len(score))[:, None], score.shape)
    new = np.ones(score.shape, dtype=bool)
    new[1:] = score[1:] != score[:-1]
    first = np.maximum.accumulate(np.where(new, index, 0), axis=0)  # of each run of ties
    last = np.where(np.roll(new, -1, axis=0), index, len(score))
    last[-1] = len(score) - 1
    last = np.minimum.accumulate(last[::-1], axis=0)[::-1]
    positives = np.zeros((len(score) + 1, score.shape[1]))
    np.cumsum(sign, axis=0, out=positives[1:])
    upto, before = (
        np.take_along_axis(positives, last + 1, axis=0),
        np.take_along_axis(positives, first, axis=0),
    )
    pos_below = (upto + before) / 2
    neg_below = (last + 1 + first) / 2 - pos_below
    out = np.empty(score.shape)
    np.put_along_axis(out, order, np.where(sign, neg_below, pos_below), axis=0)
    return out
