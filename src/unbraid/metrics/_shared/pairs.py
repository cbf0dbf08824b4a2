"""Pairs of rows that share a factor's value: the β-VAE score and Z-diff read the same draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import Array, mean_interval, stream
from unbraid.metrics._shared.strata import all_strata, share_by_factor
from unbraid.metrics._shared.table import Table
from unbraid.metrics.score import Score

# (points to fit on, their factors, points to test on) → the factors guessed.
Classifier = Callable[[Array, NDArray[np.int64], Array], Any]
_CHUNK = 1 << 18


def difference_vectors(
    table: Table, points: int, batch: int, seed: int, purpose: str
) -> tuple[Array, NDArray[np.int64]]:
    """Mean |z − z'| over `batch` pairs of rows that share a factor's value `[points, d]`, and which factor."""

    def make() -> tuple[Array, NDArray[np.int64]]:
        draws = stream(seed, purpose)
        strata = all_strata(table, least=2)
        which = draws.integers(len(strata), size=points)
        out = np.empty((points, table.codes.shape[1]))
        for k, stratum in enumerate(strata):
            for chunk in np.array_split(np.flatnonzero(which == k), 1 + points * batch // _CHUNK):
                rows = stratum.pairs(draws, len(chunk), batch)
                difference = table.codes[rows[:, :, 0]]
                difference -= table.codes[rows[:, :, 1]]
                out[chunk] = np.abs(difference, out=difference).mean(axis=1)
        return out, which

    return table.shared(("differences", points, batch, seed, purpose), make)


def pair_score(
    table: Table, name: str, classify: Classifier, *, batch: int, train: int, test: int, seed: int, replicates: int
) -> Score:
    """How often a classifier tells from a point which factor its pairs share; constant codes score 0."""
    if len(table.names) < 2:
        raise InputError("the β-VAE score and Z-diff tell factors apart; the table has only one, so leave them out.")
    details: dict[str, Any] = {"classifier": name, "seed": seed, "batch": batch, "train": train, "test": test}
    if not np.ptp(table.codes, axis=0).any():
        return Score(0.0, (0.0, 0.0) if replicates else None, details)
    x, y = difference_vectors(table, train, batch, seed, "pairs, train")
    x_test, y_test = difference_vectors(table, test, batch, seed, "pairs, test")
    correct = (np.asarray(classify(x, y, x_test), dtype=np.int64) == y_test).astype(np.float64)
    details["per_factor"] = table.by_factor(share_by_factor(y_test, correct, len(table.names)))
    spread = mean_interval(correct, seed=seed, replicates=replicates, low=0, high=1)
    return Score(float(correct.mean()), spread, details)
