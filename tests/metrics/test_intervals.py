"""Intervals cover, seeds repeat."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np
import pytest

from unbraid import metrics as m
from unbraid.metrics._shared.bootstrap import interval, resampled_means

from .conftest import random_table


@pytest.mark.parametrize("n", [100, 3000], ids=["rows", "groups of rows"])
def test_the_interval_of_a_mean_covers_it(n: int) -> None:
    hits = 0
    for seed in range(200):
        sample = np.random.default_rng(seed).exponential(size=n)
        low, high = interval(float(sample.mean()), resampled_means(sample, seed=seed)) or (0, 0)
        hits += low <= 1.0 <= high
    assert 180 <= hits <= 199


# What each interval resamples is what differs between fresh tables: rows or test rows.
ROWS: list[Callable[..., m.Score]] = [m.mig, m.mcc, m.total_correlation, m.sap, m.irs]


@pytest.mark.parametrize("metric", ROWS, ids=lambda f: f.__name__)
def test_the_interval_is_as_wide_as_the_scatter_of_fresh_tables(metric: Callable[..., m.Score]) -> None:
    scores = []
    for seed in range(30):
        codes, factors = random_table(1200, seed=seed, noise=0.3, spare=1)
        codes[:, 5] += codes[:, 4]
        scores.append(metric(codes, factors, seed=seed))
    scatter = np.std([score.value for score in scores])
    widths = [(score.interval[1] - score.interval[0]) / (2 * 1.96) for score in scores if score.interval]
    assert len(widths) == 30
    assert 0.6 < np.mean(widths) / scatter < 1.6


def test_an_explicitness_interval_matches_a_bootstrap_of_the_area() -> None:
    from sklearn.metrics import roc_auc_score

    from unbraid.metrics._shared.ranking import areas

    draws = np.random.default_rng(0)
    positive = draws.random(400) < 0.3
    decision = np.round(positive + draws.normal(size=400), 1)  # with ties
    area, again = areas(decision[:, None], positive[:, None], 0, 200)
    assert area[0] == pytest.approx(roc_auc_score(positive, decision), abs=1e-12)
    plain = []
    for _ in range(200):
        rows = draws.integers(400, size=400)
        plain.append(roc_auc_score(positive[rows], decision[rows]))
    assert again.std() == pytest.approx(np.std(plain), rel=0.2)


def test_a_fid_interval_matches_a_bootstrap() -> None:
    draws = np.random.default_rng(0)
    a, b = draws.normal(size=(400, 4)), draws.normal(0.5, 1.5, size=(400, 4))
    score = m.fid(a, b)
    again = [
        m.fid(a[draws.integers(400, size=400)], b[draws.integers(400, size=400)], replicates=0).value
        for _ in range(200)
    ]
    assert score.interval is not None
    assert (score.interval[1] - score.interval[0]) / 3.92 == pytest.approx(np.std(again), rel=0.3)


SEEDED = ("mig", "sap", "factor_score", "beta_score", "z_diff", "explicitness", "dci", "downstream")


@pytest.mark.parametrize("name", SEEDED)
def test_a_seed_repeats_the_score(name: str) -> None:
    codes, factors = random_table(900, noise=0.6)
    codes[:, :5] += codes[:, 5:]
    options = {"points": 600} if name == "mig" else {"train": 600, "test": 200}
    metric = getattr(m, name)
    first, second, other = (metric(codes, factors, seed=seed, **options) for seed in (3, 3, 4))
    assert first.value == second.value
    assert first.interval == second.interval
    assert (first.value, first.interval) != (other.value, other.interval)


def test_no_replicates_no_interval() -> None:
    codes, factors = random_table(500)
    for score in m.suite(codes, factors, replicates=0, calibrate=False).values():
        assert score.interval is None or score.interval[0] == score.interval[1]


# Metrics of tables that are scored in a fraction of a second.
QUICK = (
    "mig", "mig_sup", "modularity", "minimality", "sufficiency", "sap", "sap_threshold", "sap_dip", "explicitness",
    "explicitness_auc", "factor_score", "beta_score", "irs", "mcc", "omes", "downstream_linear", "leakage",
)  # fmt: skip


@pytest.mark.parametrize("name", QUICK)
def test_an_interval_stays_within_the_range_of_its_metric(name: str) -> None:
    """Of noise, of nearly perfect codes and of some between: replicates lie on both sides, and are cut at the ends."""
    draws = np.random.default_rng(0)
    metric = m.METRICS[name]
    low, high = (end if end is not None else side * np.inf for end, side in zip(metric.range, (-1, 1), strict=True))
    factors = draws.integers([2, 3], size=(150, 2)).astype(float)
    options = {"train": 100, "test": 50} if "train" in inspect.signature(metric.function).parameters else {}
    for noise in (0.05, 0.3, 1.0, 30.0):
        codes = factors + noise * draws.normal(size=factors.shape)
        score = metric.function(codes, factors, replicates=60, **options)
        assert score.interval is not None
        assert low <= score.interval[0] <= score.value <= score.interval[1] <= high
