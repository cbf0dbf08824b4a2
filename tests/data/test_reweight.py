"""Joint distributions of factors: what each configuration promises, and that samples keep it."""

import numpy as np
import pytest

from unbraid.data.factor_data import Factor, FactorData
from unbraid.data.reweight import Configuration, configuration, row_weights, sample
from unbraid.errors import InputError


def grid(first: int = 5, second: int = 7) -> FactorData:
    table = np.indices((first, second), dtype=np.float64).reshape(2, -1).T
    info = (Factor("azimuth", first), Factor("elevation", second))
    return FactorData("grid", table.astype(np.float32), table, info)


def covariance(joint: np.ndarray) -> float:
    p = joint / joint.sum()
    i, j = np.indices(p.shape)
    return float((p * i * j).sum() - (p * i).sum() * (p * j).sum())


def independent(joint: np.ndarray) -> bool:
    p = joint / joint.sum()
    return bool(np.allclose(p, p.sum(1, keepdims=True) * p.sum(0, keepdims=True)))


@pytest.mark.parametrize(
    ("name", "uniform", "is_independent", "uncorrelated"),
    [("A", True, True, True), ("B", False, True, True), ("C", False, False, True), ("D", False, False, False)],
)
def test_each_configuration_is_as_the_paper_says(
    name: Configuration, uniform: bool, is_independent: bool, uncorrelated: bool
) -> None:
    joint = configuration(name, 21, 11)
    assert bool(np.allclose(joint, joint[0, 0])) == uniform
    assert independent(joint) == is_independent
    assert bool(abs(covariance(joint)) < 1e-9) == uncorrelated
    assert joint.min() > 0, "all samples have some probability"
    if not uniform:
        assert joint.max() / joint.min() == pytest.approx(4.0)


def test_samples_follow_the_weights() -> None:
    data, joint = grid(), configuration("D", 5, 7)
    drawn = sample(data, {("azimuth", "elevation"): joint}, size=200_000, seed=3)
    found = np.zeros((5, 7))
    np.add.at(found, tuple(drawn.factors.astype(int).T), 1)
    assert found / len(drawn) == pytest.approx(joint / joint.sum(), abs=0.002)
    assert np.array_equal(drawn.observations, drawn.factors.astype(np.float32)), "rows stay together"


def test_weights_of_several_factors_multiply() -> None:
    data = grid(2, 2)
    chances = row_weights(data, {"azimuth": [1, 3], "elevation": [1, 1]})
    assert chances.tolist() == pytest.approx([0.125, 0.125, 0.375, 0.375])


def test_the_same_seed_draws_the_same_rows() -> None:
    first, again, other = (sample(grid(), {"azimuth": [1, 2, 3, 4, 5]}, seed=s).factors for s in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_bad_weights_are_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"azimuth need the shape \[5\]"):
        row_weights(grid(), {"azimuth": [1, 2]})
    with pytest.raises(InputError, match="did you mean 'azimuth'"):
        row_weights(grid(), {"azimut": [1] * 5})
    with pytest.raises(InputError, match="at least 0"):
        row_weights(grid(), {"azimuth": [1, -1, 1, 1, 1]})
    with pytest.raises(InputError, match="no observation"):
        row_weights(grid(), {"azimuth": [0] * 5})
