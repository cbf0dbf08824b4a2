"""100 random tables through every metric: a value, or a sentence that says why there is none."""

import math
import warnings
from pathlib import Path

import numpy as np
import pytest

import unbraid as ub
from unbraid import metrics
from unbraid.errors import InputError
from unbraid.evaluation import reconstruction
from unbraid.metrics._shared.checks import as_table
from unbraid.metrics._shared.table import KINDS
from unbraid.metrics.suite import failure, suite

TABLES, PARTS = 100, 5
# These fit to thousands of draws, which takes seconds; fewer of them meet the same faults.
FITTED = ("factor_score", "beta_score", "z_diff")


def random_table(seed: int) -> metrics.Table:
    """Codes and factors of any size, kind, scale and degeneracy."""
    random = np.random.default_rng(seed)
    n, codes, factors = int(random.integers(2, 90)), int(random.integers(1, 6)), int(random.integers(1, 5))
    sizes = random.integers(1, 7, size=factors)
    v = np.stack([random.integers(size, size=n) for size in sizes], axis=1).astype(float)
    kinds = [str(random.choice(KINDS)) for _ in range(factors)]
    for k, kind in enumerate(kinds):
        if kind == "continuous":
            v[:, k] += random.normal(size=n)
    z = v @ random.normal(size=(factors, codes)) + random.choice([0.0, 0.1, 3.0]) * random.normal(size=(n, codes))
    z *= 10.0 ** random.integers(-30, 31) if random.random() < 0.3 else 1.0
    z += 1.7e9 if random.random() < 0.2 else 0.0
    if random.random() < 0.2:
        z[:, random.integers(codes)] = random.normal()  # a code that does nothing
    if random.random() < 0.2:
        z[:, -1] = z[:, 0]  # a code twice
    if random.random() < 0.3:
        v[random.random(v.shape) < random.choice([0.05, 0.5, 0.95])] = np.nan
    log_vars = random.normal(size=z.shape) * random.choice([0.1, 5.0]) if random.random() < 0.5 else None
    return as_table(z, v, kinds=kinds, sizes=[8.0] * factors, log_vars=log_vars, allow_constant=True)


def scores_of(table: metrics.Table, seed: int) -> dict[str, metrics.Score]:
    """Every metric of the suite."""
    chosen = [name for name in metrics.SUITE if name not in FITTED]
    scores = suite(table, metrics=chosen, seed=seed, replicates=0, calibrate=seed % 10 == 0)
    varying = table.varying()
    for name in FITTED:
        try:
            if not varying.names:
                raise InputError(f"{name} needs a factor with at least two known values; the table has none.")
            scores[name] = metrics.METRICS[name].function(varying, train=150, test=80, seed=seed, replicates=0)
        except InputError as error:
            scores[name] = failure(error, seed)
    return scores


@pytest.mark.parametrize("part", range(PARTS))
def test_every_metric_gives_a_value_or_a_reason(part: int) -> None:
    for seed in range(part, TABLES, PARTS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = scores_of(random_table(seed), seed)
        assert len(scores) >= len(metrics.SUITE)
        for name, score in scores.items():
            where = f"table {seed}, {name}: {score.value} {score.details.get('error')}"
            assert math.isnan(score.value) == ("error" in score.details), where
            assert "Error:" not in score.details.get("error", ""), where


def test_codes_far_from_zero_score_as_those_around_it() -> None:
    """Shifted by the seconds since 1970, which a ridge without standardisation cannot be solved for."""
    random = np.random.default_rng(0)
    v = random.integers(4, size=(400, 2)).astype(float)
    z = v @ random.normal(size=(2, 3)) + 0.1 * random.normal(size=(400, 3))
    near, far = (
        suite(codes, v, metrics=["explicitness", "downstream_linear"], replicates=0) for codes in (z, z + 1.7e9)
    )
    for name, score in near.items():
        assert far[name].value == pytest.approx(score.value, abs=0.01)


def test_one_metric_that_fails_does_not_lose_the_others(
    finished: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr(np.linalg, "solve", fails)  # by explicitness
    monkeypatch.setattr(metrics, "elbo_terms", fails)
    run = ub.open(finished)
    scores = run.evaluate(["explicitness", "modularity", "elbo_terms", "l1"], show=False)
    assert scores["explicitness"]["value"] is None
    assert scores["explicitness"]["details"]["error"] == "LinAlgError: Singular matrix"
    assert scores["modularity"]["value"] is not None
    assert scores["l1"]["value"] > 0
    assert "explicitness could not be computed: LinAlgError: Singular matrix" in caplog.text
    monkeypatch.undo()
    assert run.evaluate(["explicitness"], show=False)["explicitness"]["value"] is not None  # tried again


def test_a_measure_that_fails_does_not_lose_the_others(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(reconstruction, "outputs", fails)
    (finished / "metrics.json").unlink()
    scores = ub.open(finished).evaluate(["mig", "l1"], show=False)
    assert scores["l1"]["details"]["error"] == "ZeroDivisionError: division by zero"
    assert scores["mig"]["value"] is not None
