"""Rows that share a factor's value, for metrics that hold a factor fixed: they stand in for new observations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import Array, stream
from unbraid.metrics._shared.table import Table

BATCH = 64
TRAIN, TEST = 10_000, 5_000


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


def share_by_factor(which: NDArray[np.int64], correct: Array, factors: int) -> Array:
    """The mean of `correct` over the points of each factor; 0 for one without points."""
    return np.asarray(np.bincount(which, correct, factors) / np.maximum(np.bincount(which, minlength=factors), 1))


def one_factor_pairs(table: Table, factor: int, points: int, seed: int, least: int = 50) -> NDArray[np.int64]:
    """Pairs of rows `[points, 2]` that differ in one factor and agree in all others, whose labels are all known.

    The first is any row that has a partner, the second any of its partners.
    """

    def make() -> NDArray[np.int64]:
        labels = [table.groups(k) for k in range(len(table.names))]
        rows = np.flatnonzero(np.all([label >= 0 for label, _ in labels], axis=0))
        rest = np.zeros(len(rows), dtype=np.int64)
        for k, (label, size) in enumerate(labels):
            if k != factor:
                rest = np.unique(rest * size + label[rows], return_inverse=True)[1]  # small numbers do not overflow
        value = labels[factor][0][rows]
        order = np.lexsort((value, rest))
        rows, rest, value = rows[order], rest[order], value[order]
        first, last = np.searchsorted(rest, rest, side="left"), np.searchsorted(rest, rest, side="right")
        both = rest * labels[factor][1] + value
        own, own_end = np.searchsorted(both, both, side="left"), np.searchsorted(both, both, side="right")
        partners = (last - first) - (own_end - own)
        anchors = np.flatnonzero(partners > 0)
        if len(anchors) < least:
            raise InputError(
                f"factor {table.names[factor]!r} has {len(anchors)} rows beside which another differs in it alone, and "
                f"{least} are needed; encode all combinations of the factors, or leave it out of the factors."
            )
        draws = stream(seed, f"one differs {factor}")
        chosen = anchors[draws.integers(len(anchors), size=points)]
        place = first[chosen] + (draws.random(points) * partners[chosen]).astype(np.int64)
        place = np.where(place >= own[chosen], place + own_end[chosen] - own[chosen], place)  # step over its own value
        return np.stack([rows[chosen], rows[place]], axis=1)

    return table.shared(("strata", "one differs", factor, points, seed, least), make)
