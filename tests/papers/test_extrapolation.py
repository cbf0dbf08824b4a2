"""Errors on unseen combinations, with models whose answer is known."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from unbraid.data import load
from unbraid.data.drawn.balls import held_out_corner
from unbraid.papers.measures import extrapolation

HEIGHTS = 6
DATA = load("balls", size=16, heights=HEIGHTS, corner=False)


class Knows:
    """A run that reads the heights off the pictures, the right ball's first, and draws pictures from heights."""

    data, plan = DATA, SimpleNamespace(seed=0)

    def __init__(self, *, corner: bool) -> None:
        self.corner = corner  # whether it can make what training does not see

    def encode(self, x: Any) -> Any:
        rows = [int((DATA.observations == one).all((1, 2, 3)).argmax()) for one in x]
        return SimpleNamespace(codes=-DATA.factors[rows][:, ::-1])

    def decode(self, codes: Any) -> list[Any]:
        right, left = np.rint(-codes).astype(int).T
        rows = left * HEIGHTS + right
        unseen = np.isin(rows, held_out_corner(DATA))
        made = DATA.observations[rows].copy()
        made[unseen & (not self.corner)] = 0
        return [made]

    def reconstruct(self, x: Any) -> list[Any]:
        return self.decode(self.encode(x).codes)


def test_one_who_knows_the_balls_makes_no_error_anywhere() -> None:
    run: Any = Knows(corner=True)
    assert extrapolation.agreement(run) == pytest.approx(1.0)
    assert [measure(run) for measure in (extrapolation.seen_error, extrapolation.corner_error)] == [0, 0]
    assert extrapolation.combined_error(run) == 0, "codes of two seen pictures give the unseen one"


def test_one_who_cannot_make_the_corner_errs_there_alone() -> None:
    run: Any = Knows(corner=False)
    black = float(np.square(DATA.observations[held_out_corner(DATA)] / 255.0).mean())
    assert extrapolation.seen_error(run) == 0
    assert extrapolation.corner_error(run) == pytest.approx(black)
    assert extrapolation.combined_error(run) == pytest.approx(black)


def test_who_repeats_the_nearest_seen_picture() -> None:
    pictures = DATA.observations.reshape(len(DATA), -1) / 255.0
    corner = held_out_corner(DATA)
    seen = [row for row in range(len(DATA)) if row not in corner]
    by_hand = np.mean([min(np.square(pictures[one] - pictures[other]).mean() for other in seen) for one in corner])
    assert extrapolation.nearest_seen(DATA) == pytest.approx(by_hand)
