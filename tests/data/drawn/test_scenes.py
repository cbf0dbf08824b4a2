"""Scenes: what each factor changes, and that nothing else does."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from unbraid.data import load
from unbraid.data.drawn import scenes
from unbraid.data.drawn.scenes_layers import HORIZON, SUN_RADIUS, ToyLayers, cast_toy, middles, resampling
from unbraid.errors import InputError

SIZES = {"sky": 10, "floor": 10, "place": 11, "distance": 7, "sun": 8}


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path))


def scene(size: int = 64, toy: int = 0, **values: int) -> np.ndarray:
    """One picture at these values, the others in the middle, as floats."""
    row = [values.get(name, count // 2) for name, count in SIZES.items()]
    return next(scenes.drawn(np.array([row]), np.array([toy]), size))[0].astype(float)


def changed(name: str, low: int, high: int, **others: int) -> np.ndarray:
    """Where the picture differs between two values of one factor, [64, 64]."""
    return np.abs(scene(**{name: low}, **others) - scene(**{name: high}, **others)).max(-1) > 1


def test_rows_are_draws_of_all_factors():
    data = load("scenes", n=3000, size=16, toys=3)
    assert data.shape == (3, 16, 16)
    assert {f.name: f.size for f in data.factor_info} == SIZES
    assert all(f.kind == "ordinal" for f in data.factor_info)
    for values, count in zip(data.factors.T, SIZES.values(), strict=True):
        share = np.bincount(values.astype(int), minlength=count) / len(data)
        np.testing.assert_allclose(share, 1 / count, atol=0.03)
    assert np.abs(np.corrcoef(data.factors.T) - np.eye(5)).max() < 0.08


def test_the_same_call_gives_the_same_scenes_and_another_seed_others(tmp_path, monkeypatch):
    first = load("scenes", n=30, size=32, toys=4)
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path / "elsewhere"))
    again, other = load("scenes", n=30, size=32, toys=4), load("scenes", n=30, size=32, toys=4, seed=1)
    np.testing.assert_array_equal(first.observations, again.observations)
    np.testing.assert_array_equal(first.factors, again.factors)
    assert first.fingerprint == again.fingerprint != other.fingerprint
    assert not np.array_equal(first.factors, other.factors)
    sent = pickle.loads(pickle.dumps(other))
    np.testing.assert_array_equal(sent.observations, other.observations)
    assert sent.arguments == {"n": 30, "size": 32, "seed": 1, "toys": 4}


def test_more_rows_begin_with_the_same_ones_at_any_size():
    few, many = load("scenes", n=20, size=32, toys=4), load("scenes", n=40, size=32, toys=4)
    np.testing.assert_array_equal(many.observations[:20], few.observations)
    large = load("scenes", n=20, toys=4)
    np.testing.assert_array_equal(large.factors, few.factors)
    means = large.observations.reshape(20, 32, 2, 32, 2, 3).mean(axis=(2, 4))
    assert np.abs(few.observations - means).mean() < 3  # of 255; filters reach a little beyond the 2×2


def test_sky_changes_the_sky_and_floor_the_floor():
    below = middles(64) > HORIZON + 2 / 64
    above = middles(64) < HORIZON - 2 / 64
    sky, floor = changed("sky", 0, 9), changed("floor", 0, 9)
    assert not sky[below].any()
    assert sky[above].mean() > 0.6
    assert not floor[above].any()
    assert floor[below].mean() > 0.6


def test_colours_lie_on_a_line():
    for name, corner in (("sky", (0, 0)), ("floor", (63, 0))):
        path = np.stack([scene(**{name: value}, place=10)[corner] for value in range(10)])
        np.testing.assert_allclose(path, np.linspace(path[0], path[-1], 10), atol=1.5)
        assert np.abs(path[-1] - path[0]).max() > 80


def test_the_sun_moves_down_in_the_sky_only():
    centres = []
    for value in range(8):
        moved = changed("sun", value, (value + 4) % 8, place=0, distance=0)
        assert not moved[middles(64) > HORIZON + 2 / 64].any()
        image = scene(sun=value, sky=0, place=0, distance=0)
        disc = (image[..., 0] > 240) & (image[..., 2] < 90)
        centres.append(np.argwhere(disc).mean(0))
        if value < 5:  # above the horizon as a whole
            assert disc.sum() == pytest.approx(np.pi * (SUN_RADIUS * 32) ** 2, rel=0.15)
    rows, columns = np.array(centres).T
    assert (np.diff(rows) > 1).all()
    np.testing.assert_allclose(columns, columns[0], atol=0.5)


def toy_mask(**values: int) -> np.ndarray:
    """Where the toy itself is, without its shadow."""
    place, distance = values.get("place", 5), values.get("distance", 3)
    layer = ToyLayers(64).layers(*(np.array([v]) for v in (0, 4, place, distance)))[0]
    mask: np.ndarray = layer[..., 3] > 0.5
    return mask


def test_place_moves_the_toy_across_and_distance_brings_it_near():
    columns = [np.argwhere(toy_mask(place=place)).mean(0) for place in range(2, 9)]
    steps = np.diff(np.array(columns), axis=0)
    np.testing.assert_allclose(steps[:, 0], 0, atol=0.2)
    np.testing.assert_allclose(steps[:, 1], steps[:, 1].mean(), atol=0.4)
    assert steps[:, 1].mean() > 2
    sizes = [toy_mask(distance=distance).sum() for distance in range(7)]
    feet = [np.argwhere(toy_mask(distance=distance))[:, 0].max() for distance in range(7)]
    assert (np.diff(sizes) > 0).all()
    assert (np.diff(feet) > 0).all(), "the nearest one stands at the picture's edge"


def test_resampling_keeps_a_plain_window_plain():
    for half, at in ((0.4, 0.1), (0.83, -0.12), (1.0, 0.0)):
        weights = resampling(64, at, half).sum(1)
        inside = np.abs(middles(64) - at) < half - 3 / 64
        np.testing.assert_allclose(weights[inside], 1, atol=1e-6)
        assert (weights[np.abs(middles(64) - at) > half + 3 / 64] == 0).all()
        assert weights.sum() * 2 / 64 == pytest.approx(2 * half, abs=0.01)


def test_a_toy_stands_where_its_shadow_lies():
    for toy in range(0, 60, 9):
        layer, foot = cast_toy(toy, -0.9)
        covered = np.argwhere(layer[..., 3] > 0.5)[:, 0].max()
        dark = np.argwhere(layer[..., 4] > 0.1)[:, 0]
        ground = (foot + 1) * 32
        assert dark.min() < ground < dark.max()
        assert covered >= ground - 2


def test_a_toy_is_told_by_the_target_and_not_by_a_factor():
    data = load("scenes", n=400, size=16, toys=7)
    toy = scenes.identity(data)
    assert data.targets["toy"]().shape == (400, 7)
    assert set(toy) == set(range(7))
    assert np.abs(scene(toy=0) - scene(toy=1)).max() > 50
    rows = np.array([3, 5, 8])
    np.testing.assert_array_equal(scenes.identity(data.take(rows)), toy[rows])


def test_azimuth_turns_the_toy_alone():
    data = load("scenes", n=300, size=16, azimuth=True, toys=1)
    assert data.factor_names[-1] == "azimuth"
    assert set(data.column("azimuth")) == set(range(9))
    row = np.array([[5, 5, 5, 6, 0, 0]])
    one, other = (next(scenes.drawn(np.where(np.arange(6) == 5, turn, row), np.array([0]), 64))[0] for turn in (0, 8))
    differs = (one != other).any(-1)
    assert differs.any()
    assert not differs[:20].any()  # the sky above the toy


def test_a_grid_has_every_combination_once_in_order():
    data = load("scenes", size=16, grid=True, toys=1)
    assert len(data) == 10 * 10 * 11 * 7 * 8
    np.testing.assert_array_equal(data.factors, np.indices(tuple(SIZES.values())).reshape(5, -1).T)
    row = int(np.ravel_multi_index((2, 7, 3, 6, 1), tuple(SIZES.values())))
    expected = scene(16, sky=2, floor=7, place=3, distance=6, sun=1)
    np.testing.assert_array_equal(data.observations[row], expected)
    assert data.arguments == {"size": 16, "toys": 1, "grid": True}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n=0 must be at least 1"),
        ({"size": 33}, "size=33"),
        ({"size": 72}, "size=72"),
        ({"size": 8}, "size=8"),
        ({"seed": -1}, "seed=-1"),
        ({"toys": 0}, "toys=0 is out of range"),
        ({"toys": 201}, "toys=201 is out of range"),
        ({"n": 50, "grid": True}, "contradict"),
        ({"colour": 1}, "no option 'colour'"),
    ],
)
def test_arguments_are_checked(arguments, message):
    with pytest.raises(InputError, match=message):
        load("scenes", **arguments)
