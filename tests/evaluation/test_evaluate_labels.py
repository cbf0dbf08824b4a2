"""Encoders that read labels are scored with them and without, and every table says which is which."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import unbraid as ub
from unbraid import methods
from unbraid.api import Run
from unbraid.cli.main import main
from unbraid.cli.scores import print_scores
from unbraid.data.factor_data import FactorData
from unbraid.evaluation import class_priors
from unbraid.evaluation import classes as parted
from unbraid.evaluation.evaluate import possible
from unbraid.evaluation.measure import MeasureOptions
from unbraid.methods.vae.gaussian import GaussianConfig
from unbraid.report.read.directory import read_run
from unbraid.report.sections import comparison, facts
from unbraid.runs import label_access

READS = methods.IVAE(width=0.1, latents=4)


def fitted(data: FactorData, config: GaussianConfig | methods.PartedVAE, out: Path) -> Run:
    return ub.fit(data, config, steps=4, out=out, show=False)


def test_scores_come_with_labels_and_without(squares: FactorData, tmp_path: Path) -> None:
    run = fitted(squares, READS, tmp_path / "run")
    results = run.evaluate(["mig", "l2"], show=False)
    assert {"mig", "without-labels/mig", "l2", "without-labels/l2", "identifiability"} < set(results)
    assert results["mig"]["value"] != results["without-labels/mig"]["value"]
    assert results["identifiability"]["details"]["needed"] == 8


def test_what_is_encoded_without_labels_does_not_depend_on_them(squares: FactorData, tmp_path: Path) -> None:
    run = fitted(squares, READS, tmp_path / "run")
    np.testing.assert_array_equal(
        run.encode(labels=False, show=False).codes, run.encode(squares.observations, show=False).codes
    )
    assert not np.array_equal(run.encode(labels=False).codes, run.encode().codes)
    assert (run.folder / "codes-without-labels.npz").is_file()


def test_an_encoder_that_reads_no_labels_has_one_score(squares: FactorData, tmp_path: Path) -> None:
    for config in (methods.FullVAE(width=0.1), methods.PartedVAE(width=0.1)):
        run = fitted(squares, config, tmp_path / config.name)
        results = run.evaluate(["mig"], show=False)
        assert set(results) == {"mig", "_"}
        np.testing.assert_array_equal(run.encode(labels=False).codes, run.encode().codes)


def test_codes_that_are_the_labels_have_no_score_without_them(squares: FactorData, tmp_path: Path) -> None:
    run = ub.fit(squares, methods.Controls(width=0.1), steps=2, out=tmp_path / "run", show=False)
    results = run.evaluate(["l2"], show=False)
    assert "l2" in results
    assert not any(name.startswith("without-labels/") for name in results)


def test_guessed_labels_stand_in_where_there_is_a_guess(squares: FactorData, tmp_path: Path) -> None:
    run = fitted(squares, methods.SSIDVAE(width=0.1, latents=4), tmp_path / "run")
    method: Any = run.stage(1)
    x = run.observations(np.arange(48))
    with torch.no_grad():
        expected = method.posterior(x, method.guess(x).mean).mean
    np.testing.assert_allclose(run.encode(labels=False, show=False).codes, expected, atol=1e-5)


def test_the_command_line_prints_them_side_by_side(
    squares: FactorData, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = fitted(squares, READS, tmp_path / "run")
    results = run.evaluate(["mig", "l2"], show=False)
    print_scores(results)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["metric", "with", "labels", "at", "test", "time", "without"]
    assert [line[0] for line in lines[1:4]] == ["mig", "l2", "identifiability"], "one row for each metric"
    with_labels, without = (f"{results[name]['value']:.4f}" for name in ("mig", "without-labels/mig"))
    assert (lines[1][1], lines[1][4]) == (with_labels, without)
    assert lines[3][1] == "–", "of the model alone: no label is read for it"


def test_a_table_without_such_scores_stays_as_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    print_scores({"mig": {"value": 0.25, "interval": [0.2, 0.3]}, "_": {"rows": 10}})
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines == ["metric value 95 % interval", "mig 0.2500 [0.2000, 0.3000]"]


def test_on_the_page_a_plain_name_means_without_labels(squares: FactorData, tmp_path: Path) -> None:
    run = fitted(squares, READS, tmp_path / "run")
    results = run.evaluate(["mig"], show=False)
    shown = {metric.name: metric.value for metric in read_run(run.folder).metrics}
    assert shown["mig"] == results["without-labels/mig"]["value"]
    assert shown["with-labels/mig"] == results["mig"]["value"]
    page = run.report().read_text(encoding="utf-8")
    assert 'data-metric="with-labels/mig"' in page
    assert 'data-metric="mig"' in page
    assert "labels of 48 observations (place, shade) were read at training, those of 48 at test" in page


def test_the_page_tells_labels_in_training_from_those_at_test_time(squares: FactorData, tmp_path: Path) -> None:
    """A budget is for training: the encoder of the published protocol reads whatever labels there are."""
    run = ub.fit(squares, READS, steps=2, labels=12, out=tmp_path / "run", show=False)
    assert (~torch.isnan(run.labels(np.arange(48)))).all()
    said = dict(facts.conventions(read_run(run.folder), None))["Labels"]
    assert "labels of 12 observations (place, shade) were read at training, those of 48 at test" in said


def test_labels_that_are_read_in_one_of_two_updates_are_counted_as_they_are_read(
    squares: FactorData, tmp_path: Path
) -> None:
    squares.factors[8:, 1] = np.nan
    run = fitted(squares, methods.SupervisedGuidedVAE(width=0.1), tmp_path / "run")
    assert json.loads((run.stage_folder(1) / "stage.json").read_text())["labels"]["count"] == 8


def test_gaps_that_are_used_are_counted(squares: FactorData, tmp_path: Path) -> None:
    squares.factors[:24, 0] = np.nan
    squares.factors[24:, 1] = np.nan
    run = fitted(squares, methods.FullVAE(width=0.1), tmp_path / "run")
    assert json.loads((run.stage_folder(1) / "stage.json").read_text())["labels"]["count"] == 48


def test_a_classifier_is_scored_without_labels_before_a_stage_that_reads_them(
    squares: FactorData, tmp_path: Path
) -> None:
    stages = [methods.PartedVAE(width=0.1, attention_steps=2), methods.MSControls(width=0.1)]
    run = ub.fit(squares, stages, steps=2, labels=24, out=tmp_path / "run", show=False)
    run.evaluate(["class_accuracy"], show=False)
    shown = {metric.name for metric in read_run(run.folder).metrics}
    assert shown == {"class_accuracy/place", "class_accuracy/shade"}
    assert run.report().is_file()


def test_controls_ask_for_labels_of_their_own_factors_only(squares: FactorData, tmp_path: Path) -> None:
    squares.factors[:24, 0] = np.nan
    squares.factors[24:, 1] = np.nan
    config = methods.Controls(width=0.1, factors=("place",))
    for budget, count in ((None, 24), (12, 12)):
        run = ub.fit(squares, config, steps=2, labels=budget, out=tmp_path / f"run-{count}", show=False)
        record = json.loads((run.stage_folder(1) / "stage.json").read_text())["labels"]
        assert (record["count"], record["count_at_test"]) == (count, 24)


def test_a_condition_that_a_run_has_not_is_refused_before_any_work(squares: FactorData, tmp_path: Path) -> None:
    run = fitted(squares, methods.VAE(width=0.1), tmp_path / "run")
    with pytest.raises(ub.InputError, match="vae has no conditional prior to identify"):
        run.evaluate(["mig", "identifiability"], show=False)
    assert not (run.folder / "metrics.json").exists()


def test_methods_without_labels_say_so_too(squares: FactorData, tmp_path: Path) -> None:
    run = fitted(squares, methods.VAE(width=0.1), tmp_path / "run")
    record = json.loads((run.stage_folder(1) / "stage.json").read_text())
    assert record["labels"] == {"training": False, "test": False}


def test_a_budget_on_the_command_line_is_recorded(tmp_path: Path, squares: FactorData) -> None:
    path = tmp_path / "squares.npz"
    np.savez(path, images=squares.observations, factors=squares.factors, factor_names=["place", "shade"])
    out = tmp_path / "run"
    words = ["fit", str(path), "--method", "parted-vae", "--labels", "25%", "--label-factors", "shade"]
    assert main([*words, "--width", "0.1", "--steps", "3", "--quiet", "--out", str(out)]) == 0
    assert json.loads((out / "config.json").read_text())["labels"] == {"count": 12, "factors": ["shade"]}
    record = json.loads((out / "stage-1" / "stage.json").read_text())["labels"]
    assert record == {"training": True, "test": False, "count": 12, "factors": ["shade"]}


def test_the_first_labels_are_recorded_as_such_and_told_apart_in_a_comparison(
    tmp_path: Path, squares: FactorData
) -> None:
    shade, config = ("shade",), methods.PartedVAE(width=0.1, attention_steps=2)
    for name, amount in (("first", "first 12"), ("drawn", 12)):
        ub.fit(squares, config, steps=1, labels=ub.LabelBudget(amount, shade), out=tmp_path / name, show=False)
    record = json.loads((tmp_path / "first" / "stage-1" / "stage.json").read_text())["labels"]
    assert record == {"training": True, "test": False, "count": 12, "factors": ["shade"], "first": True}
    said = read_run(tmp_path / "first")
    assert (
        "labels of the first 12 observations (shade) were read at training"
        in dict(facts.conventions(said, None))["Labels"]
    )
    differing, _ = comparison.differences([read_run(tmp_path / name) for name in ("first", "drawn")])
    assert dict(differing)["labels"] == ["the first 12 observations (shade)", "12 observations (shade)"]


def test_a_variable_without_any_label_that_was_shown_has_names_by_chance(tmp_path: Path, squares: FactorData) -> None:
    labels = squares.factors.copy()
    labels[:20, 1] = np.nan  # so that none of the first labels is a shade
    data = dataclasses.replace(squares, factors=labels)
    config = methods.PartedVAE(width=0.1, attention_steps=2)
    run = ub.fit(data, config, steps=2, labels="first 12", out=tmp_path / "run", show=False)
    found = run.evaluate(["class_accuracy"], show=False)
    naming = {name: score["details"]["naming"] for name, score in found.items() if name.startswith("class_accuracy")}
    assert naming == {"class_accuracy/place": "given", "class_accuracy/shade": "best"}
    assert [class_priors.class_prior(run, variable).name for variable in (0, 1)] == ["place", "c2"]


def test_classes_that_no_factor_matches_are_left_out_of_all_metrics(tmp_path: Path, squares: FactorData) -> None:
    config = methods.PartedVAE(width=0.1, attention_steps=2, classes=(5,))
    run = ub.fit(squares, config, steps=1, labels=0, out=tmp_path / "run", show=False)
    assert "class_accuracy" not in possible(run, MeasureOptions())


def test_labels_of_new_observations_lie_within_their_factor(tmp_path: Path, squares: FactorData) -> None:
    run = ub.fit(squares, READS, steps=1, out=tmp_path / "run", show=False)
    with pytest.raises(ub.InputError, match=r"labels of place are 0 to 3, not 4\."):
        label_access.labels_of_new(run.plan, run.label_factors, 1, np.array([[4.0, 0.0]]))


def test_another_budget_is_another_run(squares: FactorData, tmp_path: Path) -> None:
    keys = {ub.fit(squares, READS, steps=2, labels=n, out=tmp_path / str(n), show=False).plan.key(1) for n in (12, 24)}
    assert len(keys) == 2


def test_classes_are_scored_on_labels_that_training_was_not_shown(tmp_path: Path, squares: FactorData) -> None:
    name = squares.factor_names[0]
    config = methods.PartedVAE(width=0.1, attention_steps=2)
    some = ub.fit(squares, config, steps=2, labels=ub.LabelBudget(12, (name,)), out=tmp_path / "some", show=False)
    found = some.evaluate(["class_accuracy"], show=False)[f"class_accuracy/{name}"]
    assert found["details"]["observations"] == len(squares) - 12
    assert (found["details"]["naming"], found["details"]["seen_in_training"]) == ("given", False)
    rows = np.flatnonzero(np.isnan(some.visible_labels[:, 0]))
    right = parted.classify(some, squares.observations[rows])[0].argmax(1) == squares.column(name)[rows]
    assert found["value"] == pytest.approx(right.mean())
    assert "Class accuracy, " in some.report().read_text(encoding="utf-8")
    size = squares.factor_info[0].size
    none = ub.LabelBudget(0, (name,))
    bare = dataclasses.replace(config, classes=(size,))
    alone = ub.fit(squares, bare, steps=2, labels=none, out=tmp_path / "none", show=False)
    assert alone.evaluate(["class_accuracy"], show=False)[f"class_accuracy/{name}"]["details"]["naming"] == "best"
    assert class_priors.class_prior(alone).name == "c1", "no one has taught it that these are places"
    other = ub.fit(squares, methods.VAE(width=0.1), steps=1, out=tmp_path / "vae", show=False)
    with pytest.raises(ub.InputError, match="has no classes"):
        other.evaluate(["class_accuracy"], show=False)


def test_a_prior_that_is_not_standard_has_no_elbo_terms_and_its_condition_is_put_in_words(
    squares: FactorData, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = fitted(squares, READS, tmp_path / "run")
    assert "elbo_terms" not in possible(run, MeasureOptions())
    with pytest.raises(ub.InputError, match="elbo_terms takes the prior of the codes to be standard normal"):
        run.evaluate(["elbo_terms"], show=False)
    found = run.evaluate(["mig"], show=False)
    print_scores(found)
    details = found["identifiability"]["details"]
    words = f"L has rank {details['rank']} of {details['needed']}"
    assert words in " ".join(capsys.readouterr().out.split())
    assert words in run.report().read_text(encoding="utf-8")
