"""Looks at held-out rows: enough of them to tell a turn of the loss, and few enough to cost little of a short run."""

import pytest

from unbraid.evaluation.held_out_course import LEAST_POINTS
from unbraid.training.log import is_watched, log_interval


def looks(steps: int) -> int:
    return sum(is_watched(step, steps) and step % log_interval(steps) == 0 for step in range(1, steps + 1))


@pytest.mark.parametrize("steps", [40, 100, 400, 600, 777, 1000, 2000, 20_000])
def test_a_verdict_has_the_points_it_needs(steps: int) -> None:
    assert looks(steps) >= LEAST_POINTS


@pytest.mark.parametrize(("steps", "most"), [(400, 20), (600, 25), (1000, 40), (2000, 50), (20_000, 50)])
def test_short_runs_look_less_often(steps: int, most: int) -> None:
    assert looks(steps) == most
