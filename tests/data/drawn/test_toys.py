from __future__ import annotations

import numpy as np
import pytest

from unbraid.data import load
from unbraid.data.drawn.toys import cabinet as toys
from unbraid.data.drawn.toys import raycast
from unbraid.data.drawn.toys.solids import Dice, box, cone, ellipsoid, standing
from unbraid.errors import InputError

WHITE = np.ones((3, 1, 1, 1), np.float32)


@pytest.fixture(scope="module")
def poses() -> np.ndarray:
    return toys.draw(0).reshape(4, 24, 64, 64, 3)


def test_grid_of_azimuth_elevation_and_object():
    data = load("toys", objects=2)
    assert data.shape == (3, 64, 64)
    assert len(data) == 2 * 24 * 4
    assert [(f.name, f.size, f.kind) for f in data.factor_info] == [
        ("azimuth", 24, "cyclic"),
        ("elevation", 4, "ordinal"),
        ("object", 2, "categorical"),
    ]
    assert len(np.unique(data.factors, axis=0)) == len(data)


def test_drawing_is_repeatable(poses):
    np.testing.assert_array_equal(toys.draw(0).reshape(poses.shape), poses)


def test_every_pose_and_object_looks_different(poses):
    assert len(np.unique(poses.reshape(96, -1), axis=0)) == 96
    # Neighbouring azimuths look more alike than opposite ones: the turntable turns.
    views = poses[1].astype(float)
    near = np.abs(views - np.roll(views, 1, 0)).mean()
    far = np.abs(views - np.roll(views, 6, 0)).mean()
    assert near < far
    assert np.abs(toys.draw(0).astype(int) - toys.draw(1)).mean() > 3


def test_mirrored_azimuth_mirrors_the_silhouette():
    solids, middle = standing(toys.FAMILIES[0](Dice(0)))
    view = raycast.cameras(np.array([1.0, -1.0]), 0.4, middle)
    one, other = raycast.render(solids, view, WHITE)
    background = raycast.render([], view, WHITE)[0]
    seen, mirrored = ((image != background).any(-1) for image in (one, other[:, ::-1]))
    assert (seen != mirrored).mean() < 0.01


def test_solids_have_the_size_that_geometry_says():
    # A ball of radius 1 at distance D covers a disc of radius 1/√(D² − 1) on the screen.
    view = raycast.cameras(np.array([0.3]), 0.0, 0.5)
    picture = raycast.render([ellipsoid((0, 0, 0.5), (0.5,) * 3, "FF0000")], view, WHITE)[0]
    covered = picture[..., 1] < 128  # red on white: no green where more than half is covered
    radius = 0.5 / np.sqrt(raycast.DISTANCE**2 - 0.25) / raycast.FIELD * 32
    assert covered.sum() == pytest.approx(np.pi * radius**2, rel=0.02)


@pytest.mark.parametrize(
    "solid",
    [box((0, 0, 0.5), (0.3, 0.4, 0.5), "FF0000"), cone((0, 0, 0), (0, 0, 1), 0.5, 0.1, "FF0000")],
    ids=["box", "cone"],
)
def test_nearer_solids_hide_those_behind(solid):
    view = raycast.cameras(np.array([0.0]), 0.2, 0.5)
    wall = box((-1.0, 0, 0.5), (0.05, 0.2, 0.3), "00FF00")
    np.testing.assert_array_equal(
        raycast.render([solid, wall], view, WHITE), raycast.render([wall, solid], view, WHITE)
    )
    middle = raycast.render([solid, wall], view, WHITE)[0, 32, 32]
    assert middle[0] > middle[1]


def test_all_objects_stay_inside_the_picture():
    for index in range(0, toys.OBJECTS, 7):
        solids, middle = standing(toys.FAMILIES[index % len(toys.FAMILIES)](Dice(toys.SEED, index)))
        corners = np.concatenate([solid.corners for solid in solids])
        assert corners[:, 2].min() == pytest.approx(0, abs=1e-6)
        assert np.linalg.norm(corners - [0, 0, middle], axis=1).max() < 1.001
    assert 1 / np.sqrt(raycast.DISTANCE**2 - 1) < raycast.FIELD


def test_shrunk_toys_are_the_same_toys(tmp_path, monkeypatch):
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path))
    small, large = load("toys", objects=1, size=32), load("toys", objects=1)
    assert small.shape == (3, 32, 32)
    assert small.arguments == {"objects": 1, "size": 32}
    assert small.fingerprint != large.fingerprint
    means = large.observations.reshape(96, 32, 2, 32, 2, 3).mean(axis=(2, 4))
    assert np.abs(small.observations - means).mean() < 3  # of 255; the filter reaches a little beyond the 2×2


def test_arguments_are_checked():
    with pytest.raises(InputError, match="objects=0"):
        load("toys", objects=0)
    for size in (7, 65):
        with pytest.raises(InputError, match=f"size={size}"):
            load("toys", size=size)
