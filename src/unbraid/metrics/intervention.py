"""Scores that hold a factor fixed: rows of the table stand in for new observations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.errors import InputError
from unbraid.metrics.bootstrap import REPLICATES, Array, interval, resampled_means, stream
from unbraid.metrics.score import Score
from unbraid.metrics.table import Table, as_table

BATCH = 64
TRAIN, TEST = 10_000, 5_000
_CHUNK = 1 << 13


class Strata:
    """The rows of one factor sorted by value, so that partners with the same value are a lookup away."""

    def __init__(self, table: Table, factor: int, least: int) -> None:
        labels, size = table.groups(factor)
        counts = np.bincount(labels[labels >= 0], minlength=size)
        usable = counts >= least
        if usable.sum() < 2 or 2 * counts[usable].sum() < counts.sum():
            raise InputError(
                f"factor {table.names[factor]!r} has too few rows: {int(usable.sum())} of its {size} values have the "
                f"{least} rows that holding it fixed needs; encode more observations or leave it out of the factors."
            )
        kept = labels >= 0
        kept[kept] = usable[labels[kept]]
        self.rows = np.flatnonzero(kept)
        self.rows = self.rows[np.argsort(labels[self.rows], kind="stable")]
        value = labels[self.rows]
        self.first = np.searchsorted(value, value, side="left")  # of each sorted row: where its value starts
        self.count = counts[value]

    def pick(self, draws: np.random.Generator, points: int, columns: int) -> NDArray[np.int64]:
        """For each point a value (that of a random row) and `columns` rows that have it."""
        anchor = draws.integers(len(self.rows), size=points)
        offset = (draws.random((points, columns)) * self.count[anchor, None]).astype(np.int64)
        return np.asarray(self.rows[self.first[anchor, None] + offset])

    def pairs(self, draws: np.random.Generator, points: int, columns: int) -> NDArray[np.int64]:
        """`[points, columns, 2]` rows: the two of a pair have the same value, pairs are independent."""
        return self.pick(draws, points * columns, 2).reshape(points, columns, 2)


def all_strata(table: Table, least: int) -> list[Strata]:
    """The strata of every factor, made once for a table."""
    return table.shared(("strata", least), lambda: [Strata(table, k, least) for k in range(table.factors.shape[1])])


def fixed_factor_batches(
    table: Table, points: int, batch: int, seed: int, purpose: str, least: int = 10
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows `[points, batch]` that share the value of one factor, and which factor that was `[points]`."""
    draws = stream(seed, purpose)
    strata = all_strata(table, least)
    which = draws.integers(len(strata), size=points)
    rows = np.empty((points, batch), dtype=np.int64)
    for k, stratum in enumerate(strata):
        rows[which == k] = stratum.pick(draws, int((which == k).sum()), batch)
    return rows, which


def factor_score(
    codes: ArrayLike | Table,
    factors: ArrayLike | None = None,
    *,
    kinds: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    batch: int = BATCH,
    train: int = TRAIN,
    test: int = TEST,
    inactive: float = 0.05,
    seed: int = 0,
    replicates: int = REPLICATES,
) -> Score:
    """FactorVAE score: the latent that varies least when a factor is held fixed should name that factor.

    A vote is the arg-min over active latents of Var(z_j given v_k)/Var(z_j) in `batch` rows that share a value
    of factor k; a majority vote per latent, learned from `train` votes, is tested on `test` others (Kim & Mnih
    2018, §4). Latents whose variance is below `inactive` do not vote; latents keep their own numbers
    throughout. No active latent: 0. The interval resamples test votes.
    """
    table = as_table(codes, factors, kinds=kinds, names=names)
    variance = table.codes.var(axis=0, ddof=1)
    active = variance >= inactive
    details = {
        "seed": seed,
        "batch": batch,
        "active": int(active.sum()),
        "active_latents": np.flatnonzero(active),
    }
    if not active.any():
        return Score(0.0, (0.0, 0.0) if replicates else None, details)
    k = table.factors.shape[1]
    votes = np.zeros((table.codes.shape[1], k), dtype=np.int64)
    least, which = _votes(table, variance, active, train, batch, seed, "factor score, train")
    np.add.at(votes, (least, which), 1)
    winner = votes.argmax(axis=1)
    least, which = _votes(table, variance, active, test, batch, seed, "factor score, test")
    correct = (winner[least] == which).astype(np.float64)
    value = float(correct.mean())
    spread = interval(value, resampled_means(correct, seed=seed, replicates=replicates), 0, 1) if replicates else None
    right = np.bincount(which, correct, minlength=k) / np.maximum(np.bincount(which, minlength=k), 1)
    details |= {
        "train_accuracy": float(votes.max(axis=1).sum() / train),
        "votes": votes,
        "per_factor": dict(zip(table.names, right.tolist(), strict=True)),
    }
    return Score(value, spread, details)


def _votes(
    table: Table, variance: Array, active: NDArray[np.bool_], points: int, batch: int, seed: int, purpose: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The latent, in the table's own numbering, that each batch votes for, and the factor it held fixed."""
    rows, which = fixed_factor_batches(table, points, batch, seed, purpose)
    ratio = np.full((points, len(variance)), np.inf)
    codes = np.ascontiguousarray(table.codes[:, active])
    for start in range(0, points, _CHUNK):
        part = slice(start, start + _CHUNK)
        ratio[part, active] = codes[rows[part]].var(axis=1, ddof=1) / variance[active]
    return ratio.argmin(axis=1), which
