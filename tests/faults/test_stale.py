"""Nothing is stale: products carry the key of the weights that they were made from."""

import json
from pathlib import Path

import numpy as np
import pytest
from small_run import fit_small

import unbraid as ub
from unbraid.runs.conditioning import stage_inputs

PRODUCTS = ("codes.npz", "pictures.npz", "stage-1/y-sample-1.npy", "stage-2/weights.safetensors")


def content(path: Path) -> object:
    """What a product holds, without its key."""
    if path.suffix != ".npz":
        return path.read_bytes()
    with np.load(path) as file:
        return {name: file[name].tobytes() for name in file.files if name != "key"}


def times(folder: Path) -> dict[str, int]:
    """When each file was last written."""
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_a_folder_without_its_config_gives_nothing_of_its_old_run(
    finished: Path, squares_npz: Path, tmp_path: Path
) -> None:
    before = {name: content(finished / name) for name in PRODUCTS}
    (finished / "config.json").unlink()
    reused = fit_small(finished, seed=1, data=squares_npz)
    alone = fit_small(tmp_path / "elsewhere" / "run", seed=1, data=squares_npz)
    for run in (reused, alone):
        run.evaluate(show=False)
        run.report()
    for name in PRODUCTS:
        assert content(finished / name) != before[name]
        assert content(finished / name) == content(alone.folder / name)
    scores, expected = (json.loads((run.folder / "metrics.json").read_text()) for run in (reused, alone))
    assert scores["mig"] == expected["mig"]
    assert scores["_"]["key"] == expected["_"]["key"]


def test_scores_of_other_weights_do_not_stand_in_a_report(finished: Path, squares_npz: Path) -> None:
    scores = json.loads((finished / "metrics.json").read_text())
    scores["mig"] = {"value": 0.12345, "interval": None, "details": {}}
    scores["_"]["key"] = "of other weights"
    (finished / "metrics.json").write_text(json.dumps(scores))
    ub.open(finished).report()
    assert "0.123" not in (finished / "report.html").read_text()
    assert json.loads((finished / "metrics.json").read_text())["mig"]["value"] != 0.12345


def test_what_is_current_is_not_made_again(finished: Path, squares_npz: Path) -> None:
    before = times(finished)
    run = fit_small(finished, data=squares_npz)
    stage_inputs(run, 2, show=False)
    run.evaluate(show=False)
    run.report()
    after = times(finished)
    assert {name for name in before if after[name] != before[name]} == {"metrics.json", "report.html"}


@pytest.mark.parametrize("resume", [False, True])
def test_a_run_made_before_there_were_keys_counts_as_current(finished: Path, squares_npz: Path, resume: bool) -> None:
    without_keys(finished)
    before = times(finished)
    run = fit_small(finished, data=squares_npz) if resume else ub.open(finished)
    scores = run.evaluate(show=False)
    run.report()
    after = times(finished)
    assert {name for name in before if after[name] != before[name]} == {"metrics.json", "report.html"}
    assert scores["mig"]["value"] == 0.5


def without_keys(folder: Path) -> None:
    """The run as earlier versions left it: no digests in stage.json, no keys in products."""
    for stage in folder.glob("stage-*/stage.json"):
        record = json.loads(stage.read_text())
        del record["files"]
        stage.write_text(json.dumps(record))
    for name in ("codes.npz", "pictures.npz"):
        with np.load(folder / name) as file:
            arrays = {key: file[key] for key in file.files if key != "key"}
        np.savez(folder / name, **arrays)
    scores = json.loads((folder / "metrics.json").read_text())
    del scores["_"]["key"]
    scores["mig"]["value"] = 0.5  # so that it is seen whether it was computed again
    (folder / "metrics.json").write_text(json.dumps(scores))
