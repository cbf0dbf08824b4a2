"""Runs that hold observations out: what is recorded, what is trained on, and what is said of both parts."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import PCA

import unbraid as ub
from unbraid import methods
from unbraid.cli.main import main
from unbraid.core import MethodConfig
from unbraid.data import FactorData, HeldOut, from_arrays
from unbraid.errors import InputError
from unbraid.evaluation.generalisation import explained_by_pca, overfitting, scores_are_of
from unbraid.evaluation.parts import rows_of
from unbraid.runs.held_out import Part
from unbraid.training.checkpoint import WEIGHTS
from unbraid.training.contract import small_images
from unbraid.util.files import read_json
from unbraid.util.tensors import read_tensors

FIRST, SECOND = methods.BetaVAE(width=0.1, latents=3), methods.MSVAE(width=0.1, latents=2)


def weights(run: ub.Run, stage: int = 1) -> dict[str, np.ndarray]:
    """The weights of one stage."""
    return {name: tensor.numpy() for name, tensor in read_tensors(run.stage_folder(stage) / WEIGHTS)[0].items()}


def same(a: ub.Run, b: ub.Run, stage: int = 1) -> bool:
    """Whether a stage has the same weights in both runs."""
    one, two = weights(a, stage), weights(b, stage)
    return all(np.array_equal(one[name], two[name]) for name in one)


def changed(data: FactorData, rows: np.ndarray) -> FactorData:
    """The same data with nothing but noise, and other labels, in some rows."""
    x, factors = data.observations.copy(), data.factors.copy()
    x[rows] = np.random.default_rng(0).integers(256, size=x[rows].shape)
    factors[rows] = 2 - np.minimum(factors[rows], 2)
    return FactorData(data.name, x, factors, data.factor_info)


CHAINS: list[tuple[MethodConfig, ...]] = [
    (FIRST, SECOND),
    (methods.PartedVAE(width=0.1, classes=(4, 3), class_prior="labels"),),
    (methods.SSIVAE(width=0.1, encoding="one-hot"),),
    (methods.GaussianMixture(components=2),),
    (methods.BetaTCVAE(width=0.1, turns=1), methods.MSVAE.fast(width=0.1, latents=6)),
    (methods.Controls(width=0.1), methods.MSVAE(width=0.1, latents=2)),
]


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: "+".join(config.name for config in chain))
def test_weights_do_not_depend_on_what_is_held_out(chain: tuple[MethodConfig, ...], tmp_path: Path) -> None:
    """The strongest form of «training never sees it»: other values in held-out rows leave every weight as it was."""
    data = small_images(60)
    one = ub.fit(data, chain, steps=3, out=tmp_path / "one", show=False)
    assert len(one.held_out_rows) == 6
    other = changed(data, one.held_out_rows)
    two = ub.fit(other, chain, steps=3, out=tmp_path / "else" / "two", show=False)
    for stage in range(1, len(chain) + 1):
        assert same(one, two, stage), f"stage {stage}"
    everything = ub.fit(other, chain, steps=3, held_out=0, out=tmp_path / "elsewhere" / "all", show=False)
    assert not same(two, everything), "the comparison can fail"


def test_config_key_and_codes_know_what_is_held_out(tmp_path: Path) -> None:
    data = small_images(60)
    run = ub.fit(data, FIRST, steps=2, out=tmp_path / "run", show=False)
    whole = ub.fit(data, FIRST, steps=2, held_out=0, out=tmp_path / "whole", show=False)
    assert read_json(run.folder / "config.json")["held_out"] == {"count": 6, "share": 0.1}
    assert "held_out" not in read_json(whole.folder / "config.json")
    assert run.plan.key(1) != whole.plan.key(1)
    assert read_json(whole.folder / "stage-1" / "stage.json")["reused_from"] is None
    again = ub.fit(data, FIRST, steps=2, out=tmp_path / "again", show=False)
    assert read_json(again.folder / "stage-1" / "stage.json")["reused_from"] == "run"
    table = ub.open(run.folder, data).encode(show=False)
    assert table.held_out is not None
    assert np.array_equal(np.flatnonzero(table.held_out), run.held_out_rows)
    assert np.array_equal(table.of("held-out").codes, table.codes[run.held_out_rows])
    assert len(table.of("training").table()) == 54
    assert table.to_pandas()["held_out"].sum() == 6
    assert "held_out" not in whole.encode(show=False).to_pandas()
    assert read_json(run.folder / "stage-1" / "stage.json")["spec"]["size"] == 54


def test_a_run_that_was_begun_without_goes_on_without_unless_told_otherwise(tmp_path: Path) -> None:
    data = small_images(60)
    ub.fit(data, FIRST, steps=2, held_out=0, out=tmp_path / "run", show=False)  # as all were before
    run = ub.fit(data, FIRST, steps=2, out=tmp_path / "run", show=False)
    assert run.plan.held_out is None
    with pytest.raises(InputError, match="holds another run"):
        ub.fit(data, FIRST, steps=2, held_out=0.1, out=tmp_path / "run", show=False)
    ub.fit(data, FIRST, steps=2, held_out=0.2, out=tmp_path / "other", show=False)
    with pytest.raises(InputError, match="holds another run"):
        ub.fit(data, FIRST, steps=2, held_out=0, out=tmp_path / "other", show=False)


def test_labels_of_held_out_rows_are_not_shown_and_are_what_classes_are_scored_on(tmp_path: Path) -> None:
    data = small_images(120)
    config = methods.PartedVAE(width=0.1, classes=(4, 3))
    run = ub.fit(data, config, steps=2, labels=40, out=tmp_path / "run", show=False)
    assert np.isnan(run.visible_labels[run.held_out_rows]).all()
    assert (~np.isnan(run.visible_labels)).all(axis=1).sum() == 40
    scores = run.evaluate(["class_accuracy", "l2"], show=False)
    guessed = run.classify(data.observations[run.held_out_rows])[0].argmax(1)
    expected = (guessed == data.factors[run.held_out_rows, 0]).mean()
    assert scores["class_accuracy/place"]["value"] == pytest.approx(expected)
    assert scores["class_accuracy/place"]["of"] == "held-out"
    assert scores["training/class_accuracy/place"]["of"] == "training"
    lines = [json.loads(line) for line in (run.stage_folder(1) / "log.jsonl").read_text().splitlines()]
    assert 0 <= lines[-1]["labelled/held_out/accuracy"] <= 1


def test_errors_come_for_both_parts_and_the_verdict_says_which(tmp_path: Path) -> None:
    data = small_images(110)
    run = ub.fit(data, (FIRST, SECOND), steps=2, out=tmp_path / "run", show=False)
    scores = run.evaluate(["l2", "mig"], show=False)
    pairs: list[tuple[Part, str]] = [("held-out", "l2"), ("training", "training/l2")]
    for part, name in pairs:
        rows = rows_of(run, part)
        made = run.reconstruct(data.observations[rows])[-1]
        error = (((data.observations[rows].astype(float) - made) / 255) ** 2).mean()
        assert scores[name]["value"] == pytest.approx(error, rel=1e-5)
        assert scores[name]["of"] == part
    assert scores["mig"]["of"] == "training", "11 rows say nothing of it"
    assert "training/mig" not in scores
    said = [text for _, text in run.verdict()]
    assert said[-1].startswith(
        "Errors are of 11 held-out observations that no training saw; scores of the codes are of"
    )
    assert any(text.startswith("Reconstructions of stage 2 of held-out data") for text in said)
    page = run.report().read_text()
    assert "of held-out data" in page
    assert "held-out original" in page


def test_held_out_rows_lead_scores_of_codes_where_there_are_enough(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    kind = random.integers(3, size=1200)
    data = from_arrays(random.normal(size=(1200, 4)).astype(np.float32) + kind[:, None], {"kind": kind})
    config = methods.VAE(likelihood="gaussian", width=0.05, latents=2)
    run = ub.fit(data, config, steps=2, held_out=0.5, out=tmp_path / "run", show=False)
    scores = run.evaluate(["mig"], show=False)
    table = run.encode(show=False).of("held-out").table()
    assert len(table) == 600
    assert scores["mig"]["value"] == pytest.approx(ub.metrics.mig(table, replicates=0).value)
    assert scores["mig"]["of"] == "held-out"
    assert scores["training/mig"]["value"] != scores["mig"]["value"]
    assert scores_are_of(run.plan, scores).startswith("These scores are of held-out data: 600 held-out observations")


def test_overfitting_is_said_of_the_stage_that_does() -> None:
    errors = np.random.default_rng(0).uniform(1, 2, size=400)
    worse, alike = (1.6 * errors[:100], errors), (1.1 * errors[:100], errors)
    assert [sentence.level for sentence in overfitting({1: alike, 2: alike})] == ["good"]
    (said,) = overfitting({1: alike, 2: worse})
    times = worse[0].mean() / worse[1].mean()
    assert said.level == "bad"
    assert said.text.startswith(f"Overfitting: stage 2 has {times:.1f} times the error on held-out data")
    assert [one.text.split(" has")[0] for one in overfitting({1: worse})] == ["Overfitting: the model"]


def test_pca_of_training_data_is_judged_on_held_out_rows() -> None:
    random = np.random.default_rng(0)
    known, new = random.normal(size=(300, 5)), random.normal(size=(200, 5)) * [3, 1, 1, 1, 1]
    known[:, 0] *= 3
    model = PCA(2).fit(known)
    expected = ((new - model.inverse_transform(model.transform(new))) ** 2).mean()
    assert explained_by_pca(new, known, 2) == pytest.approx(expected)


def test_the_command_line_names_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    random = np.random.default_rng(0)
    lines = [f"{a:.3f},{b:.3f},p{k % 12}" for k, (a, b) in enumerate(random.normal(size=(96, 2)))]
    (tmp_path / "t.csv").write_text("a,b,patient\n" + "\n".join(lines) + "\n")
    command = ["fit", str(tmp_path / "t.csv"), "--data.factors", "patient", "--method", "vae", "--width", "0.05"]
    command += ["--likelihood", "gaussian", "--steps", "2", "--out", str(tmp_path / "run")]
    assert main([*command, "--held-out", "0.2", "--held-out-by", "patient"]) == 0
    run = ub.open(tmp_path / "run")
    assert run.plan.held_out is not None
    assert (run.plan.held_out.count, run.plan.held_out.by) == (16, "patient")
    assert len(np.unique(run.data.column("patient")[run.held_out_rows])) == 2
    assert "whole groups of patient" in capsys.readouterr().out
    assert main(["encode", str(tmp_path / "run"), "--out", str(tmp_path / "codes.csv")]) == 0
    assert sum("True" in line for line in (tmp_path / "codes.csv").read_text().splitlines()) == 16
    assert main([*command[:-1], str(tmp_path / "no"), "--held-out-by", "patiens"]) == 2
    assert ub.fit(
        run.data, run.config(1), steps=2, held_out=HeldOut(0.2, "patient"), out=tmp_path / "python", show=False
    )
    assert "--held-out 0.2 --held-out-by patient" in read_json(tmp_path / "python" / "config.json")["command"]
