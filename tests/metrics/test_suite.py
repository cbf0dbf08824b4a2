"""One call for everything: the same scores as one by one, with what was left out said."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from unbraid import metrics as m
from unbraid.errors import InputError

from .conftest import grid, random_table


def test_importing_the_metrics_imports_nothing_but_numpy() -> None:
    code = (
        "import sys, unbraid.metrics; print([n for n in ('torch', 'scipy', 'sklearn', 'lightgbm') if n in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_the_suite_gives_what_each_metric_gives() -> None:
    codes, factors = random_table(1500)
    together = m.suite(codes, factors, seed=2, calibrate=False)
    keys = {name: m.MetricKey.parse(name) for name in together}
    assert {key.metric for key in keys.values()} == set(m.SUITE) - {"mig_chen", "elbo_terms"}
    for name, score in together.items():
        alone = m.METRICS[keys[name].metric].function(codes, factors, seed=2)
        alone = alone if isinstance(alone, m.Score) else alone[keys[name].part]
        assert score.value == alone.value, name
        assert score.interval == alone.interval, name
        assert score.interval is not None
        assert score.interval[0] <= score.value <= score.interval[1]


def test_every_score_can_be_written_as_json() -> None:
    codes, factors = random_table(400)
    scores = m.suite(codes, factors, log_vars=np.full(codes.shape, -2.0))
    assert {"mig_chen", "elbo_terms/kl", "elbo_terms/total_correlation"} <= set(scores)
    text = json.dumps({name: score.to_json() for name, score in scores.items()}, allow_nan=False)
    assert json.loads(text)["mig"]["details"]["convention"] == "locatello"


def test_progress_names_each_metric() -> None:
    codes, factors = random_table(300)
    calls: list[tuple[str, int, int]] = []
    m.suite(codes, factors, metrics=["mig", "mcc"], progress=lambda *call: calls.append(call))
    assert calls == [("mig", 0, 2), ("mcc", 1, 2), ("", 2, 2)]


def test_a_factor_with_one_value_is_skipped_and_named() -> None:
    codes, factors = random_table(500)
    factors = np.column_stack([factors, np.full(500, 3.0), np.full(500, np.nan)])
    names = ["a", "b", "c", "d", "e", "light", "age"]
    scores = m.suite(codes, factors, metrics=["mig", "factor_score"], names=names)
    without = m.suite(codes, factors[:, :5], metrics=["mig", "factor_score"], names=names[:5])
    for name, score in scores.items():
        assert score.value == without[name].value
        assert score.details["skipped_factors"] == {"light": "has one value only (3)", "age": "has no known label"}


def test_a_metric_that_cannot_be_computed_says_why() -> None:
    codes, _ = random_table(60)
    scores = m.suite(codes, np.arange(60) % 31, metrics=["mig", "modularity", "factor_score"])
    assert scores["mig"].value > 0
    assert np.isnan(scores["modularity"].value)
    assert "only one" in scores["modularity"].details["error"]
    assert "only one" in scores["factor_score"].details["error"]
    two = m.suite(codes, np.stack([np.arange(60) % 31, np.arange(60) % 2], axis=1), metrics=["factor_score"])
    assert "too few rows" in two["factor_score"].details["error"]
    assert scores["factor_score"].to_json()["value"] is None


def test_without_factors_only_what_needs_none() -> None:
    codes, _ = random_table(300)
    assert set(m.suite(codes)) == {"total_correlation"}
    assert "elbo_terms/kl" in m.suite(codes, log_vars=np.zeros(codes.shape))


def test_missing_labels_leave_rows_out_of_their_factor_only() -> None:
    draws = np.random.default_rng(0)
    factors = grid(2, 3, 4, repeats=60)
    codes = factors + 0.05 * draws.normal(size=factors.shape)
    holes = factors.copy()
    gone = draws.random(len(factors)) < 0.3
    holes[gone, 1] = np.nan
    part = m.mig(codes, holes).details
    assert part["entropy"][1] == pytest.approx(m.mig(codes[~gone], factors[~gone]).details["entropy"][1], abs=1e-12)
    assert part["per_factor"]["factor 0"] == m.mig(codes, factors).details["per_factor"]["factor 0"]
    complete = m.suite(codes, factors, calibrate=False)
    for name, score in m.suite(codes, holes, calibrate=False).items():
        whole = complete[name].value
        assert score.value == pytest.approx(whole, abs=0.1), name


def test_without_lightgbm_dci_falls_back_or_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "lightgbm" else find(name))
    codes, factors = random_table(300)
    assert m.dci(codes, factors).details["mode"] == "forest"
    with pytest.raises(InputError, match=r"install unbraid\[lightgbm\]"):
        m.dci(codes, factors, mode="lightgbm")


def test_the_catalogue_describes_every_metric() -> None:
    for name, metric in m.METRICS.items():
        assert callable(metric.function)
        assert metric.description, name
        assert metric.needs, name
    for name in ("mig", "sap", "udr", "fid", "conditioning", "downstream_by_stage", "elbo_terms"):
        assert name in m.METRICS


def test_kinds_are_inferred_where_they_are_not_given() -> None:
    draws = np.random.default_rng(0)
    factors = np.column_stack([draws.integers(5, size=500), draws.integers(4, size=500) / 4, draws.normal(size=500)])
    assert m.as_table(factors, factors).kinds == ("ordinal", "ordinal", "continuous")


def test_udr_prefers_models_that_agree() -> None:
    draws = np.random.default_rng(0)
    codes = draws.normal(size=(3000, 4))
    turn = np.linalg.qr(draws.normal(size=(4, 4)))[0]
    alike = [codes, -codes[:, ::-1], 3 * codes[:, [1, 0, 3, 2]]]
    score = m.udr([*alike, codes @ turn])
    assert score.details["per_model"].argmin() == 3
    assert score.details["per_model"][:3].min() > 0.85
    assert m.udr(alike, method="lasso").value == pytest.approx(0.9, abs=0.01)
    # A latent that the posterior ignores does not count.
    noisy = [np.column_stack([c, draws.normal(size=3000)]) for c in alike]
    informed = m.udr(noisy, information=[[1, 1, 1, 1, 0.001]] * 3)
    assert informed.value == pytest.approx(m.udr(alike).value, abs=1e-12)
    assert informed.details["informative"] == [4, 4, 4]
