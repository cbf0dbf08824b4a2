"""What every metric returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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
