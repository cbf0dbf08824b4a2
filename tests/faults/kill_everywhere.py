"""Kill -9 a small run before every change that it makes to its folder, repeat the command, and compare the results.

`python kill_everywhere.py DATA FOLDER [EVERY]` tries every EVERYth point (all of them by default) and prints one line
of JSON: how many points there are, how many were tried, and those after which something was lost.
"""

import hashlib
import json
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np
from small_run import fit_small

from unbraid.training.machine import Machine

# What Python announces before it changes a file system; `open` also when it only reads, which changes nothing.
CHANGES = ("os.rename", "os.remove", "os.link", "os.mkdir", "os.chmod", "os.truncate", "fcntl.flock")
OFTEN = Machine("cpu", checkpoint_seconds=1e-9)  # a checkpoint after every step


def everything(folder: Path, data: Path) -> None:
    """What `unbraid fit` does."""
    run = fit_small(folder, data=data, machine=OFTEN)
    run.evaluate(show=False)
    run.report()


def on_changes(folder: Path, react: Callable[[], None]) -> None:
    """Call `react` before every change to something in the folder. It cannot be undone: for child processes."""

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open":
            writes = isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
            if writes and str(arguments[0]).startswith(str(folder)):
                react()
        elif event == "fcntl.flock" or (event in CHANGES and str(arguments[0]).startswith(str(folder))):
            react()

    sys.addaudithook(hook)


def in_child(work: Callable[[], None]) -> int:
    """Do something in a process of its own, and return how it ended: 0, or minus the signal."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def count_changes(folder: Path, data: Path) -> int:
    """How many changes an undisturbed run makes."""
    note = folder.parent / "count"

    def work() -> None:
        seen: list[None] = []
        on_changes(folder, lambda: seen.append(None))
        everything(folder, data)
        note.write_text(str(len(seen)))

    assert in_child(work) == 0
    return int(note.read_text())


def killed_at(folder: Path, data: Path, point: int) -> int:
    """Run until just before change number `point`, and die there."""

    def work() -> None:
        left = [point]

        def react() -> None:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        on_changes(folder, react)
        everything(folder, data)

    return in_child(work)


def results(folder: Path) -> dict[str, object]:
    """All that must be the same: weights, y, codes, pictures, scores, lines of the log, and which files there are."""
    found: dict[str, object] = {"files": sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())}
    for path in (*folder.glob("stage-*/*.safetensors"), *folder.glob("stage-*/*.npy")):
        found[str(path.relative_to(folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
    for path in folder.glob("*.npz"):
        with np.load(path) as arrays:
            found[path.name] = {name: hashlib.sha256(arrays[name].tobytes()).hexdigest() for name in arrays.files}
    for path in folder.glob("stage-*/log.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        found[str(path.relative_to(folder))] = [{k: v for k, v in line.items() if k != "seconds"} for line in lines]
    scores = json.loads((folder / "metrics.json").read_text())
    scores["_"].pop("seconds")
    found["metrics.json"] = scores
    return found


def main(data: Path, place: Path, every: int = 1) -> dict[str, object]:
    """Try the points, and tell."""
    place = place.resolve()
    straight, run = place / "straight" / "run", place / "killed" / "run"
    straight.parent.mkdir(parents=True)
    total = count_changes(straight, data)
    expected, lost, tried = results(straight), [], 0
    for point in range(1, total + 1, every):
        shutil.rmtree(run.parent, ignore_errors=True)
        run.parent.mkdir(parents=True)
        ended, again = killed_at(run, data, point), in_child(lambda: everything(run, data))
        found = results(run) if again == 0 else {}
        tried += 1
        if ended != -signal.SIGKILL or found != expected:
            differ = [name for name in expected if found.get(name) != expected[name]]
            lost.append({"point": point, "ended": ended, "again": again, "differ": differ})
    return {"points": total, "tried": tried, "lost": lost}


if __name__ == "__main__":
    outcome = main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    print(json.dumps(outcome))
    sys.exit(bool(outcome["lost"]))
