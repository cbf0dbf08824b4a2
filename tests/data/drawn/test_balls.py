"""Two balls: every picture is the sum of one of each, and the corner is what training lacks."""

import numpy as np
import pytest

from unbraid.data import load
from unbraid.data.drawn import balls
from unbraid.errors import InputError


def test_a_picture_is_the_sum_of_its_balls() -> None:
    data = load("balls", heights=5)
    grid = data.observations.reshape(5, 5, *data.observations.shape[1:]).astype(int)
    # x(a, b) − x(a, 0) is the same for all a, and so is x(a, b) − x(0, b) for all b: nothing depends on both.
    assert (grid - grid[:, :1] == (grid - grid[:, :1])[:1]).all()
    assert (grid - grid[:1] == (grid - grid[:1])[:, :1]).all()
    left, right = data.observations[:, :, :16], data.observations[:, :, 16:]
    assert all(len(np.unique(half.reshape(25, -1), axis=0)) == 5 for half in (left, right)), "a ball in each half"


def test_balls_are_round_whole_and_rise_with_their_factor() -> None:
    data = load("balls", size=64, heights=9)
    white = (data.observations.astype(float) - data.observations[0, 0, 0]) / 255
    for half, colour, factor in ((white[:, :, :32], balls.COLOURS[0], 0), (white[:, :, 32:], balls.COLOURS[1], 1)):
        area = half.sum((1, 2))[:, 2] / (colour[2] - balls.BACKGROUND)
        np.testing.assert_allclose(area, np.pi * (balls.RADIUS * 64) ** 2, rtol=0.02)
        centre = (half[..., 2] * np.arange(64)[:, None]).sum((1, 2)) / half[..., 2].sum((1, 2))
        slope = np.polyfit(data.factors[:, factor], centre, 1)[0]
        assert slope == pytest.approx(-64 * (1 - 2.4 * balls.RADIUS) / 8, rel=0.01)


def test_the_corner_is_kept_from_training_and_not_from_scores() -> None:
    whole, part = load("balls", heights=6), load("balls", heights=6, corner=False)
    assert whole.train_rows is None
    corner = balls.held_out_corner(part)
    assert [tuple(row) for row in part.factors[corner]] == [(a, b) for a in (3, 4, 5) for b in (3, 4, 5)]
    assert part.train_rows is not None
    assert sorted([*part.train_rows, *corner]) == list(range(36))
    np.testing.assert_array_equal(whole.observations, part.observations)
    assert whole.fingerprint != part.fingerprint


@pytest.mark.parametrize("wrong", [{"size": 7}, {"size": 300}, {"heights": 1}, {"heights": 999}])
def test_what_cannot_be_drawn_is_refused(wrong: dict[str, int]) -> None:
    (name,) = wrong
    with pytest.raises(InputError, match=f"balls: {name}={wrong[name]}"):
        load("balls", **wrong)
