"""Schedules are functions of the step, so a resumed run needs nothing to be remembered."""

from __future__ import annotations


def linear(step: int, start: float, end: float, steps: int) -> float:
    """From `start` to `end` in `steps` steps, then constant.

    Args:
        step: the step that is asked for, from 0.
        start: the value at step 0.
        end: the value from step `steps` on.
        steps: how long it takes; with 0 the end is reached after one step.

    Returns:
        The value at `step`.

    Example:
        >>> [linear(step, 1.0, 3.0, 4) for step in (0, 2, 4, 9)]
        [1.0, 2.0, 3.0, 3.0]
    """
    return start + (end - start) * min(1.0, step / max(1, steps))
