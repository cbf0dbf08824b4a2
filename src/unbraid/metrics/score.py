"""What every metric returns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from unbraid.metrics.record import Display


@dataclass(frozen=True)
class Score:
    """A metric's value, a 95 % bootstrap interval of it, and how it came about.

    Args:
        value: the score.
        interval: its 95 % bootstrap interval, or None without one.
        details: plain numbers, strings, lists and NumPy arrays: the convention used, the seed, the counts, the
            value for each factor. Latents and factors are called by their names (z1 is the first latent); in
            arrays [latent, …] they have their positions.
        about: how the value is shown, for scores that no entry of `METRICS` describes.

    Example:
        >>> score = Score(0.5, (0.25, 0.75), {"bins": 20})
        >>> float(score), score.to_json()["interval"]
        (0.5, [0.25, 0.75])
    """

    value: float
    interval: tuple[float, float] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    about: Display | None = None

    def __float__(self) -> float:
        return self.value

    def to_json(self) -> dict[str, Any]:
        """The score as JSON can hold it: arrays become lists, values that are not finite become null."""
        entry = {
            "value": _plain(self.value),
            "interval": None if self.interval is None else _plain(self.interval),
            "details": _plain(self.details),
        }
        return entry if self.about is None else {**entry, "about": _plain(asdict(self.about))}


def verdict(details: Mapping[str, Any]) -> str:
    """The outcome of a yes-or-no condition in words, from a score's details; empty for any other score.

    Example:
        >>> verdict({"holds": True, "rank": 3, "needed": 3}), verdict({"seed": 0})
        ('L has rank 3 of 3: holds', '')
    """
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
