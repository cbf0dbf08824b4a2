"""A run may be killed at any moment; repeating the command ends with the same bits."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from unbraid.training.checkpoint import newest_first

STEPS = 300
# A learning rate that depends on the step, and an average of the weights, are part of what must be taken up.
MEANS = ("--adam.end 0.1", "--adam.schedule cosine", "--adam.warmup 150", "--adam.clip 0.5", "--average 0.9")
FALLING = tuple(word for option in MEANS for word in option.split())


def command(data: Path, out: Path, *more: str) -> list[str]:
    fit = [sys.executable, "-m", "unbraid", "fit", str(data), "--method", "beta-tcvae", "ms-vae", "--width", "0.1"]
    return [
        *fit,
        "--steps",
        str(STEPS),
        "40",
        "--out",
        str(out),
        "--threads",
        "1",
        "--save-every",
        "0.05",
        *FALLING,
        *more,
    ]


def finished(words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, capture_output=True, text=True, timeout=240, check=False)


def weights(out: Path) -> list[bytes]:
    return [(out / f"stage-{number}" / "weights.safetensors").read_bytes() for number in (1, 2)]


def kill_when_it_has_saved(words: list[str], stage: Path, number: int) -> None:
    """Start the command, wait for its next checkpoint, and send it the signal."""
    before = {path.name for path in newest_first(stage)}
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while {path.name for path in newest_first(stage)} <= before and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(number)
    process.wait(timeout=60)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    import numpy as np

    from unbraid.training.contract import small_images

    folder = tmp_path_factory.mktemp("straight")
    np.save(folder / "squares.npy", small_images().observations)
    result = finished(command(folder / "squares.npy", folder / "run"))
    assert result.returncode == 0, result.stderr
    return folder / "squares.npy", folder / "run"


def test_a_killed_run_resumes_to_the_same_bits(uninterrupted: tuple[Path, Path], tmp_path: Path) -> None:
    data, straight = uninterrupted
    words = command(data, tmp_path / "run")
    kill_when_it_has_saved(words, tmp_path / "run" / "stage-1", signal.SIGKILL)
    assert not (tmp_path / "run" / "stage-1" / "weights.safetensors").exists()
    kill_when_it_has_saved(words, tmp_path / "run" / "stage-1", signal.SIGKILL)
    result = finished(words)
    assert result.returncode == 0, result.stderr
    assert "going on from step" in result.stderr
    assert weights(tmp_path / "run") == weights(straight)
    steps = [json.loads(line)["step"] for line in (tmp_path / "run" / "stage-1" / "log.jsonl").read_text().splitlines()]
    assert steps == sorted(set(steps))
    assert steps[-1] == STEPS


def test_a_run_that_is_asked_to_stop_saves_and_says_so(uninterrupted: tuple[Path, Path], tmp_path: Path) -> None:
    data, straight = uninterrupted
    words = command(data, tmp_path / "run")
    process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    while not newest_first(tmp_path / "run" / "stage-1"):
        time.sleep(0.005)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "repeat the command to go on" in errors
    assert finished(words).returncode == 0
    assert weights(tmp_path / "run") == weights(straight)


def test_a_truncated_checkpoint_is_passed_over_and_named(uninterrupted: tuple[Path, Path], tmp_path: Path) -> None:
    data, straight = uninterrupted
    words = command(data, tmp_path / "run")
    stage = tmp_path / "run" / "stage-1"
    for _ in range(2):
        kill_when_it_has_saved(words, stage, signal.SIGKILL)
    newest, before = newest_first(stage)[:2]
    os.truncate(newest, newest.stat().st_size // 2)
    result = finished(words)
    assert result.returncode == 0, result.stderr
    assert newest.name in result.stderr
    assert f"going on from step {int(before.stem.split('-')[1])}" in result.stderr
    assert weights(tmp_path / "run") == weights(straight)


def test_finished_work_is_skipped(uninterrupted: tuple[Path, Path]) -> None:
    data, straight = uninterrupted
    before = (straight / "stage-1" / "weights.safetensors").stat().st_mtime_ns
    result = finished(command(data, straight))
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("skipped") == 2
    assert (straight / "stage-1" / "weights.safetensors").stat().st_mtime_ns == before
