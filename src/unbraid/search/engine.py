"""Many tasks, somewhere: one interface, an engine for this machine and one for a Ray cluster behind it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

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
    total, failed = done + len(tasks), 0
    with stopped_as_interrupt(), Steps(f"{title} ({where.place})", total, start=done, show=show) as bar:
        for wave in waves(tasks):
            for outcome in where.run(wave, shared):
                done, failed = done + 1, failed + bool(outcome.error)
                running = min(where.slots, total - done)
                bar.advance(done, note=f"{done - failed} done, {running} running, {failed} failed")
                yield outcome


def waves(tasks: Sequence[Task]) -> list[list[Task]]:
    """First the tasks that wait for none of the others, then the rest: no shared stage is trained twice at once."""
    names = {task.name for task in tasks}
    first = [task for task in tasks if task.after not in names]
    rest = [task for task in tasks if task.after in names]
    return [wave for wave in (first, rest) if wave]


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
