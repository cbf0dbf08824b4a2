"""One sentence of a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["good", "note", "bad"]


@dataclass(frozen=True)
class Sentence:
    """One thing to know of a run: something good, something to know, or something to act upon."""

    level: Level
    text: str
