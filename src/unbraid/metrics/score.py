"""What every metric returns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from unbraid.metrics.record import Display

# Student's t for 97.5 % by degrees of freedom 1 to 9: few draws say little of their spread.
_STUDENT = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)


@dataclass(frozen=True)
class Chance:
    """What codes score that know nothing of the factors: rows of the factors in random orders.

    Args:
        draws: the score under each order.
        how: what differs from the score itself, such as fewer rows to fit on; empty where nothing does.

    Example:
        >>> chance = Chance((0.1, 0.3))
        >>> round(chance.mean, 3), round(chance.spread, 3)
        (0.2, 0.141)
    """

    draws: tuple[float, ...]
    how: str = ""

    @property
    def mean(self) -> float:
        """The chance level."""
        return float(np.mean(self.draws))

    @property
    def spread(self) -> float:
        """The standard deviation from draw to draw; NaN of a single draw."""
        return float(np.std(self.draws, ddof=1)) if len(self.draws) > 1 else math.nan

    @property
    def reach(self) -> float:
        """How far from the mean one more draw would lie at most, 39 times of 40 on either side."""
        count = len(self.draws)
        student = _STUDENT[count - 2] if count - 2 < len(_STUDENT) else 1.96 + 2.5 / (count - 1)
        return student * self.spread * math.sqrt(1 + 1 / count)


@dataclass(frozen=True)
class Score:
    """A metric's value, a 95 % bootstrap interval of it, where it stands, and how it came about.

    Args:
        value: the score.
        interval: its 95 % bootstrap interval, or None without one.
        details: plain numbers, strings, lists and NumPy arrays: the convention used, the seed, the counts, the
            value for each factor. Latents and factors are called by their names (z1 is the first latent); in
            arrays [latent, …] they have their positions.
        about: how the value is shown, for scores that no entry of `METRICS` describes.
        chance: what codes that know nothing get on this table; with `calibrate=True`.
        ceiling: what perfect codes get on this table; with `calibrate=True`.

    Example:
        >>> score = Score(0.5, (0.25, 0.75), {"bins": 20}, chance=Chance((0.09, 0.1, 0.11)), ceiling=0.9)
        >>> float(score), score.to_json()["interval"]
        (0.5, [0.25, 0.75])
        >>> round(score.relative, 2), score.beyond_chance
        (0.5, True)
    """

    value: float
    interval: tuple[float, float] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    about: Display | None = None
    chance: Chance | None = None
    ceiling: float | None = None

    def __float__(self) -> float:
        return self.value

    @property
    def relative(self) -> float | None:
        """Where the value lies between chance (0) and ceiling (1), None where the two are one or not known."""
        if self.chance is None or self.ceiling is None:
            return None
        way = self.ceiling - self.chance.mean
        return (self.value - self.chance.mean) / way if abs(way) > 1e-9 else None

    @property
    def beyond_chance(self) -> bool | None:
        """Whether the value lies outside of the spread of chance, on the ceiling's side; None where it is not known."""
        if self.chance is None or not math.isfinite(self.value) or not math.isfinite(self.chance.spread):
            return None
        return self._ahead(self.value) > self.chance.reach + 1e-9

    @property
    def p_value(self) -> float | None:
        """How often chance does as well or better, this score counted among the draws; None without draws."""
        if self.chance is None or not math.isfinite(self.value):
            return None
        as_good = sum(self._ahead(draw) >= self._ahead(self.value) - 1e-12 for draw in self.chance.draws)
        return (1 + as_good) / (1 + len(self.chance.draws))

    def _ahead(self, value: float) -> float:
        """How far a value is from chance, towards the ceiling."""
        assert self.chance is not None
        downwards = self.ceiling is not None and self.ceiling < self.chance.mean
        return (self.chance.mean - value) if downwards else (value - self.chance.mean)

    def to_json(self) -> dict[str, Any]:
        """The score as JSON can hold it: arrays become lists, values that are not finite become null."""
        entry = {
            "value": _plain(self.value),
            "interval": None if self.interval is None else _plain(self.interval),
            "details": _plain(self.details),
        }
        if self.chance is not None:
            chance = {"mean": self.chance.mean, "spread": self.chance.spread, **asdict(self.chance)}
            placed = {"ceiling": self.ceiling, "relative": self.relative, "beyond_chance": self.beyond_chance}
            entry |= {"chance": _plain(chance), **_plain(placed)}
        return entry if self.about is None else {**entry, "about": _plain(asdict(self.about))}


def verdict(details: Mapping[str, Any]) -> str:
    """The outcome of a yes-or-no condition, or why a score could not be computed; empty for any other score.

    Example:
        >>> verdict({"holds": True, "rank": 3, "needed": 3}), verdict({"seed": 0})
        ('L has rank 3 of 3: holds', '')
    """
    if "error" in details:
        return f"not computed: {details['error']}"
    if "holds" not in details:
        return ""
    return f"L has rank {details['rank']} of {details['needed']}: {'holds' if details['holds'] else 'does not hold'}"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value
