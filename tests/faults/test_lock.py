"""Two processes with one folder: the second waits and says for whom; a dead process keeps nobody waiting."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from unbraid.util.lock import NAME, locked

HOLD = """
import sys, time
from pathlib import Path
from unbraid.util.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def holder(folder: Path, seconds: float) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder), str(seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_the_second_waits_and_says_for_whom(tmp_path: Path, caplog) -> None:
    process = holder(tmp_path, 1.0)
    with locked(tmp_path):
        assert process.poll() is not None or process.wait(timeout=5) == 0
    assert f"in use by process {process.pid} on " in caplog.text
    assert not (tmp_path / NAME).exists()


def test_the_lock_of_a_dead_process_is_taken_over(tmp_path: Path, caplog) -> None:
    process = holder(tmp_path, 600)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=10)
    assert (tmp_path / NAME).exists()
    began = time.monotonic()
    with locked(tmp_path):
        assert json.loads((tmp_path / NAME).read_text())["process"] == os.getpid()
    assert time.monotonic() - began < 5
    assert "in use" not in caplog.text


def test_who_holds_it_already_goes_on(tmp_path: Path) -> None:
    with locked(tmp_path), locked(tmp_path):
        assert (tmp_path / NAME).exists()
    assert not (tmp_path / NAME).exists()


def test_two_commands_with_one_folder_write_one_whole_log(tmp_path: Path, squares_npz: Path) -> None:
    words = [sys.executable, "-m", "unbraid", "fit", str(squares_npz), "--method", "beta-vae", "--width", "0.1"]
    words += ["--steps", "300", "--out", str(tmp_path / "run"), "--quiet", "--threads", "1"]
    both = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=240)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert any("waiting until it is done" in text or "finished: skipped" in text for text in said)
    lines = [json.loads(line) for line in (tmp_path / "run" / "stage-1" / "log.jsonl").read_text().splitlines()]
    steps = [line["step"] for line in lines]
    assert steps == sorted(set(steps))
    assert steps[-1] == 300
