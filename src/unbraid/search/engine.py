"""Many tasks, somewhere: one interface, an engine for this machine and one for a Ray cluster behind it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, Protocol

from unbraid.errors import InputError
from unbraid.search.local import LocalExecutor
from unbraid.search.tasks import Executor, Outcome, Task
from unbraid.util.progress import Steps


def executor(on: str = "local", *, workers: int | None = None, cores: int = 1, gpus: float = 0.0) -> Executor:
    """The engine that `--on` names.

    Args:
        on: `local` (processes of this machine), `ray` (a cluster that is there, or one on this machine) or
            `ray://HOST:PORT`.
        workers: tasks at a time on this machine; as many as cores by default.
        cores: that each task needs, on a cluster.
        gpus: that each task needs, on a cluster; a share such as 0.25 lets four tasks use one.
    """
    if on == "local":
        return LocalExecutor(workers)
    if on == "ray" or on.startswith("ray://"):
        from unbraid.search.cluster import RayExecutor  # deferred: Ray is an extra

        return RayExecutor(None if on == "ray" else on, workers=workers, cores=cores, gpus=gpus)
    raise InputError(f"--on must be local, ray or ray://HOST:PORT, not {on!r}.")


def run_tasks(
    tasks: Sequence[Task], where: Executor, shared: Any = None, *, title: str, done: int = 0, show: bool = True
) -> Iterator[Outcome]:
    """Run all tasks, those that wait for another after it, and show how far they are.

    Args:
        tasks: what is to be done.
        where: the engine.
        shared: what every task is given; sent once, not with each.
        title: of the bar.
        done: how many were finished before.
        show: whether to show progress.

    Returns:
        Outcomes as they come. Ctrl-C and SIGTERM end the processes; what they have saved is kept.
    """
    queue = Queue(tasks)
    return follow_tasks(queue, where, shared, title=title, total=done + len(tasks), done=done, show=show)


class Tasks(Protocol):
    """Tasks that come about while others run, as an engine asks for them."""

    def __iter__(self) -> Iterator[Task | None]:
        """The next task; None if nothing can begin before one that is underway has ended."""
        ...

    def ended(self, outcome: Outcome) -> None:
        """Take note of an outcome before the next task is asked for."""
        ...


class Queue:
    """Tasks that are known from the start; one that waits for another comes when that one has ended."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.tasks, self.open = list(tasks), {task.name for task in tasks}

    def __iter__(self) -> Iterator[Task | None]:
        """The first that has not to wait: no shared stage is trained twice at once."""
        while self.tasks:
            place = next((i for i, task in enumerate(self.tasks) if task.after not in self.open), None)
            yield None if place is None else self.tasks.pop(place)

    def ended(self, outcome: Outcome) -> None:
        """Those that waited for it may begin, whatever became of it."""
        self.open.discard(outcome.name)


def follow_tasks(
    tasks: Tasks, where: Executor, shared: Any, *, title: str, total: int, done: int = 0, show: bool = True
) -> Iterator[Outcome]:
    """Run tasks as they come about; as `run_tasks` otherwise, with `total` as the number that is expected."""
    failed = 0
    with stopped_as_interrupt(), Steps(f"{title} ({where.place})", total, start=done, show=show) as bar:
        for outcome in where.run(tasks, shared):
            tasks.ended(outcome)
            done, failed = done + 1, failed + bool(outcome.error)
            running = max(0, min(where.slots, total - done))
            bar.advance(min(done, total), note=f"{done - failed} done, {running} running, {failed} failed")
            yield outcome


@contextmanager
def stopped_as_interrupt() -> Iterator[None]:
    """Let SIGTERM end the processes of a search as Ctrl-C does; it would otherwise leave them behind, training on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
