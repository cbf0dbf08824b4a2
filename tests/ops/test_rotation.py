"""A rotation towards independence is found without labels, and stays away where there is none."""

import numpy as np
import pytest

from unbraid.ops import rotation
from unbraid.ops.rotation import independent_rotation, marginal_entropies


def turn(angle: float) -> np.ndarray:
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def test_entropies_are_those_of_known_densities():
    rng = np.random.default_rng(0)
    rows = np.stack([rng.uniform(0, 3, 20_000), rng.normal(0, 2, 20_000), rng.exponential(0.5, 20_000)])
    expected = [np.log(3), 0.5 * np.log(2 * np.pi * np.e * 4), 1 + np.log(0.5)]
    np.testing.assert_allclose(marginal_entropies(rows), expected, atol=0.03)


@pytest.mark.parametrize("angle", [0.3, -0.6, np.pi / 4])
def test_a_turned_square_is_turned_back(angle):
    square = np.random.default_rng(1).uniform(-1, 1, (5000, 2))
    found = independent_rotation(square @ turn(angle).T)
    back = np.abs(found.matrix @ turn(angle))  # up to swaps and signs
    np.testing.assert_allclose(back, np.round(back), atol=0.05)
    # The marginals of a square turned by 45° are triangles of entropy ½ + log √2; those of the square have log 2.
    if angle == np.pi / 4:
        assert found.gain == pytest.approx(2 * (0.5 + np.log(np.sqrt(2)) - np.log(2)), abs=0.07)


def test_three_codes_are_unmixed_whatever_their_scales():
    rng = np.random.default_rng(2)
    codes = rng.uniform(-1, 1, (4000, 3)) * [1.0, 1.0, 0.3]
    mixed, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    found = independent_rotation(codes @ mixed.T + [5.0, -2.0, 1.0])
    np.testing.assert_allclose(found.matrix @ found.matrix.T, np.eye(3), atol=1e-12)
    strength = np.abs(found.matrix @ mixed)
    np.testing.assert_allclose(strength, np.round(strength), atol=0.08)
    assert (strength.argmax(0) != strength.argmax(0)[[1, 2, 0]]).all()


def test_codes_that_no_rotation_improves_stay_as_they_are():
    rng = np.random.default_rng(3)
    for codes in (rng.uniform(-1, 1, (5000, 2)), rng.normal(size=(5000, 2)), rng.normal(size=(100, 1))):
        found = independent_rotation(codes, least_gain=0.02)
        np.testing.assert_array_equal(found.matrix, np.eye(codes.shape[1]))
        assert found.gain == 0


def test_entropy_by_hand():
    # Neighbours √3 → 1 apart: spacings 1 and 2, times (n + 1)/1.
    np.testing.assert_allclose(marginal_entropies(np.array([[3.0, 0.0, 1.0]])), [(np.log(4) + np.log(8)) / 2])
    # Of four, two apart: spacings 3 and 6, times 5/2.
    np.testing.assert_allclose(marginal_entropies(np.array([[0.0, 7.0, 1.0, 3.0]])), [(np.log(7.5) + np.log(15)) / 2])


@pytest.mark.parametrize("angle", [0.5, -0.7, 1.2])
def test_the_angle_is_the_best_of_all(angle):
    rng = np.random.default_rng(4)
    codes = np.stack([rng.exponential(1.0, 800), 0.4 * rng.uniform(-1, 1, 800)], axis=1) @ turn(angle).T + [3.0, -1.0]
    found = independent_rotation(codes)
    best = min(marginal_entropies(turn(a) @ codes.T).sum() for a in np.linspace(0, np.pi, 360))
    assert found.entropy_before == pytest.approx(marginal_entropies(codes.T).sum())
    assert found.entropy_after == pytest.approx(marginal_entropies(found.matrix @ codes.T).sum())
    assert found.entropy_after < best + 0.02


def test_pairs_are_turned_until_none_gains():
    rng = np.random.default_rng(5)
    mixed, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    codes = rng.exponential(1.0, (1500, 4)) * [1.0, 2.0, 0.5, 1.0] @ mixed.T
    found = independent_rotation(codes)
    again = independent_rotation(codes @ found.matrix.T)
    np.testing.assert_array_equal(again.matrix, np.eye(4))
    strength = np.abs(found.matrix @ mixed)
    np.testing.assert_allclose(strength, np.round(strength), atol=0.15)


def test_one_sweep_turns_a_pair_by_the_best_of_its_angles(monkeypatch):
    monkeypatch.setattr(rotation, "SWEEPS", 1)
    rng = np.random.default_rng(6)
    codes = np.stack([rng.exponential(1.0, 600), 0.4 * rng.uniform(-1, 1, 600)], axis=1) @ turn(0.5).T
    angles = np.pi * np.arange(-21.5, 23.5) / 90  # every two degrees, up to 45°
    sums = [marginal_entropies(turn(angle) @ codes.T).sum() for angle in angles]
    np.testing.assert_allclose(independent_rotation(codes).matrix, turn(angles[int(np.argmin(sums))]), atol=1e-9)
