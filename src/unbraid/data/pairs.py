"""Pairs: to an observation another one that shares some of its factors, for methods that learn from what stays.

Where the factors of the data are known, the partner is drawn: so many factors change, or each takes a step that is
likelier the shorter it is. In people's own data pairs are found: the row that follows (frames of a film), or another
row with the same value in a column (pictures of one object). Which of the rows are partners, and how likely each is,
can be listed (`Partners.chances`), so that what is drawn can be checked against it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unbraid.data.factor_data import FactorData
from unbraid.errors import InputError, unknown
from unbraid.util.schema import option

PairKind = Literal["changed", "steps", "next", "same"]


@dataclass(frozen=True)
class Pairs:
    """How a partner is chosen.

    Example:
        >>> Pairs(changed=0).kind
        'changed'
    """

    kind: PairKind = option(
        "changed",
        "partner of an observation: some factors are changed (changed), all take short steps (steps), the next row "
        "(next), a row with the same value of `by` (same)",
    )
    changed: int = option(0, "how many factors are changed; 0: any number from 1 to all but one", least=0)
    rate: float = option(1.0, "of steps: one longer by 1 is exp(rate) times less likely", above=0)
    by: str = option("", "of same and next: the factor whose value partners share; next needs none")


class Partners:
    """Draws partners of rows, for one data set."""

    def __init__(self, pairs: Pairs, data: FactorData, rows: NDArray[np.int64] | None = None) -> None:
        self.pairs, self.data = pairs, data
        self.rows = np.arange(len(data)) if rows is None else np.sort(rows)
        if pairs.kind in ("changed", "steps"):
            self._index_factors()
        else:
            self._group_rows()

    def draw(self, rows: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
        """A partner of each of these rows."""
        if self.pairs.kind in ("next", "same"):
            start, size = self.start[rows], self.size[rows]
            if self.pairs.kind == "next":
                return self.order[start + np.minimum(self.place[rows] + 1, size - 1)]
            other = random.integers(0, np.maximum(size - 1, 1))
            return self.order[start + (self.place[rows] + 1 + other) % size]
        return (
            np.array([self._drawn(int(row), random) for row in rows]) if not self.complete else self._at(rows, random)
        )

    def chances(self, row: int) -> dict[int, float]:
        """Every row that can be a partner of this one, with its probability."""
        if self.pairs.kind == "next":
            return {int(self.draw(np.array([row]), np.random.default_rng(0))[0]): 1.0}
        if self.pairs.kind == "same":
            start, size = self.start[row], self.size[row]
            others = [int(other) for other in self.order[start : start + size] if other != row] or [row]
            return dict.fromkeys(others, 1 / len(others))
        weights = self._weights(row)
        return {int(self.rows[place]): float(weights[place]) for place in np.flatnonzero(weights)}

    def _index_factors(self) -> None:
        """Find each row from the values of its factors."""
        info = self.data.factor_info
        varying = [k for k, factor in enumerate(info) if len(np.unique(self.data.factors[self.rows, k])) > 1]
        continuous = [factor.name for factor in info if not factor.size]
        if continuous or len(varying) < 2 or np.isnan(self.data.factors[self.rows]).any():
            reason = f"{continuous[0]} is continuous" if continuous else "some are missing, or only one varies"
            raise InputError(
                f"pairs of {self.data.name} by changed factors need two or more discrete factors of which every value "
                f"is known ({reason}): pass --pairs.kind next, or same with --pairs.by COLUMN."
            )
        if self.pairs.changed >= len(varying):
            raise InputError(
                f"--pairs.changed {self.pairs.changed}: of {len(varying)} factors at least one must stay; "
                f"pass at most {len(varying) - 1}."
            )
        self.values = self.data.factors[:, varying].astype(np.int64)  # [n, factor]
        self.sizes = np.array([info[k].size for k in varying])
        self.radix = np.concatenate([np.cumprod(self.sizes[::-1])[::-1][1:], [1]])
        places = int(np.prod(self.sizes.astype(np.float64)))
        keys = self.values[self.rows] @ self.radix
        # A grid in which every combination occurs once needs no search: the partner's values name its row.
        self.complete = places == len(self.rows) and len(np.unique(keys)) == places
        if self.complete:
            self.row_of = np.empty(places, dtype=np.int64)
            self.row_of[keys] = self.rows

    def _numbers(self) -> list[int]:
        """How many factors may change."""
        return [self.pairs.changed] if self.pairs.changed else list(range(1, len(self.sizes)))

    def _at(self, rows: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
        """Partners in a complete grid."""
        values = self.values[rows].copy()  # [b, factor]
        if self.pairs.kind == "changed":
            number = random.choice(self._numbers(), size=len(rows))
            order = random.random(values.shape).argsort(axis=1).argsort(axis=1)  # [b, factor] a random order of factors
            shift = random.integers(1, np.broadcast_to(self.sizes, values.shape))  # to any other value, each as likely
            values = np.where(order < number[:, None], (values + shift) % self.sizes, values)
        else:
            for k, size in enumerate(self.sizes):
                steps = np.exp(-self.pairs.rate * np.abs(np.arange(size)[:, None] - np.arange(size)))  # [from, to]
                cumulative = np.cumsum(steps / steps.sum(axis=1, keepdims=True), axis=1)[values[:, k]]
                drawn = (random.random((len(rows), 1)) > cumulative).sum(axis=1)
                values[:, k] = np.minimum(drawn, size - 1)
        found: NDArray[np.int64] = self.row_of[values @ self.radix]
        return found

    def _drawn(self, row: int, random: np.random.Generator) -> int:
        """A partner where some combinations of factors are missing or occur more than once."""
        return int(self.rows[random.choice(len(self.rows), p=self._weights(row))])

    def _weights(self, row: int) -> NDArray[np.float64]:
        """The probability of each row of `self.rows` as a partner of this one."""
        values, mine = self.values[self.rows], self.values[row]
        if self.pairs.kind == "steps":
            scales = np.exp(-self.pairs.rate * np.abs(np.arange(max(self.sizes))))
            weights = scales[np.abs(values - mine)].prod(axis=1)
            return np.asarray(weights / weights.sum())
        differ = values != mine  # [n, factor]
        weights = np.zeros(len(values))
        found = 0
        for number in self._numbers():
            sets = [
                np.flatnonzero((differ == np.isin(np.arange(len(mine)), chosen)).all(axis=1))
                for chosen in combinations(range(len(mine)), number)
            ]
            sets = [members for members in sets if len(members)]
            for members in sets:  # each set of factors is as likely as the others, and each row that differs in just it
                weights[members] += 1 / len(sets) / len(members)
            found += bool(sets)
        if not found:
            raise InputError(
                f"row {row} of {self.data.name} has no partner with {self.pairs.changed or 'some'} of its factors "
                "changed: pass --pairs.changed 0, or --pairs.kind steps."
            )
        return weights / found

    def _group_rows(self) -> None:
        """Order the rows by group, and by place within it."""
        by = self.pairs.by
        if by and by not in self.data.factor_names:
            raise unknown("factor", by, self.data.factor_names)
        if self.pairs.kind == "same" and not by:
            raise InputError("--pairs.kind same needs --pairs.by: the factor whose value partners share.")
        group = self.data.column(by)[self.rows] if by else np.zeros(len(self.rows))
        if np.isnan(group).any():
            raise InputError(f"{int(np.isnan(group).sum())} rows have no value of {by!r}: partners are found by it.")
        _, number, counts = np.unique(group, return_inverse=True, return_counts=True)
        if (counts < 2).all():
            raise InputError(f"no two rows of {self.data.name} have the same value of {by!r}: there are no pairs.")
        sorting = np.argsort(number, kind="stable")
        self.order = self.rows[sorting]
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        self.start, self.size, self.place = (np.zeros(len(self.data), dtype=np.int64) for _ in range(3))
        self.start[self.rows], self.size[self.rows] = starts[number], counts[number]
        self.place[self.order] = np.arange(len(self.order)) - starts[number[sorting]]
