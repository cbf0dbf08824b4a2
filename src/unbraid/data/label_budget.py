"""Label budgets: which labels a method may see. Chosen once, as a rule stratified, and the same for the whole run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from unbraid.data.factor_data import Factor, FactorData
from unbraid.errors import InputError, unknown
from unbraid.util.seeds import label_stream

NO_ROWS: NDArray[np.int64] = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class LabelBudget:
    """What a user allows: `256` observations, `"0.5%"` of them or `"all"`, and the factors by name (all, if none).

    They are drawn, stratified, with the run's seed. `"first 256"` takes the first in the data's order, whatever the
    seed, for label sets that others have used.
    """

    amount: str | int = "all"
    factors: tuple[str, ...] = ()

    def resolve(
        self, data: FactorData, *, required: Sequence[str] = (), held_out: NDArray[np.int64] = NO_ROWS
    ) -> LabelPlan:
        """The budget as a count and names for this data set, or a sentence that says what is wrong with it.

        `required`: it is for a method that has no use for observations without labels of these factors. Labels of
        rows that are held out are not among those that it may be spent on.
        """
        names = self.factors or data.factor_names
        if self.factors and not data.factor_names:
            raise InputError(f"{data.name} has no labels, so --label-factors {' '.join(self.factors)} names nothing.")
        for name in names:
            if name not in data.factor_names and name.split(",")[0] in data.factor_names:
                raise InputError(f"--label-factors takes names with blanks between them, not commas as in {name!r}.")
            if name not in data.factor_names:
                raise unknown("factor", name, data.factor_names)
            if names.count(name) > 1:
                raise InputError(f"--label-factors names {name!r} twice.")
        text = str(self.amount).strip()
        amount = text.removeprefix("first ").strip()
        count = self._count(amount, len(data) - len(held_out))
        if count:
            for name in required or names:
                check_precision(name, data.column(name))
        known = LabelPlan(count, tuple(names)).candidates(data, held_out)
        usable = LabelPlan(count, tuple(names), complete=tuple(required)).candidates(data, held_out)
        # Without gaps there is no difference, and without a budget nothing to spend.
        spend = tuple(required) if 0 < len(usable) < len(known) and count < len(known) else ()
        return LabelPlan(min(count, len(usable if spend else known)), tuple(names), amount != text, spend)

    def _count(self, text: str, n: int) -> int:
        if text == "all":
            return n
        if re.fullmatch(r"\d{1,3}(,\d{3})+", text):
            text = text.replace(",", "")
        try:
            if text.endswith("%"):
                share = float(text[:-1]) / 100
                count = min(n, max(1, round(share * n))) if share else 0
            else:
                share, count = 0.0, int(text)
        except (ValueError, OverflowError):
            raise InputError(
                f"--labels must be a count, a share like 0.5% or all, or as in 'first 256', not {self.amount!r}."
            ) from None
        if count < 0 or not 0 <= share <= 1:
            raise InputError(f"--labels must not be negative or more than everything, as {self.amount!r} is.")
        return count


@dataclass(frozen=True)
class LabelPlan:
    """A budget for one data set: of how many observations labels are shown, and of which factors."""

    count: int
    factors: tuple[str, ...]
    first: bool = field(default=False, metadata={"later": True})  # in the data's order; else drawn
    complete: tuple[str, ...] = field(default=(), metadata={"later": True})  # only of observations that have these

    def columns(self, data: FactorData) -> list[int]:
        """Where these factors stand in the data set's table."""
        return [data.factor_names.index(name) for name in self.factors]

    def info(self, data: FactorData) -> tuple[Factor, ...]:
        """The factors themselves."""
        return tuple(data.factor_info[column] for column in self.columns(data))

    def candidates(self, data: FactorData, held_out: NDArray[np.int64] = NO_ROWS) -> NDArray[np.int64]:
        """The rows that a budget may be spent on: with all labels that are needed, or with any."""
        columns = [data.factor_names.index(name) for name in self.complete]
        known = labelled_rows(data.factors[:, columns or self.columns(data)], complete=bool(self.complete))
        return np.setdiff1d(known, held_out, assume_unique=True)

    def visible(self, data: FactorData, seed: int, held_out: NDArray[np.int64] = NO_ROWS) -> NDArray[np.float64]:
        """The labels that a method may see, [n, factor]: NaN where there is none or the budget withholds it.

        A pure function of data, budget and seed: nothing that training does can change the labelled set. Of rows that
        are held out none is shown.
        """
        labels = data.factors[:, self.columns(data)]
        shown = np.full(labels.shape, np.nan)
        candidates = self.candidates(data, held_out)
        if self.first:
            rows = candidates[: self.count]
        else:
            rows = stratified_rows(labels, self.info(data), candidates, self.count, seed)
        shown[rows] = labels[rows]
        return shown


def check_precision(name: str, column: NDArray[np.float64]) -> None:
    """Refuse numbers most of which become alike in single precision, in which networks compute."""
    known = np.unique(column[~np.isnan(column)])
    left = len(np.unique(known.astype(np.float32)))
    if 2 * left < len(known):
        raise InputError(
            f"labels of {name!r} lie between {known[0]:.10g} and {known[-1]:.10g}, where single precision tells "
            f"{left:,} of their {len(known):,} values apart: subtract a constant from them first."
        )


def labelled_rows(labels: NDArray[np.float64], *, complete: bool = True) -> NDArray[np.int64]:
    """The rows of which all labels are known, or at least one."""
    known = ~np.isnan(labels)
    chosen = known.all(axis=1) if complete else known.any(axis=1)
    return np.flatnonzero(chosen) if labels.shape[1] else np.empty(0, dtype=np.int64)


def stratified_rows(
    labels: NDArray[np.float64], info: Sequence[Factor], candidates: NDArray[np.int64], count: int, seed: int
) -> NDArray[np.int64]:
    """`count` of the candidate rows in which discrete labels have the shares that they have in the data.

    Strata are the combinations of as many factors, in their order, as the budget has observations for: each
    combination gets its share, rounded, and at least one.
    """
    if count >= len(candidates):
        return candidates
    random = label_stream(seed)
    strata = np.zeros(len(candidates), dtype=np.int64)
    for column, factor in zip(labels[candidates].T, info, strict=True):
        if factor.size == 0:
            continue  # values of a continuous factor hardly ever repeat
        finer = strata * (factor.size + 1) + np.nan_to_num(column, nan=factor.size).astype(np.int64)
        finer = np.unique(finer, return_inverse=True)[1]
        if finer.max() + 1 > count:
            break
        strata = finer
    quotas = allocate(np.bincount(strata), count, random)
    order = random.permutation(len(candidates))
    order = order[np.argsort(strata[order], kind="stable")]  # by stratum, at random within each
    starts = np.concatenate([[0], np.cumsum(np.bincount(strata))[:-1]])
    chosen = [order[start : start + quota] for start, quota in zip(starts, quotas, strict=True)]
    return np.sort(candidates[np.concatenate(chosen)])


def allocate(sizes: NDArray[np.int64], count: int, random: np.random.Generator) -> NDArray[np.int64]:
    """How many of each stratum: proportional, summing to `count`, at least one where `count` allows it."""
    exact = sizes * (count / sizes.sum())
    quotas: NDArray[np.int64] = np.floor(exact).astype(np.int64)
    if count >= len(sizes):
        quotas = np.maximum(quotas, 1)
    # Largest remainders get what is left (ties at random); where the ones above took too much, the fullest give back.
    ties = random.random(len(sizes)) * 1e-6
    while quotas.sum() < count:
        quotas[np.argmax(exact - quotas + ties)] += 1
    while quotas.sum() > count:
        quotas[np.argmax(np.where(quotas > 1, quotas - exact + ties, -np.inf))] -= 1
    return quotas


def shares(known: NDArray[np.float64], factor: Factor) -> tuple[float, ...]:
    """The share of each value of a discrete factor among its known labels; all alike where none is known."""
    if factor.size == 0:
        return ()
    counts = np.bincount(known.astype(np.int64), minlength=factor.size) if len(known) else np.ones(factor.size)
    return tuple((counts / counts.sum()).tolist())
