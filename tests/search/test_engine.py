"""Engines: every task once, in their order, whatever becomes of the others."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unbraid.errors import InputError
from unbraid.search.engine import Queue, executor, run_tasks
from unbraid.search.local import LocalExecutor
from unbraid.search.tasks import Outcome, Task


def note(folder: Path, shared: Any) -> int:
    (folder / "done").write_text((folder / "done").read_text() + "x" if (folder / "done").exists() else "x")
    return int(shared) + len(folder.name)


def refuse(folder: Path, shared: Any) -> int:
    raise InputError("this setting cannot be.")


def crash(folder: Path, shared: Any) -> int:
    raise RuntimeError("a tensor of the wrong shape\nand more")


def total(folder: Path, shared: Any) -> tuple[float, bool]:
    return float(shared.sum()), isinstance(shared, np.memmap)


def outcomes(tasks: list[Task], workers: int) -> dict[str, Any]:
    found = run_tasks(tasks, LocalExecutor(workers), 10, title="tasks", show=False)
    return {outcome.name: outcome.error or outcome.value for outcome in found}


def test_a_broken_task_says_so_and_the_others_go_on(tmp_path: Path) -> None:
    tasks = [Task(name, tmp_path / name, work) for name, work in (("a", refuse), ("b", crash), ("ccc", note))]
    assert outcomes(tasks, 1) == {
        "a": "this setting cannot be.",
        "b": "RuntimeError: a tensor of the wrong shape",
        "ccc": 13,
    }
    assert "wrong shape" in (tmp_path / "b" / "error.txt").read_text()
    assert not list(tmp_path.rglob(".attempts"))


def test_what_waits_for_another_comes_after_it() -> None:
    one, two = Task("one", Path("1"), note), Task("two", Path("2"), note, after="one")
    gone = Task("three", Path("3"), note, after="finished before")
    queue = Queue([two, one, gone])
    supply = iter(queue)
    assert [next(supply), next(supply), next(supply)] == [one, gone, None]
    queue.ended(Outcome("three", 3))
    assert next(supply) is None
    queue.ended(Outcome("one", error="it failed"))
    assert list(supply) == [two]


def test_processes_share_arrays_and_give_back_what_they_made(tmp_path: Path) -> None:
    tasks = [Task(name, tmp_path / name, total, "a" if name == "c" else None) for name in "abcd"]
    found = list(run_tasks(tasks, LocalExecutor(2), np.ones(100_000), title="tasks", show=False))
    assert {one.name: one.value for one in found} == dict.fromkeys("abcd", (100_000.0, True))
    assert [one.name for one in found].index("a") < [one.name for one in found].index("c")


def test_places_have_names() -> None:
    with pytest.raises(InputError, match="--on must be local, ray or ray://"):
        executor("slurm")
