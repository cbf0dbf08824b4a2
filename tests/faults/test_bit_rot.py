"""A flipped byte is seen, said in one sentence, and does not spread."""

import json
import logging
from pathlib import Path

import numpy as np
import pytest
from small_run import FIRST, SECOND, fit_small

import unbraid as ub
from unbraid.cli.main import main
from unbraid.errors import InputError


def flip(path: Path, place: float = 0.7) -> None:
    """Change one bit of a file."""
    content = bytearray(path.read_bytes())
    content[int(len(content) * place)] ^= 1
    path.unlink()  # not through a link
    path.write_bytes(content)


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("command", ["report", "evaluate", "fit"])
def test_damaged_weights_are_named(
    finished: Path, squares_npz: Path, number: int, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    flip(finished / f"stage-{number}" / "weights.safetensors")
    if command == "fit":
        with pytest.raises(InputError, match=r"weights.safetensors' is damaged.*repeat the command to train"):
            fit_small(finished, data=squares_npz)
        return
    assert main([command, str(finished)]) == 2
    said = capsys.readouterr().err
    assert f"stage-{number}/weights.safetensors' is damaged" in said
    assert "repeat the command to train the stage again" in said


def test_the_remedy_gives_the_same_bits(finished: Path, made: Path, squares_npz: Path) -> None:
    flip(finished / "stage-1" / "weights.safetensors")
    for file in (finished / "stage-1").iterdir():
        file.unlink()
    (finished / "stage-1").rmdir()
    fit_small(finished, data=squares_npz)
    name = "stage-1/weights.safetensors"
    assert (finished / name).read_bytes() == (made / name).read_bytes()


def test_damaged_y_is_made_again(finished: Path, made: Path, squares_npz: Path) -> None:
    flip(finished / "stage-1" / "y-sample-1.npy")
    (finished / "stage-2" / "stage.json").unlink()
    fit_small(finished, data=squares_npz)
    for name in ("stage-1/y-sample-1.npy", "stage-2/weights.safetensors"):
        assert (finished / name).read_bytes() == (made / name).read_bytes()


@pytest.mark.parametrize("damage", ["weights", "record", "no weights", "a folder for weights", "no key"])
def test_a_damaged_neighbour_is_passed_over_with_a_sentence(
    finished: Path, made: Path, squares_npz: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    stage = finished / "stage-1"
    if damage == "weights":
        flip(stage / "weights.safetensors")
    elif damage == "record":
        (stage / "stage.json").write_text("{")
    elif damage == "no key":
        (stage / "stage.json").write_text("[1, 2]")
    else:
        (stage / "weights.safetensors").unlink()
        if damage == "a folder for weights":
            (stage / "weights.safetensors").mkdir()
    with caplog.at_level(logging.WARNING, "unbraid"):
        run = ub.fit(ub.data.load(squares_npz), FIRST, steps=6, out=finished.parent / "new", show=False)
    assert run.stage_record(1)["reused_from"] is None
    assert "stage-1 is not reused:" in caplog.text
    name = "stage-1/weights.safetensors"
    assert (run.folder / name).read_bytes() == (made / name).read_bytes()


def test_a_neighbours_damaged_y_is_left_there(finished: Path, made: Path, squares_npz: Path) -> None:
    flip(finished / "stage-1" / "y-sample-1.npy")
    run = fit_small(finished.parent / "new", data=squares_npz, second=type(SECOND)(width=0.1, latents=3))
    assert run.stage_record(1)["reused_from"] == "run"
    name = "stage-1/y-sample-1.npy"
    assert (run.folder / name).read_bytes() == (made / name).read_bytes()


def test_a_log_is_never_shared_by_two_runs(finished: Path, squares_npz: Path) -> None:
    before = (finished / "stage-1" / "log.jsonl").read_bytes()
    run = ub.fit(ub.data.load(squares_npz), FIRST, steps=6, out=finished.parent / "new", show=False)
    assert run.stage_record(1)["reused_from"] == "run"
    log = run.stage_folder(1) / "log.jsonl"
    assert not log.samefile(finished / "stage-1" / "log.jsonl")
    log.unlink()
    log.hardlink_to(finished / "stage-1" / "log.jsonl")  # as earlier versions left it
    (run.folder / "config.json").unlink()
    ub.fit(ub.data.load(squares_npz), FIRST, steps=6, seed=5, out=run.folder, show=False)
    assert (finished / "stage-1" / "log.jsonl").read_bytes() == before


def test_weights_that_are_not_finite_do_not_count_as_finished(tmp_path: Path, squares_npz: Path) -> None:
    from unbraid.core import build_method
    from unbraid.training import checkpoint

    method = build_method(FIRST, ub.open(fit_small(tmp_path / "run", data=squares_npz).folder).spec(1))
    next(iter(method.parameters())).data.view(-1)[3] = np.nan
    with pytest.raises(InputError, match="is not finite after training"):
        checkpoint.finish(tmp_path, "key", method)
    assert not (tmp_path / checkpoint.WEIGHTS).exists()


def test_a_changed_checkpoint_is_not_taken_up(tmp_path: Path) -> None:
    import torch

    from unbraid.util.tensors import read_tensors, write_tensors

    write_tensors(tmp_path / "x.safetensors", {"a": torch.arange(9.0), "n": torch.tensor(3)}, {"key": "k"})
    assert read_tensors(tmp_path / "x.safetensors")[0]["a"].tolist() == list(range(9))
    odd = {"one": torch.ones(1, 2)[:, :1], "none": torch.empty(3, 0), "half": torch.ones(3, dtype=torch.bfloat16)}
    write_tensors(tmp_path / "odd.safetensors", odd, {})
    assert set(read_tensors(tmp_path / "odd.safetensors")[0]) == set(odd)
    flip(tmp_path / "x.safetensors", 0.95)
    with pytest.raises(InputError, match="its content is not what was written"):
        read_tensors(tmp_path / "x.safetensors")


def test_the_order_of_writing_keeps_checkpoints_until_the_stage_is_recorded(finished: Path, squares_npz: Path) -> None:
    (finished / "environment.json").unlink()
    left = finished / "stage-1" / "checkpoint-000000004.safetensors"
    left.write_bytes(b"of a process that was killed")
    abandoned = finished / "stage-1" / ".weights.safetensors.nowhere-1.abc.partial"
    dead = finished / "stage-2" / f".log.jsonl.{_host()}-99999999.abc.partial"
    for path in (abandoned, dead):
        path.write_bytes(b"half")
    fit_small(finished, data=squares_npz)
    assert "torch" in json.loads((finished / "environment.json").read_text())
    assert not left.exists()
    assert not dead.exists()
    assert abandoned.exists()  # of another host, and not old


def _host() -> str:
    from unbraid.util.processes import HOST

    return HOST
