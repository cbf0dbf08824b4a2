"""Large tables take like posteriors together: what changes is in the fourth decimal."""

from __future__ import annotations

import numpy as np
import pytest

from unbraid import metrics as m
from unbraid.metrics._shared import aggregate, mixture


def table(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draws = np.random.default_rng(0)
    factors = draws.integers([3, 5], size=(n, 2)).astype(float)
    factors[::7, 1] = np.nan
    codes = np.nan_to_num(factors) @ np.array([[1.0, 0.3, 0.0], [0.0, 0.5, 0.2]]) + 0.3 * draws.normal(size=(n, 3))
    return codes, factors, -3 + 0.5 * draws.normal(size=(n, 3))


def test_scores_are_those_of_all_rows_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, factors, log_vars = table(4000)
    exact = m.mig(codes, factors, log_vars=log_vars, convention="chen")
    terms = m.elbo_terms(codes, log_vars, method="stratified", points=300)
    monkeypatch.setattr(aggregate, "_EXACT_ROWS", 100)
    alike = aggregate.Alike.of(codes[:, 0], np.exp(0.5 * log_vars[:, 0]))
    assert len(alike.means) < 1500
    assert alike.count.sum() == 4000
    assert alike.count @ alike.means == pytest.approx(codes[:, 0].sum())
    second = alike.count @ (alike.means**2 + alike.deviations**2)
    assert second == pytest.approx((codes[:, 0] ** 2 + np.exp(log_vars[:, 0])).sum())
    large = m.mig(codes, factors, log_vars=log_vars, convention="chen")
    assert large.details["information"] == pytest.approx(exact.details["information"], abs=2e-3)
    assert large.interval == pytest.approx(exact.interval, abs=2e-3)
    again = m.elbo_terms(codes, log_vars, method="stratified", points=300)
    for name, score in terms.items():
        assert again[name].value == pytest.approx(score.value, abs=1e-4), name


def test_pairs_that_are_far_apart_are_left_out_without_a_trace() -> None:
    pairs = np.random.default_rng(0).normal(scale=60, size=(30, 400))
    peak = pairs.max(axis=1)
    expected = np.exp(pairs - peak[:, None]).sum(axis=1)
    assert mixture._sum_of_exponentials(pairs.copy(), peak) == pytest.approx(expected, rel=1e-12)
    dense = 0.01 * pairs
    expected = np.exp(dense - dense.max(axis=1)[:, None]).sum(axis=1)
    assert mixture._sum_of_exponentials(dense.copy(), dense.max(axis=1)) == pytest.approx(expected, rel=1e-12)
