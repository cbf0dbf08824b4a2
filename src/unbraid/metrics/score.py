"""What every metric returns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Score:
    """A metric's value, a 95 % bootstrap interval of it, and how it came about.

    `details` holds plain numbers, strings, lists and NumPy arrays: the convention used, the seed, the counts,
    the value for each factor.
    """

    value: float
    interval: tuple[float, float] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def __float__(self) -> float:
        return self.value

    def to_json(self) -> dict[str, Any]:
        """The score as JSON can hold it: arrays become lists, values that are not finite become null."""
        return {
            "value": _plain(self.value),
            "interval": None if self.interval is None else _plain(self.interval),
            "details": _plain(self.details),
        }


def verdict(details: Mapping[str, Any]) -> str:
    """The outcome in words, from what metrics.json holds of it; empty for any other score."""
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
