"""What an engine is given and gives back: tasks, their outcomes, and how one is attempted."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch

from unbraid.errors import InputError, Interrupted
from unbraid.util.files import write_text

ATTEMPTS = ".attempts"  # in a task's folder while it runs: how often it was begun
MOST_ATTEMPTS = 3


@dataclass(frozen=True)
class Task:
    """Something to be done in a folder of its own, by any process that can import this package."""

    name: str
    folder: Path  # where all that it makes goes
    work: Callable[[Path, Any], Any]  # (folder, what all tasks share) -> result
    after: str | None = None  # a task that must have ended before this one begins


@dataclass(frozen=True)
class Outcome:
    """What became of a task: its result, or a sentence that says why there is none."""

    name: str
    value: Any = None
    error: str = ""


class Executor(Protocol):
    """Where tasks run. A killed process costs at most the work since its last checkpoint, never the other tasks."""

    slots: int  # tasks at a time
    place: str  # in words, for the bar

    def run(self, tasks: Iterable[Task | None], shared: Any) -> Iterator[Outcome]:
        """Run tasks in any order; outcomes come as they are there.

        Tasks are asked for when there is room for one. None means that nothing can begin before one that is underway
        has ended; there is always one underway then.
        """
        ...


def attempt(task: Task, shared: Any) -> Outcome:
    """Do a task in this process, with one thread. What goes wrong becomes its outcome; being stopped does not."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    begun = task.folder / ATTEMPTS
    try:
        task.folder.mkdir(parents=True, exist_ok=True)
        begun.write_text(str(attempts(task) + 1), encoding="ascii")
        value = task.work(task.folder, shared)
        forget_attempts(task)
        return Outcome(task.name, value)
    except Interrupted:
        forget_attempts(task)
        raise
    except InputError as error:
        forget_attempts(task)
        return Outcome(task.name, error=str(error))
    except Exception as error:
        forget_attempts(task)
        write_text(task.folder / "error.txt", traceback.format_exc())
        first = str(error).strip().splitlines()
        return Outcome(task.name, error=f"{type(error).__name__}: {first[0] if first else 'see error.txt'}")
    finally:
        torch.set_num_threads(threads)


def attempts(task: Task) -> int:
    """How often a task was begun and neither ended nor stopped: its process was killed."""
    try:
        return int((task.folder / ATTEMPTS).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0


def forget_attempts(task: Task) -> None:
    """Count anew."""
    (task.folder / ATTEMPTS).unlink(missing_ok=True)


def killed(task: Task) -> Outcome:
    """The outcome of a task whose process was killed again and again."""
    forget_attempts(task)
    why = "its process was killed each time, by the system if memory ran out: make it smaller or lower --workers."
    return Outcome(task.name, error=f"begun {MOST_ATTEMPTS} times, and {why}")
