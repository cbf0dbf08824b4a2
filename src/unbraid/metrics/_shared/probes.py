"""One-vs-rest probes that read all codes, fitted once for a table, and intervals of their accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import Array, interval, resampled_means
from unbraid.metrics._shared.solvers import logistic_one_vs_rest
from unbraid.metrics._shared.table import Table
from unbraid.metrics.score import Score

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


def accuracy_score(
    names: Sequence[str], correct: Array, known: Array, details: dict[str, Any], seed: int, replicates: int
) -> Score:
    """Accuracy on test rows `[test, factor]`, averaged over factors; `correct` is 0 where the label is missing."""
    each = correct.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    value = float(each.mean())
    spread = None
    if replicates:
        means = resampled_means(np.concatenate([correct, known], axis=1), seed=seed, replicates=replicates)
        right, there = np.split(means, 2, axis=1)
        spread = interval(value, (right / np.maximum(there, 1e-12)).mean(axis=1), 0, 1)
    return Score(value, spread, {**details, "per_factor": dict(zip(names, each.tolist(), strict=True))})
