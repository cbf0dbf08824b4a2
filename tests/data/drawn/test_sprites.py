from __future__ import annotations

import numpy as np
import pytest

from unbraid.data import load
from unbraid.data.drawn import sprites
from unbraid.errors import InputError


def test_nearly_all_real_images_are_drawn_bit_by_bit(real_data):
    file = real_data("dsprites/dsprites_real_46080.npz")
    with np.load(file) as real:
        rows, images = real["original_indices"], real["imgs"]
    pose, position = np.divmod(rows, 32 * 32)
    same = np.zeros(len(rows), bool)
    for number in np.unique(pose):
        shape, scale, angle = np.unravel_index(number, (3, 6, 40))
        outline = sprites.outline(int(shape), float(sprites.SCALES[scale]), float(sprites.ANGLES[angle]))
        drawn = sprites.pixels(sprites.rows(outline, sprites.CENTRES, sprites.CENTRES))[..., 0]
        here = np.flatnonzero(pose == number)
        same[here] = (drawn[position[here]] == images[here] * 255).all((1, 2))
    assert len(same) == 46080
    assert same.mean() >= 0.9998


def test_factors_are_a_full_grid_in_the_published_order():
    data = load("sprites", stride={"orientation": 8, "x": 8, "y": 16})
    assert data.factor_names == ("shape", "scale", "orientation", "x", "y")
    assert [f.size for f in data.factor_info] == [3, 6, 5, 4, 2]
    assert len(data) == 3 * 6 * 5 * 4 * 2
    row = np.ravel_multi_index((2, 1, 3, 2, 1), (3, 6, 5, 4, 2))
    np.testing.assert_array_equal(data.factors[row], [2, 1, 3, 2, 1])


def test_images_are_binary_and_stored_as_bytes_on_disk(cache_folder):
    data = load("sprites", stride=8)
    assert data.observations.dtype == np.uint8
    assert set(np.unique(data.observations)) == {0, 255}
    assert isinstance(data.observations.base, np.memmap) or isinstance(data.observations, np.memmap)
    assert [file.suffix for file in (cache_folder / "sprites").iterdir()] == [".npy"]


def test_position_moves_the_centre_of_mass_and_scale_the_area():
    data = load("sprites", stride={"orientation": 40, "x": 31, "y": 31})
    on = data.observations[..., 0] > 0
    column = (on.sum(1) @ np.arange(64)) / on.sum((1, 2))
    x = data.column("x")
    assert np.mean(column[x == 1]) - np.mean(column[x == 0]) == pytest.approx(32, abs=0.1)
    squares = data.column("shape") == 0
    area = on.sum((1, 2))[squares]
    scale = sprites.SCALES[data.column("scale")[squares].astype(int)]
    np.testing.assert_allclose(area, (19.2 * scale) ** 2, rtol=0.1)


def test_half_size_is_the_mean_of_four_pixels():
    stride = {"scale": 5, "orientation": 7, "x": 10, "y": 10}
    full, half = load("sprites", stride=stride), load("sprites", size=32, stride=stride)
    mean = full.observations[..., 0].astype(float).reshape(-1, 32, 2, 32, 2).mean((2, 4))
    assert np.abs(half.observations[..., 0] - mean).max() <= 0.5
    assert full.fingerprint != half.fingerprint


def test_first_and_last_angle_are_the_same_as_published():
    data = load("sprites", stride={"shape": 2, "scale": 5, "orientation": 39, "x": 31, "y": 31})
    first, last = (data.observations[data.column("orientation") == k] for k in (0, 1))
    np.testing.assert_array_equal(first, last)


@pytest.mark.parametrize("arguments", [{"size": 48}, {"stride": 0}, {"stride": {"hue": 2}}])
def test_impossible_grids_are_refused(arguments):
    with pytest.raises(InputError, match="sprites"):
        load("sprites", **arguments)
