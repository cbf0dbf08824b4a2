"""Schedules are functions of the step, so a resumed run needs nothing to be remembered."""

from __future__ import annotations


def linear(step: int, start: float, end: float, steps: int) -> float:
    """From `start` to `end` in `steps` steps, then constant."""
    return start + (end - start) * min(1.0, step / max(1, steps))
