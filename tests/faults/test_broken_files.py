"""Every file of a run, broken in many ways: a command mends it or says one sentence that names it. No traceback."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_run import FIRST, fit_small

import unbraid as ub
from unbraid.cli.console import complain
from unbraid.cli.main import main
from unbraid.errors import InputError
from unbraid.util.tensors import read_tensors, write_tensors

FILES = (
    *("config.json", "environment.json", "metrics.json", "codes.npz", "pictures.npz", "report.html"),
    *("stage-1/stage.json", "stage-1/log.jsonl", "stage-1/weights.safetensors", "stage-1/y-sample-1.npy"),
    *("stage-2/stage.json", "stage-2/log.jsonl", "stage-2/weights.safetensors"),
)


def half(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def nothing(path: Path) -> None:
    path.write_bytes(b"")


def noise(path: Path) -> None:
    path.write_bytes(np.random.default_rng(3).bytes(2000))


def other(path: Path) -> None:
    """Well-formed content of another kind."""
    path.write_text("[1, null, {}]")


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


WAYS: list[Callable[[Path], None]] = [half, nothing, noise, other, folder]
COMMANDS = ("report", "evaluate", "fit")


def run_command(command: str, run: Path, data: Path) -> int:
    if command != "fit":
        return main([command, str(run)])
    try:
        again = fit_small(run, data=data)
        again.evaluate(show=False)
        again.report()
    except InputError as error:
        complain(str(error))
        return 2
    return 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FILES)
def test_a_broken_file_is_mended_or_named(
    name: str, way: Callable[[Path], None], finished: Path, squares_npz: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = COMMANDS[(FILES.index(name) + WAYS.index(way)) % 3]
    way(finished / name)
    code = run_command(command, finished, squares_npz)
    said = capsys.readouterr().err
    assert code in (0, 2), said
    if code == 2:
        assert name.split("/")[-1] in said
        assert said.count("unbraid: ") >= 1
    if name.endswith(".npz") and way is not folder:  # these are made again from what is there
        assert code == 0, said
        with np.load(finished / name) as arrays:
            assert "key" in arrays.files
    if name == "stage-1/weights.safetensors":
        assert code == 2, said


KINDS: dict[tuple[str, str], list[Any]] = {
    **{("config.json", name): [None, "x", [], {}] for name in ("format", "data", "stages", "seed")},
    **{("config.json", f"data.{name}"): [None] for name in ("name", "fingerprint", "factors", "n")},
    ("config.json", "data.shape"): [None, ["a"], [0], [-1, 2, 3], 7],
    ("config.json", "data.factors"): [[1], [{"name": 3}], [{"name": "a", "size": "b"}]],
    ("config.json", "stages"): [[{}], [{"method": 1}], [{"method": "beta-vae", "options": 3, "steps": 1}]],
    **{("stage-1/stage.json", name): [7, "x", [1]] for name in ("key", "seconds", "parameters")},
    ("stage-1/stage.json", "spec"): [7, "x", {}, {"shape": "x", "size": 3}, {"shape": [3], "size": None}],
    ("stage-1/stage.json", "files"): [7, "x", {"weights.safetensors": 3}, {"weights.safetensors": {}}],
    ("metrics.json", "mig"): [3, None, "x", [], {"value": "x"}, {"value": [1]}, {"interval": 3}, {"interval": [1]}],
    ("metrics.json", "l1"): [{"value": 0.5, "details": 3}, {"details": [1]}, {"value": {}}],
    ("metrics.json", "_"): [3, [], {"key": 3}, {"seconds": "x"}, {"rows": "x"}],
    ("environment.json", "machine"): [3],
}
BROKEN_FIELDS = [(name, field, value) for (name, field), values in KINDS.items() for value in values]


@pytest.mark.parametrize(("name", "field", "value"), BROKEN_FIELDS)
def test_a_field_of_another_kind_is_named_or_counts_as_absent(
    name: str, field: str, value: object, finished: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = json.loads((finished / name).read_text())
    place = record
    *outer, last = field.split(".")
    for part in outer:
        place = place[part]
    place[last] = value
    (finished / name).write_text(json.dumps(record))
    code = main(["report", str(finished)])
    said = capsys.readouterr().err
    assert code in (0, 2)
    if code == 2:
        assert name in said or name.split("/")[-1] in said or "format" in said or "stage 1" in said, said


ARRAYS: dict[str, dict[str, object]] = {
    "no codes": {"codes": None},
    "flat codes": {"codes": np.ones(48, np.float32)},
    "texts for codes": {"codes": np.full((48, 4), "x")},
    "fewer factors": {"factors": np.ones((20, 2))},
    "no names": {"factor_names": None},
    "a name too many": {"factor_names": np.array(["a", "b", "c"])},
    "kinds as a table": {"factor_kinds": np.array([["ordinal", "ordinal"]])},
    "texts for sizes": {"factor_sizes": np.array(["a", "b"])},
    "no rows": {"rows": None},
    "rows of numbers that are none": {"rows": np.full(48, np.nan)},
    "columns of another count": {"columns": np.array(["z1"])},
    "short log_var": {"log_var": np.ones((3, 4), np.float32)},
}


@pytest.mark.parametrize("change", ARRAYS.values(), ids=ARRAYS.keys())
def test_codes_that_do_not_go_together_are_made_again(change: dict[str, object], finished: Path, made: Path) -> None:
    with np.load(finished / "codes.npz") as file:
        arrays = dict(file) | change
    np.savez(finished / "codes.npz", **{name: array for name, array in arrays.items() if array is not None})
    assert main(["report", str(finished)]) == 0
    with np.load(finished / "codes.npz") as new, np.load(made / "codes.npz") as old:
        for name in old.files:
            np.testing.assert_array_equal(new[name], old[name])


def test_weights_of_another_architecture_are_named(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = finished / "stage-1" / "weights.safetensors"
    tensors, metadata = read_tensors(path)
    tensors["decoder.more"] = torch.ones(3)
    write_tensors(path, tensors, {"key": metadata["key"]})
    record = json.loads((finished / "stage-1" / "stage.json").read_text())
    record["files"] = None  # as earlier versions wrote it, without a digest
    (finished / "stage-1" / "stage.json").write_text(json.dumps(record))
    assert main(["report", str(finished)]) == 2
    assert "holds weights of another network than beta-tcvae" in capsys.readouterr().err


def test_a_log_with_lines_of_another_kind_is_taken_up_to_them(tmp_path: Path, squares_npz: Path) -> None:
    from unbraid.training.log import read_log

    path = tmp_path / "log.jsonl"
    for broken in ("[1]", '{"step": "x", "seconds": 1}', '{"seconds": 1}', "3", "null", '{"step": 2', "\x00\xff"):
        path.write_text('{"step": 1, "seconds": 0.5, "vae/loss": 2}\n' + broken + '\n{"step": 3, "seconds": 1}\n')
        assert [line["step"] for line in read_log(path)] == [1]


def test_a_foreign_checkpoint_is_passed_over(
    tmp_path: Path, squares_npz: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data = ub.data.load(squares_npz)
    straight = ub.fit(data, FIRST, steps=6, out=tmp_path / "a" / "run", show=False)
    stage = tmp_path / "b" / "run" / "stage-1"
    foreign = {"method/nothing": torch.ones(2)}
    write_tensors(stage / "checkpoint-000000004.safetensors", foreign, {"key": straight.plan.key(1), "step": "4"})
    again = ub.fit(data, FIRST, steps=6, out=tmp_path / "b" / "run", show=False)
    assert "is not a checkpoint of this method" in caplog.text
    name = "stage-1/weights.safetensors"
    assert (again.folder / name).read_bytes() == (straight.folder / name).read_bytes()


def test_a_run_that_was_mended_is_whole(finished: Path, squares_npz: Path) -> None:
    for name in ("codes.npz", "pictures.npz", "stage-1/y-sample-1.npy", "stage-1/log.jsonl"):
        noise(finished / name)
    (finished / "stage-2" / "stage.json").unlink()
    run = fit_small(finished, data=squares_npz)
    run.evaluate(show=False)
    assert run.report().is_file()
