"""On codes that theory knows, every metric has the value that theory gives."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from unbraid import metrics as m

from .conftest import Array, grid

SMALL: dict[str, Any] = {"train": 1000, "test": 500}
GAPS: list[Callable[..., m.Score]] = [m.mig, partial(m.sap, mode="regression"), partial(m.sap, mode="threshold"), m.sap]
ALL: list[Callable[..., m.Score]] = [
    *GAPS,
    m.modularity,
    partial(m.factor_score, **SMALL),
    partial(m.beta_score, **SMALL),
    partial(m.z_diff, **SMALL),
    m.explicitness,
    m.dci,
    partial(m.dci, mode="lasso"),
    m.irs,
    m.mcc,
]


def name(metric: Callable[..., m.Score]) -> str:
    inner = metric.func if isinstance(metric, partial) else metric
    mode = metric.keywords.get("mode", "") if isinstance(metric, partial) else ""
    return f"{inner.__name__} {mode}".strip()


@pytest.mark.parametrize("metric", [f for f in ALL if name(f) not in ("sap", "sap threshold")], ids=name)
def test_a_perfect_code_scores_one(metric: Callable[..., m.Score], binary_grid: Array) -> None:
    score = metric(2.0 * binary_grid, binary_grid)
    assert score.value == pytest.approx(1.0, abs=0.01)
    assert score.interval is not None
    assert score.interval[1] - score.interval[0] < 0.05


def test_a_perfect_code_has_sap_one_half_for_binary_factors(binary_grid: Array) -> None:
    """The second best latent guesses, and guessing between two values is right half of the time."""
    for mode in ("svm", "threshold"):
        assert m.sap(2.0 * binary_grid, binary_grid, mode=mode).value == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize("metric", ALL, ids=name)
def test_a_constant_code_scores_zero(metric: Callable[..., m.Score], binary_grid: Array) -> None:
    assert metric(np.full((len(binary_grid), 4), 0.3), binary_grid).value == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("metric", GAPS, ids=name)
def test_a_duplicated_code_has_no_gap(metric: Callable[..., m.Score], binary_grid: Array) -> None:
    assert metric(np.tile(binary_grid, 2), binary_grid).value == pytest.approx(0.0, abs=1e-12)


def test_a_duplicated_code_is_modular_but_not_complete(binary_grid: Array) -> None:
    twice = 2.0 * np.tile(binary_grid, 2)
    assert m.modularity(twice, binary_grid).value == pytest.approx(1.0)
    assert m.factor_score(twice, binary_grid, **SMALL).value == 1.0
    assert m.mcc(twice, binary_grid).value == pytest.approx(1.0)
    dci = m.dci(twice, binary_grid, mode="forest")
    assert dci.value == pytest.approx(1.0, abs=0.03)
    # Each factor rests on two latents of six alike: 1 − log 2/log 6.
    assert dci.details["completeness"] == pytest.approx(1 - np.log(2) / np.log(6), abs=0.05)


def test_a_code_turned_by_45_degrees_loses_its_axes() -> None:
    factors = grid(5, 5, repeats=60)
    turned = factors @ np.array([[1.0, 1.0], [1.0, -1.0]])
    assert m.mig(turned, factors).value == pytest.approx(0.0, abs=1e-12)
    assert m.mcc(turned, factors).value == pytest.approx(np.sqrt(0.5))
    assert m.sap(turned, factors, mode="regression").value == pytest.approx(0.0, abs=0.05)
    assert m.modularity(turned, factors).value == pytest.approx(0.0, abs=1e-12)
    assert m.factor_score(turned, factors, **SMALL).value == pytest.approx(0.5, abs=0.08)
    assert m.dci(turned, factors).value < 0.1
    assert m.total_correlation(turned).value == pytest.approx(0.0, abs=1e-12)
    # Whatever is linear does not see the rotation.
    straight = m.explicitness(factors, factors).value
    assert m.explicitness(turned / np.sqrt(2), factors).value == pytest.approx(straight, abs=1e-6)


@pytest.mark.parametrize("degrees", [22.5, 30.0])
def test_mig_sees_a_turn_that_scores_by_vote_do_not(degrees: float) -> None:
    """Chen et al. 2018, figs. S12 to S14: two codes that mix two factors, each a little more of one of them."""
    factors = grid(5, 5, repeats=60)
    c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    turned = factors @ np.array([[c, s], [-s, c]])
    assert m.mig(turned, factors).value < 0.05
    assert m.beta_score(turned, factors, **SMALL).value > 0.98
    assert m.factor_score(turned, factors, **SMALL).value > 0.98


def test_mig_sees_mirrored_copies_that_scores_by_vote_do_not() -> None:
    factors = grid(2, 2, 2, 2, repeats=40)
    mirrored = np.column_stack([2.0 * factors, 3.0 - 2.0 * factors])
    assert m.mig(mirrored, factors).value == pytest.approx(0.0, abs=1e-12)
    assert m.beta_score(mirrored, factors, **SMALL).value > 0.98
    assert m.factor_score(mirrored, factors, **SMALL).value == 1.0


@pytest.mark.parametrize("shape", ["normal", "uniform", "two peaks", "four values"])
def test_mig_takes_latents_of_any_distribution(shape: str) -> None:
    """A code tells all of its factor whatever its noise is drawn from, where it does not reach the next value."""
    draws = np.random.default_rng(0)
    factors = draws.integers(4, size=(8000, 2)).astype(float)
    noise = {
        "normal": draws.normal(0, 0.1, factors.shape),
        "uniform": draws.uniform(-0.2, 0.2, factors.shape),
        "two peaks": draws.choice([-0.2, 0.2], factors.shape) + draws.normal(0, 0.02, factors.shape),
        "four values": np.zeros(factors.shape),
    }[shape]
    assert m.mig(factors + noise, factors).value > 0.95
    assert m.mig(factors[:, ::-1] - noise, factors).value > 0.95
    assert m.mig(np.exp(factors + noise), factors).value > 0.6, "bins of one width are few for small values"


def test_pure_noise_scores_chance() -> None:
    draws = np.random.default_rng(3)
    factors = draws.integers(4, size=(6000, 4)).astype(float)
    codes = draws.normal(size=(6000, 6))
    near_zero: list[Callable[..., m.Score]] = [*GAPS, m.mcc, m.explicitness, partial(m.dci, mode="forest")]
    for metric in near_zero:
        assert metric(codes, factors).value == pytest.approx(0.0, abs=0.03), name(metric)
    for metric in (m.factor_score, m.beta_score, m.z_diff):
        assert metric(codes, factors, train=2000, test=2000).value == pytest.approx(0.25, abs=0.05)
    for probe in ("linear", "mlp"):
        assert m.downstream(codes, factors, probe=probe, epochs=3).value == pytest.approx(0.25, abs=0.04)


@pytest.mark.parametrize("metric", ALL, ids=name)
def test_the_order_of_latents_does_not_matter(metric: Callable[..., m.Score]) -> None:
    draws = np.random.default_rng(0)
    factors = grid(2, 3, 4, repeats=50)
    codes = factors @ draws.normal(size=(3, 5)) + 0.1 * draws.normal(size=(len(factors), 5))
    order = [3, 0, 4, 1, 2]
    # Trees, liblinear and the lasso visit columns in turn; everything else is exact.
    tolerance = {"dci": 0.03, "z_diff": 0.03, "dci lasso": 1e-3}.get(name(metric), 1e-9)
    assert metric(codes[:, order], factors).value == pytest.approx(metric(codes, factors).value, abs=tolerance)


def test_inactive_latents_keep_the_numbers_of_the_active_ones(binary_grid: Array) -> None:
    """Pruning must not renumber: dead latents in front shift the votes of the others, not their winners."""
    dead = np.full((len(binary_grid), 3), 0.1) + 1e-3 * np.random.default_rng(0).normal(size=(len(binary_grid), 3))
    score = m.factor_score(np.column_stack([dead, 2 * binary_grid]), binary_grid, **SMALL)
    assert score.value == 1.0
    assert score.details["active"] == 3
    assert score.details["active_latents"] == ["z4", "z5", "z6"]
    assert score.details["votes"][:3].sum() == 0
    assert score.details["votes"].shape == (6, 3)


def test_ground_truth_is_not_binned() -> None:
    """Forty values in twenty bins of the *code* leave log 20 of log 40; the factor itself stays whole."""
    factors = grid(40, 2, repeats=10)
    score = m.mig(factors, factors)
    assert score.details["entropy"][0] == pytest.approx(np.log(40))
    assert score.details["per_factor"]["factor 0"] == pytest.approx(np.log(20) / np.log(40), abs=1e-9)
    assert m.mig(factors, factors, bins=40).value == pytest.approx(1.0)


def test_continuous_factors_that_are_the_codes_score_one() -> None:
    draws = np.random.default_rng(0)
    factors = draws.normal(size=(4000, 2))
    table = m.as_table(factors, factors)
    assert table.kinds == ("continuous", "continuous")
    assert m.mig(table).value == pytest.approx(1.0, abs=0.05)
    assert m.sap(table).value == pytest.approx(1.0, abs=0.01)
    assert m.mcc(table).value == pytest.approx(1.0)
    assert m.factor_score(table, **SMALL).value == 1.0
    assert m.dci(table).value > 0.95
    assert m.dci(table, mode="lasso").details["informativeness"] > 0.99


def test_cyclic_factors_are_matched_on_the_circle() -> None:
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 3000)
    codes = np.stack([np.cos(angle), np.random.default_rng(1).normal(size=3000)], axis=1)
    assert m.mcc(codes, angle, kinds=["cyclic"]).value == pytest.approx(1.0)
    assert m.mcc(codes, angle, kinds=["continuous"]).value < 0.1
    steps = np.floor(angle / (2 * np.pi) * 24)
    codes[:, 0] = np.sin(2 * np.pi * steps / 24)
    assert m.sap(codes, steps, mode="regression", kinds=["cyclic"]).value == pytest.approx(1.0, abs=0.01)
    # Linear in the angle itself: 6/π² of its variance lies on the circle's first harmonic.
    sawtooth = m.mcc(angle[:, None], angle, kinds=["cyclic"]).value
    assert sawtooth == pytest.approx(np.sqrt(6) / np.pi, abs=0.02)


def test_a_categorical_factor_has_no_order() -> None:
    factors = np.random.default_rng(0).integers(3, size=2000).astype(float)
    codes = np.array([0.0, 5.0, 1.0])[factors.astype(int)][:, None]
    assert m.mcc(codes, factors, kinds=["categorical"]).value == pytest.approx(1.0)
    assert m.mcc(codes, factors, kinds=["ordinal"]).value < 0.5


def test_unbalanced_factors_keep_a_perfect_code_perfect() -> None:
    factors = (np.random.default_rng(0).random((3000, 2)) < [0.05, 0.4]).astype(float)
    assert m.mig(factors, factors).value == pytest.approx(1.0, abs=0.01)
    assert m.sap(factors, factors, mode="threshold").value == pytest.approx(0.5, abs=0.05)
    assert m.explicitness(factors, factors).value == 1.0


def test_binary_attributes_are_classified_by_their_vectors(binary_grid: Array) -> None:
    score = m.attribute_classification(0.01 * binary_grid, binary_grid)
    assert score.value == 1.0
    unrelated = m.attribute_classification(np.random.default_rng(0).normal(size=(1200, 2)), binary_grid)
    assert unrelated.value == pytest.approx(0.5, abs=0.06)


def test_downstream_reads_only_the_latents_it_is_given(binary_grid: Array) -> None:
    for probe in ("linear", "mlp"):
        assert m.downstream(2 * binary_grid, binary_grid, probe=probe, epochs=40).value == 1.0
        one = m.downstream(2 * binary_grid, binary_grid, probe=probe, latents=[1], epochs=40).details["per_factor"]
        assert one["factor 1"] == 1.0
        assert one["factor 0"] == pytest.approx(0.5, abs=0.1)


def test_an_mlp_learns_what_a_line_cannot() -> None:
    draws = np.random.default_rng(0)
    codes = draws.normal(size=(4000, 2))
    xor = (codes[:, 0] * codes[:, 1] > 0).astype(float)
    assert m.downstream(codes, xor, probe="linear").value < 0.6
    assert m.downstream(codes, xor, probe="mlp").value > 0.9


def test_gaussian_total_correlation_is_that_of_the_covariance() -> None:
    rho = 0.8
    codes = np.random.default_rng(0).multivariate_normal([0, 0], [[1, rho], [rho, 1]], size=20_000)
    score = m.total_correlation(codes)
    true = -0.5 * np.log(1 - rho**2)
    assert score.value == pytest.approx(true, abs=0.02)
    assert score.interval is not None
    assert score.interval[0] < true < score.interval[1]
    assert m.total_correlation(np.tile(codes, 2)).value == np.inf
    assert m.total_correlation(np.column_stack([codes[:, 0], np.ones(len(codes))])).value == 0.0
