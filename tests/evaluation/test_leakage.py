"""Leakage as a measure of runs: classes in class-independent codes, factors in later stages, tied factors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unbraid as ub
from unbraid import methods
from unbraid.errors import InputError
from unbraid.evaluation import leakage
from unbraid.evaluation.evaluate import possible
from unbraid.evaluation.measure import MeasureOptions
from unbraid.runs.codes import CodeTable
from unbraid.training.contract import small_images

OPTIONS = MeasureOptions(show=False)
ROWS = 900


def with_codes(run: ub.Run, monkeypatch: pytest.MonkeyPatch, codes: dict[str, Any]) -> np.ndarray:
    """Give a run codes of our own beside its factors, and return the factors."""
    factors = np.random.default_rng(0).integers([4, 3], size=(ROWS, 2)).astype(float)
    names = np.array(["place", "shade"])
    kinds = np.array(["categorical", "categorical"])
    made = {key: value(factors) if callable(value) else value for key, value in codes.items()}
    table = CodeTable(
        {**made, "factors": factors, "factor_names": names, "factor_kinds": kinds, "rows": np.arange(ROWS)}
    )
    monkeypatch.setattr(type(run), "codes", lambda self, **_: table)
    return factors


def test_class_independent_codes_that_know_the_class_are_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = methods.PartedVAE(width=0.1, class_latents=2, attention_steps=2)
    run = ub.fit(small_images(), config, steps=2, out=tmp_path / "run", show=False)
    assert "leakage" in possible(run, OPTIONS)
    assert "factor_leakage" not in possible(run, OPTIONS)
    noise = np.random.default_rng(1).normal(size=(ROWS, 4))
    columns = np.array(["u1", "u2", "z1", "z2"])

    def copy(factors: Any) -> Any:
        return np.column_stack([noise[:, :2], factors[:, 0] == 1, factors[:, 0] % 2]) + 0.01 * noise

    def clean(factors: Any) -> Any:
        return np.column_stack([factors, noise[:, 2:]])

    with_codes(run, monkeypatch, {"codes": copy, "columns": columns})
    found = leakage.compute(run, ("leakage",), OPTIONS, True)["leakage/class"]
    assert found.details["latents"] == ["z1", "z2"], "the codes of the class itself are not asked"
    # Of four places, 1 and 3 are told from each other and from 0 and 2, which stay together: 3/4 of the entropy.
    assert found.details["per_factor"]["place"] == pytest.approx(3 / 4, abs=0.05)
    assert abs(found.details["per_factor"]["shade"]) < 0.05
    assert found.beyond_chance
    with_codes(run, monkeypatch, {"codes": clean, "columns": columns})
    free = leakage.compute(run, ("leakage",), OPTIONS, True)["leakage/class"]
    assert abs(free.value) < 0.05
    assert free.beyond_chance is False


def test_later_stages_say_what_they_know_of_the_factors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stages = [methods.VAE(width=0.1, latents=2), methods.MSVAE(width=0.1, latents=3)]
    run = ub.fit(small_images(), stages, steps=2, out=tmp_path / "run", show=False)
    noise = np.random.default_rng(1).normal(size=(ROWS, 2))
    with_codes(
        run,
        monkeypatch,
        {
            "codes": lambda factors: factors,
            "columns": np.array(["z1", "z2"]),
            "stage-2/codes": lambda factors: np.column_stack([3 * factors[:, 1] + 0.01 * noise[:, 0], noise]),
            "stage-2/columns": np.array(["z1", "z2", "z3"]),
        },
    )
    found = leakage.compute(run, ("leakage",), OPTIONS, True)
    assert list(found) == ["leakage/later"]
    each = found["leakage/later"].details["per_factor"]
    assert each["shade"] > 0.9
    assert abs(each["place"]) < 0.05
    assert found["leakage/later"].chance is not None


def test_a_run_of_one_stage_without_classes_is_refused(tmp_path: Path) -> None:
    run = ub.fit(small_images(), methods.VAE(width=0.1, latents=2), steps=2, out=tmp_path / "run", show=False)
    assert not {"leakage", "factor_leakage"} & set(possible(run, OPTIONS))
    with pytest.raises(InputError, match="later stages"):
        run.evaluate(["leakage"], show=False)
    with pytest.raises(InputError, match="--train-under"):
        run.evaluate(["factor_leakage"], show=False)


def test_every_evaluation_of_a_run_under_ties_shows_what_leaked(tmp_path: Path) -> None:
    data = ub.data.load("pendulum", n=400, train_under="length~damping:0.1")
    run = ub.fit(data, "beta-vae", steps=3, out=tmp_path / "run", show=False)
    found = run.evaluate(["mig"], show=False)
    ways = {"factor_leakage/length in damping", "factor_leakage/damping in length"}
    assert ways <= set(found)
    for way in ways:
        assert found[way]["chance"]["draws"]
        assert found[way]["details"]["latents"]
