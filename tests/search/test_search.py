"""A search is a directory: made once, gone on with, and asked which run to take."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unbraid as ub
from unbraid.data.factor_data import FactorData
from unbraid.errors import InputError
from unbraid.methods import MSVAE, VAE, BetaVAE
from unbraid.search import Search
from unbraid.search.trial import Trial, read_result
from unbraid.training.machine import Machine
from unbraid.util.files import read_json

SMALL = BetaVAE(width=0.05, batch_size=8, latents=3, network="mlp")


def go(data: FactorData, folder: Path, **changes: Any) -> Search:
    options: dict[str, Any] = {"vary": {"beta": [1, 4]}, "seeds": 2, "steps": 3, "workers": 1, "show": False}
    return ub.search(data, SMALL, out=folder, **(options | changes))


def weights(folder: Path) -> dict[str, tuple[bytes, int]]:
    found = sorted(folder.rglob("weights.safetensors"))
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in found}


def test_a_search_is_a_directory_that_a_repeated_call_goes_on_with(squares: FactorData, tmp_path: Path) -> None:
    found = go(squares, tmp_path, by="mig")
    assert [one.setting.name for one in found.settings if one.figures]
    assert len(found.rows) == 4
    assert {row.status for row in found.rows} == {"finished"}
    with (tmp_path / "table.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [(row["beta"], row["seed"]) for row in table] == [("1", "0"), ("1", "1"), ("4", "0"), ("4", "1")]
    assert all(0 <= float(row["mig"]) <= 1 and 0 <= float(row["udr"]) <= 1 for row in table)
    assert float(table[0]["elbo"]) < -float(table[0]["reconstruction"]), "the ELBO has the KL as well"
    assert (tmp_path / "table.parquet").is_file()
    assert read_json(tmp_path / "search.json")["by"] == "mig"
    assert read_json(tmp_path / "ranking.json")["settings"][0]["name"] == found.settings[0].setting.name
    before = weights(tmp_path)
    more = go(squares, tmp_path, by="mig", seeds=3)
    assert len(more.rows) == 6
    assert {name: kept for name, kept in weights(tmp_path).items() if name in before} == before, "none trained again"
    assert more.best().folder.parent == tmp_path / "trials"


def test_what_is_held_out_is_as_asked(squares: FactorData, tmp_path: Path) -> None:
    usual = go(squares, tmp_path / "usual")
    asked = go(squares, tmp_path / "asked", held_out=0.25)
    assert len(asked.best().held_out_rows) == len(squares) // 4
    assert {row.name for row in usual.rows}.isdisjoint(row.name for row in asked.rows), "another search"
    with pytest.raises(InputError, match="--held-out must be a part of the data"):
        go(squares, tmp_path / "wrong", held_out=1.5)
    assert not (tmp_path / "wrong").exists()


def test_the_same_observations_are_compared_whatever_the_seed(squares: FactorData, tmp_path: Path) -> None:
    found = go(squares, tmp_path)
    rows = [np.load(path)["rows"] for path in sorted(tmp_path.glob("trials/*/shared-codes.npz"))]
    assert len(rows) == 4
    assert all(np.array_equal(one, rows[0]) for one in rows)
    udr = ub.metrics.udr(
        [np.load(tmp_path / "trials" / row.name / "shared-codes.npz")["codes"] for row in found.rows[:2]],
        information=[
            np.load(tmp_path / "trials" / row.name / "shared-codes.npz")["information"] for row in found.rows[:2]
        ],
    )
    assert found.rows[0].setting.values["beta"] == 1
    assert next(one for one in found.settings if one.setting.values["beta"] == 1).value("udr") == udr.value


def test_a_broken_setting_fails_its_trials_and_no_others(squares: FactorData, tmp_path: Path) -> None:
    found = go(squares, tmp_path, vary={"beta": ["1", "-4"], "likelihood": ["bernoulli"]})
    good, bad = found.settings
    assert [row.status for row in good.rows] == ["finished"] * 2
    assert [row.error for row in bad.rows] == ["--beta of beta-vae must be at least 0, not -4."] * 2
    with (tmp_path / "table.csv").open() as file:
        assert [row["status"] for row in csv.DictReader(file)] == ["finished", "finished", "failed", "failed"]


def test_a_training_that_fails_is_told_by_its_trial(squares: FactorData, tmp_path: Path) -> None:
    found = go(squares, tmp_path, vary={"lr": [1e-3, 1e30]}, seeds=1, steps=30, by="elbo")
    failed = [row for row in found.rows if row.status == "failed"]
    assert len(failed) == 1
    assert failed[0].setting.values["lr"] == 1e30
    assert "lower the learning rate" in failed[0].error
    assert found.best().plan.stages[0][0].adam.lr == 1e-3  # type: ignore[attr-defined]


def test_an_interrupted_trial_goes_on_to_the_same_bits(squares: FactorData, tmp_path: Path) -> None:
    whole = go(squares, tmp_path / "whole", vary={}, seeds=1)
    (name,) = (row.name for row in whole.rows)
    place = tmp_path / "stopped" / "trials" / name
    with pytest.raises(ub.errors.Interrupted, match="step 2 of 3"):
        ub.fit(squares, SMALL, steps=3, out=place, machine=Machine("cpu", pause=2), show=False)
    assert read_result(place) is None
    go(squares, tmp_path / "stopped", vary={}, seeds=1)
    after = [path.read_bytes() for path in sorted((tmp_path).rglob("weights.safetensors"))]
    assert after[0] == after[1]


def test_a_shared_first_stage_is_trained_once(squares: FactorData, tmp_path: Path) -> None:
    then = MSVAE(width=0.05, batch_size=8)
    found = go(squares, tmp_path, then=[then], vary={"2.latents": [2, 3]}, seeds=1, by="l2")
    records = [read_json(tmp_path / "trials" / row.name / "stage-1" / "stage.json") for row in found.rows]
    assert [record["reused_from"] for record in records] == [None, found.rows[0].name]
    assert np.isfinite([row.figures["l2"] for row in found.rows]).all()


def test_weights_of_all_but_the_best_are_dropped(squares: FactorData, tmp_path: Path) -> None:
    found = go(squares, tmp_path, keep_best=1)
    assert len(weights(tmp_path)) == 1
    assert (found.best().folder / "stage-1" / "weights.safetensors").is_file()
    before = weights(tmp_path)
    go(squares, tmp_path, keep_best=1)
    assert weights(tmp_path) == before, "what was measured is not trained again"


def test_what_cannot_be_is_said_before_anything_is_written(squares: FactorData, tmp_path: Path) -> None:
    place = tmp_path / "search"
    unlabelled = FactorData("plain", squares.observations, np.zeros((len(squares), 0)))
    for changes, sentence in (
        ({"by": "migg"}, "did you mean 'mig'"),
        ({"vary": {"bata": [1]}}, "did you mean 'beta'"),
        ({"seeds": 0}, "--seeds must be at least 1"),
        ({"then": ["beta-vae"]}, "cannot follow another stage"),
        ({"on": "moon"}, "--on must be local, ray"),
    ):
        with pytest.raises(InputError, match=sentence):
            go(squares, place, **changes)
    with pytest.raises(InputError, match="plain has no factors, which mig would need; choose --by udr"):
        go(unlabelled, place, by="mig")
    assert not place.exists()
    go(squares, place, vary={}, seeds=1)
    with pytest.raises(InputError, match="holds a search on other data"):
        go(unlabelled, place)
    ub.fit(squares, VAE(width=0.05, network="mlp"), steps=1, out=tmp_path / "run", show=False)
    with pytest.raises(InputError, match="is a run: choose another --out"):
        go(squares, tmp_path / "run")


def test_all_trials_have_the_precision_that_was_measured_once(
    squares: FactorData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[str] = []

    def told(machine: Machine, trial: Trial, data: FactorData) -> list[str]:
        measured.append(trial.setting.method)
        return ["bf16-mixed"]

    monkeypatch.setattr("unbraid.search.precision.measured", told)
    for betas in ([1, 2], [1, 2, 3]):
        go(squares, tmp_path, vary={"beta": betas}, seeds=1, by="elbo", machine=Machine("cpu", precision="auto"))
    assert measured == ["beta-vae"], "once for a method, and not again when the search goes on"
    machines = [read_json(path)["machine"]["precision"] for path in tmp_path.glob("trials/*/environment.json")]
    assert machines == ["bf16-mixed"] * 3
