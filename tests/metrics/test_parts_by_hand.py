"""What metrics are made of, by hand: tables, periods, standardised codes, the probe's optimiser, perfect codes."""

import importlib

import numpy as np
import pytest
import torch

from unbraid import metrics as m
from unbraid.errors import InputError
from unbraid.metrics._shared.calibration import perfect_codes
from unbraid.metrics._shared.checks import as_table
from unbraid.metrics._shared.correlation import squared_correlation
from unbraid.metrics._shared.mlp import _Adam
from unbraid.metrics._shared.predictive import held_out_losses

from .conftest import random_table


def test_a_table_keeps_what_it_is_told() -> None:
    codes, factors = np.arange(8.0).reshape(4, 2), np.array([[0, 1], [1, 0], [2, 1], [0, 0.0]])
    about = {"names": ("a", "b"), "kinds": ("cyclic", "categorical"), "sizes": (3.0, 2.0), "columns": ("u", "v")}
    table = as_table(codes, factors, log_vars=-codes, **about)  # type: ignore[arg-type]
    assert {name: getattr(table, name) for name in about} == about
    np.testing.assert_array_equal(table.log_vars, -codes)
    np.testing.assert_array_equal(table.codes, codes)
    np.testing.assert_array_equal(table.factors, factors)


def test_periods_are_told_or_one_step_more_than_the_reach_or_a_turn() -> None:
    values = np.array([2.0, 4.0, 6.0, 2.0])[:, None]
    assert as_table(values, values, kinds=["cyclic"])._period(0) == pytest.approx(4 * 3 / 2)
    assert as_table(values, values, kinds=["cyclic"], sizes=[9.0])._period(0) == 9
    assert as_table(values, values, kinds=["ordinal"])._period(0) == 0
    angles = np.linspace(-3, 3, 50)[:, None]
    assert as_table(angles, angles, kinds=["cyclic"])._period(0) == pytest.approx(2 * np.pi)
    with pytest.raises(InputError, match="more than a turn"):
        as_table(2 * angles, 2 * angles, kinds=["cyclic"])._period(0)


def test_probes_see_codes_standardised_by_the_rows_that_they_are_fitted_to(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, factors = random_table(90)
    seen: dict[str, np.ndarray] = {}

    def guesses(x, labels, x_test, hidden, epochs, seed):
        seen.update(fit=x, held=x_test, labels=labels)
        return [np.zeros(len(x_test)) for _ in labels]

    monkeypatch.setattr(importlib.import_module("unbraid.metrics.downstream"), "mlp_guesses", guesses)
    score = m.downstream(5 + 3 * codes, factors, train=60, test=30, replicates=0)
    np.testing.assert_allclose(seen["fit"].mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(seen["fit"].std(axis=0), 1)
    assert (len(seen["fit"]), len(seen["held"])) == (60, 30)
    assert score.value == pytest.approx(
        np.mean([score.details["per_factor"][name] for name in score.details["per_factor"]])
    )


def test_two_factors_are_enough_to_be_told_apart() -> None:
    codes, factors = random_table(400)
    for metric in (m.beta_score, m.z_diff):
        assert 0 <= metric(codes, factors[:, :2], train=60, test=40, replicates=0).value <= 1
        with pytest.raises(InputError, match="only one"):
            metric(codes, factors[:, :1])


def test_the_probe_is_trained_by_adam() -> None:
    random = np.random.default_rng(0)
    start = random.normal(size=6).astype(np.float32)
    mine, theirs = start.copy(), torch.from_numpy(start.copy()).requires_grad_()
    adam, reference = _Adam(mine), torch.optim.Adam([theirs], lr=1e-3)
    for _ in range(5):
        gradient = random.normal(size=6).astype(np.float32)
        adam.step(gradient)
        theirs.grad = torch.from_numpy(gradient)
        reference.step()
    np.testing.assert_allclose(mine, theirs.detach().numpy(), rtol=1e-5)
    assert np.abs(mine - start).max() > 1e-3


def test_perfect_codes_are_the_factors_as_wide_as_the_codes_in_use() -> None:
    codes = np.array([[1.0, 10.0, 0.0], [-1.0, -10.0, 0.01], [1.0, -10.0, 0.0], [-1.0, 10.0, -0.01]])
    codes[:, 0] *= 8
    factors = np.array([[0, 5.0], [2, 1.0], [2, np.nan], [0, 3.0]])
    log_vars = np.log(np.array([[6.4, 20.0, 1.0]] * 4))
    found = perfect_codes(as_table(codes, factors, log_vars=log_vars))
    width = np.sqrt((64 + 100) / 2)  # the third code is not in use
    expected = np.stack([[-1, 1, 1, -1], np.array([2, -2, 0, 0]) / np.sqrt(8 / 3)], axis=1)
    np.testing.assert_allclose(found.codes, width * expected)
    assert found.log_vars is not None
    np.testing.assert_allclose(np.exp(found.log_vars), np.median([6.4 / 64, 20 / 100]) * width**2)
    assert (found.columns, found.information) == (
        ("z1", "z2"),
        None,
    )  # what is known of the codes is not known of these
    small = perfect_codes(as_table(0.01 * codes, factors))
    np.testing.assert_allclose(small.codes, 0.01 * width * expected)
    still = perfect_codes(as_table(0 * codes, factors, log_vars=log_vars))
    np.testing.assert_allclose(still.codes, expected)
    np.testing.assert_allclose(np.exp(still.log_vars), 1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["continuous", "cyclic", "categorical"])
def test_resampled_correlations_lie_around_the_value(kind: str) -> None:
    random = np.random.default_rng(0)
    factor = random.integers(6, size=600).astype(float) if kind != "continuous" else random.normal(size=600)
    codes = np.stack([np.sin(factor), factor, 0 * factor], axis=1) + 0.5 * random.normal(size=(600, 3))
    table = as_table(codes, factor[:, None], kinds=[kind], sizes=[6.0])
    value, again = squared_correlation(table, 0, np.arange(600), 0, 200)
    np.testing.assert_allclose(again.mean(axis=0), value, atol=0.02)
    assert (again.std(axis=0) < 0.1).all()
    assert again.std(axis=0)[:2].min() > 0.005


def test_one_value_of_one_observation_has_an_error() -> None:
    assert m.l1([[3.0]], [[1.0]], replicates=0).value == 2
    assert m.l2([[3.0]], [[1.0]], replicates=0).value == 4
    for nothing in (np.zeros((0, 2)), np.zeros((2, 0))):
        with pytest.raises(InputError):
            m.l1(nothing, nothing)


@pytest.mark.parametrize("name", [name for name in m.SUITE if name != "attribute_classification"])
def test_the_seed_is_zero_unless_it_is_told(name: str) -> None:
    codes, factors = random_table(60)
    with_votes = name.startswith("factor_score") or name in ("beta_score", "z_diff")
    options = (
        {"train": 40, "test": 20, **({"batch": 8} if name.startswith("factor_score") else {})} if with_votes else {}
    )
    if name == "elbo_terms":
        found = m.elbo_terms(codes, 0 * codes, points=16, replicates=0)
    else:
        factors = factors[:, :2] if with_votes else factors
        if name == "omes":  # rows that differ in one factor only
            factors = np.stack(np.meshgrid(np.arange(10), np.arange(6)), axis=-1).reshape(-1, 2).astype(float)
        found = m.METRICS[name].function(as_table(codes, factors, log_vars=0 * codes), replicates=0, **options)
    scores = found.values() if isinstance(found, dict) else [found]
    assert all(score.details.get("seed", 0) == 0 for score in scores)


def test_intervals_reach_to_both_sides() -> None:
    random = np.random.default_rng(0)
    codes = random.normal(size=(80, 2))
    score = m.code_information(codes, codes + random.normal(size=(80, 2)), bins=4)
    assert score.interval is not None
    assert 0 <= score.interval[0] < score.value < score.interval[1] <= 1


def test_values_weigh_alike_where_that_is_asked_for() -> None:
    label = np.array([0.0] * 90 + [1.0] * 10)
    table = as_table(np.zeros((100, 1)), label[:, None])
    rows = np.arange(100)
    alike, _ = held_out_losses(table, 0, np.zeros((100, 1)), rows, rows, balanced=True, penalty=np.inf)
    as_met, _ = held_out_losses(table, 0, np.zeros((100, 1)), rows, rows, balanced=False, penalty=np.inf)
    np.testing.assert_allclose(alike.mean(), np.log(2), rtol=1e-3)
    expected = np.where(label == 0, -np.log(0.9), -np.log(0.1))
    np.testing.assert_allclose(as_met, expected, rtol=1e-2)


@pytest.mark.parametrize("name", ["mig", "sap", "explicitness", "mcc", "downstream_linear"])
def test_the_value_is_the_mean_over_factors(name: str) -> None:
    score = m.METRICS[name].function(*random_table(200), replicates=0)
    assert np.mean(list(score.details["per_factor"].values())) == pytest.approx(score.value)
