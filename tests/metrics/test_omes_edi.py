"""OMES and EDI against values worked out by hand and against the numbers of their authors' programs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from unbraid import metrics as m
from unbraid.errors import InputError
from unbraid.metrics._shared.strata import one_factor_pairs
from unbraid.metrics.edi import exclusivity, parts
from unbraid.metrics.omes import factor_scores

Array = NDArray[np.float64]
MATRIX = np.array([[0.9, 0.1, 0.0], [0.2, 0.7, 0.3], [0.0, 0.4, 0.8], [0.05, 0.6, 0.1]])
MIX = np.array([[1.0, 0.3, 0.0, 0.2], [0.0, 1.0, -0.5, 0.3], [0.4, 0.0, 1.0, 0.0]])


def worlds(repeats: int = 5) -> tuple[Array, Array]:
    """Every combination of 6, 5 and 4 values, and four codes that mix them."""
    factors = np.array(list(itertools.product(range(6), range(5), range(4))), dtype=float)
    factors = np.tile(factors, (repeats, 1))
    return factors @ MIX, factors


# `disentanglement_score` of the authors' omes.py (JacopoDapueto/transfer_disentanglement) on MATRIX.
OMES_OF_MATRIX = {
    (0.0, "average"): [0.6633423913043478, 0.3433333333333334, 0.5025],
    (0.0, "max"): [0.82125, 0.455, 0.68],
    (0.5, "average"): [0.6678125, 0.37796296296296295, 0.48409722222222223],
    (0.5, "max"): [0.830625, 0.48416666666666663, 0.66],
    (1.0, "average"): [0.6722826086956523, 0.41259259259259257, 0.4656944444444445],
    (1.0, "max"): [0.84, 0.5133333333333333, 0.64],
}


@pytest.mark.parametrize(("alpha", "pool"), OMES_OF_MATRIX)
def test_omes_of_a_matrix_is_the_authors(alpha: float, pool: str) -> None:
    assert factor_scores(MATRIX, alpha, pool) == pytest.approx(OMES_OF_MATRIX[alpha, pool], abs=1e-12)


def test_omes_of_codes_is_the_authors() -> None:
    """Their `get_score` on all ordered pairs of the grid, whose fourth latent is 0.1 of a tenth: 0.7056 and 0.8216."""
    codes, factors = worlds(1)
    codes[:, 3] = 0.1 * (factors @ [0.02, 0.03, 0.0])
    score = m.omes(codes, factors, points=200_000, replicates=0)
    assert score.details["active_latents"] == ["z1", "z2", "z3"]
    theirs = [[0.877, 0.0, 0.0856], [0.1392, 0.895, 0.0], [0.0, 0.3571, 0.9524]]
    assert score.details["association"] == pytest.approx(np.array(theirs), abs=0.01)
    assert score.value == pytest.approx(0.7056, abs=0.005)
    assert m.omes(codes, factors, pool="max", points=200_000, replicates=0).value == pytest.approx(0.8216, abs=0.005)


def test_omes_of_perfect_codes_by_hand() -> None:
    """Two different ones of m values have correlation −1/(m − 1), so that a perfect code of two values never moves."""
    factors = np.tile(np.array(list(itertools.product(range(2), range(5))), dtype=float), (200, 1))
    score = m.omes(factors, factors, points=50_000)
    moved = 1 - 1 / 4
    expected = moved * (1 - (1 - moved) / 2)  # of two factors and of two latents alike
    assert score.details["per_factor"]["factor 0"] == pytest.approx(0.0, abs=1e-9)
    assert score.details["per_factor"]["factor 1"] == pytest.approx(expected, abs=0.01)
    assert score.interval is not None
    assert score.interval[0] <= expected / 2 <= score.interval[1]


def test_omes_by_chance_is_what_uncorrelated_pairs_give() -> None:
    codes, factors = worlds(20)
    score = m.omes(codes, factors, calibrate=True, replicates=0)
    assert score.chance is not None
    assert score.chance.mean == pytest.approx((1 / 3 + 1 / 4) / 2, abs=0.02)
    assert score.beyond_chance


def test_pairs_differ_in_one_factor() -> None:
    codes, factors = worlds(2)
    factors[:7, 1] = np.nan
    table = m.as_table(codes, factors)
    for k in range(3):
        rows = one_factor_pairs(table, k, 4000, 0)
        first, second = factors[rows[:, 0]], factors[rows[:, 1]]
        different = first != second
        assert different[:, k].all()
        assert different.sum() == 4000
        assert len(np.unique(second[:, k])) == len(np.unique(factors[7:, k])), "all values take part"
    drawn = np.random.default_rng(0).normal(size=(300, 3))
    with pytest.raises(InputError, match=r"'factor 0'.*all combinations"):
        m.omes(drawn, np.random.default_rng(1).integers(50, size=(300, 3)))
    with pytest.raises(InputError, match="from 0 to 1"):
        m.omes(codes, factors, alpha=2.0)


def test_edi_of_a_matrix_is_the_authors() -> None:
    """`_disentanglement` and `_completeness` of the authors' edi.py (julka01/InnVariant) on MATRIX: 0.7708, 0.5594."""
    each = parts(MATRIX, np.ones(3), np.ones(3))
    assert each["modularity"].mean() == pytest.approx(0.7708128974076258, abs=1e-12)
    assert each["compactness"].mean() == pytest.approx(0.5593615555306491, abs=1e-12)
    assert exclusivity(MATRIX[1]) == pytest.approx(0.7 - np.sqrt((0.04 + 0.09) / 2))


@pytest.mark.parametrize(
    ("captured", "modularity", "compactness"),
    [("max", 0.43096440626954946, 0.4664041176915135), ("sum", 0.2794560734962599, 0.2447561881347029)],
)
def test_edi_of_codes_is_the_authors(captured: str, modularity: float, compactness: float) -> None:
    """Their `dcii_d` and `dcii_c` with `estimator="bins"` (30 bins), discrete factors and the same rule for I(c; z)."""
    scores = m.edi(*worlds(), captured=captured, bins=30, replicates=0)
    assert scores["modularity"].value == pytest.approx(modularity, abs=1e-8)
    assert scores["compactness"].value == pytest.approx(compactness, abs=1e-8)


def test_edi_says_what_is_lost_when_a_factor_is_shared_and_a_latent_mixes() -> None:
    draws = np.random.default_rng(0)
    factors = draws.integers(8, size=(3000, 2)).astype(float)
    first, second = factors.T
    clean = m.edi(factors, factors)
    assert all(score.value == pytest.approx(1.0, abs=0.02) for score in clean.values())
    # One factor in two latents, half of it each: modular and explicit, but not compact.
    split = np.column_stack([first // 4, first % 4, second])
    halves = m.edi(split, factors, replicates=0)
    shares = [2 / 3, 1 / 3]
    assert halves["explicitness"].value == pytest.approx(1.0, abs=0.02), "the probe reads both halves together"
    expected = (max(shares) - min(shares) / np.sqrt(2) + 1.0) / 2
    assert halves["compactness"].value == pytest.approx(expected, abs=0.03)
    assert halves["modularity"].value == pytest.approx(1.0, abs=0.03)
    # Two factors in one latent: not modular, whatever it knows.
    both = m.edi(np.column_stack([8 * first + second, draws.normal(size=3000)]), factors, captured="max", bins=64)
    assert both["modularity"].value < 0.05
    assert both["compactness"].value > 0.95
    noise = m.edi(draws.normal(size=(3000, 3)), factors)
    assert noise["explicitness"].value < 0.02
    for scores in (clean, noise):
        for score in scores.values():
            assert score.interval is not None
            assert score.interval[0] <= score.value <= score.interval[1]
    with pytest.raises(InputError, match="only one"):
        m.edi(factors, first)
    with pytest.raises(InputError, match="probe"):
        m.edi(factors, factors, captured="mine")
