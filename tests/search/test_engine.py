"""Engines: every task once, in waves, whatever becomes of the others."""

from pathlib import Path
from typing import Any

import pytest

from unbraid.errors import InputError
from unbraid.search.engine import executor, run_tasks, waves
from unbraid.search.local import LocalExecutor
from unbraid.search.tasks import Task


def note(folder: Path, shared: Any) -> int:
    (folder / "done").write_text((folder / "done").read_text() + "x" if (folder / "done").exists() else "x")
    return int(shared) + len(folder.name)


def refuse(folder: Path, shared: Any) -> int:
    raise InputError("this setting cannot be.")


def crash(folder: Path, shared: Any) -> int:
    raise RuntimeError("a tensor of the wrong shape\nand more")


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
    assert waves([two, one, gone]) == [[one, gone], [two]]


def test_places_have_names() -> None:
    with pytest.raises(InputError, match="--on must be local, ray or ray://"):
        executor("slurm")
