"""Held-out observations: which rows no training sees. Chosen once by the run's seed, or by whole groups of rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unbraid.data.factor_data import FactorData
from unbraid.errors import InputError, unknown
from unbraid.util.seeds import stream

SHARE = 0.1  # of people's own data, unless they say otherwise
LEAST = 50  # observations, below which nothing is held out unless it is asked for
LEFT = 2  # observations that training cannot do without


@dataclass(frozen=True)
class HeldOut:
    """What a user asks for: the part of the observations that is held out, and a factor that groups them.

    Observations with the same value of `by` (a patient, a day) stay together, so that none of those that are held out
    has a sibling in training. Those without a value stay in training.

    Example:
        >>> HeldOut(0.2, by="patient").share
        0.2
    """

    share: float = SHARE
    by: str = ""

    def resolve(self, data: FactorData, seed: int) -> HeldOutPlan | None:
        """The same for one data set, or a sentence that says what is wrong with it; None: nothing is held out."""
        if not 0 <= self.share < 1:
            raise InputError(f"--held-out must be a part of the data from 0 to below 1, such as 0.1, not {self.share}.")
        if self.by and not self.share:
            raise InputError(f"--held-out 0 holds nothing out: leave --held-out-by {self.by} out.")
        if self.by and self.by not in data.factor_names:
            if not data.factor_names:
                raise InputError(f"{data.name} has no factors, so --held-out-by {self.by} names nothing.")
            raise unknown("factor", self.by, data.factor_names)
        if not self.share:
            return None
        rows = choose_held_out(data, self.share, self.by, seed)
        if len(data) - len(rows) < LEFT:
            raise InputError(f"--held-out {self.share:g} leaves too few of {len(data)} observations to learn from.")
        return HeldOutPlan(len(rows), self.share, self.by)


@dataclass(frozen=True)
class HeldOutPlan:
    """What is held out of one data set: how many observations, which part that was to be, and what grouped them."""

    count: int
    share: float
    by: str = field(default="", metadata={"later": True})

    def rows(self, data: FactorData, seed: int) -> NDArray[np.int64]:
        """The rows that are held out, in order: a pure function of data, plan and seed."""
        return choose_held_out(data, self.share, self.by, seed)


def held_out_plan(data: FactorData, asked: HeldOut | float | None, seed: int) -> HeldOutPlan | None:
    """What is held out: as asked, else a tenth of people's own data where there are enough observations."""
    if asked is None:
        asked = HeldOut(SHARE if is_own(data) and len(data) >= LEAST else 0.0)
    return (asked if isinstance(asked, HeldOut) else HeldOut(float(asked))).resolve(data, seed)


def is_own(data: FactorData) -> bool:
    """Whether these are somebody's own data: arrays, or loaded from a path; else drawn or published ones."""
    return data.arguments is None or Path(data.name).is_absolute()


def choose_held_out(data: FactorData, share: float, by: str, seed: int) -> NDArray[np.int64]:
    """Rows that are held out, in order: about this part of all, at least one."""
    random, wanted = stream(seed, "held out"), max(1, round(share * len(data)))
    if not by:
        return np.sort(random.permutation(len(data))[:wanted])
    column = data.column(by)
    values, group, sizes = np.unique(column[~np.isnan(column)], return_inverse=True, return_counts=True)
    if len(values) < 2:
        raise InputError(f"--held-out-by {by} makes {len(values)} group, of which none can be held out: name another.")
    taken, count = [], 0
    for one in random.permutation(len(values)):
        if count + sizes[one] <= wanted:
            taken.append(one)
            count += int(sizes[one])
    return np.flatnonzero(~np.isnan(column))[np.isin(group, taken or [np.argmin(sizes)])]
