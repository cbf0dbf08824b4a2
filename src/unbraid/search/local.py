"""Tasks on this machine: loky's processes (joblib's), one a core, with one thread each."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
from joblib.externals.loky import get_reusable_executor

from unbraid.errors import Interrupted
from unbraid.search.tasks import MOST_ATTEMPTS, Outcome, Task, attempt, attempts, forget_attempts, killed

IDLE = 300  # seconds after which a process that has nothing to do ends
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


class LocalExecutor:
    """One process a core. Two with one thread each train 1.3 to 1.5 times the models of one with two threads."""

    def __init__(self, workers: int | None = None) -> None:
        self.slots = workers or joblib.cpu_count()
        self.place = "1 process" if self.slots == 1 else f"{self.slots} processes"

    def run(self, tasks: Iterable[Task | None], shared: Any) -> Iterator[Outcome]:
        """Run tasks; those whose process was killed go on in a new one, up to three times."""
        if self.slots == 1:  # in this process: nothing has to start
            yield from (attempt(task, shared) for task in tasks if task is not None)
            return
        supply, underway = Supply(tasks), dict[Future[Outcome], Task]()
        with shared_file(shared) as given:
            try:
                while True:
                    while len(underway) < self.slots and (task := supply.next(bool(underway))) is not None:
                        underway[self._submit(task, given)] = task
                    if not underway:
                        return
                    ended, _ = wait(underway, return_when=FIRST_COMPLETED)
                    broken = [one for one in ended if isinstance(one.exception(), BrokenProcessPool)]
                    for future in ended.difference(broken):
                        del underway[future]
                        yield future.result()
                    if broken:  # a killed process takes its neighbours with it
                        wait(underway)
                        left, underway = underway, {}
                        for future, task in left.items():
                            if future.exception() is None:
                                yield future.result()
                            elif attempts(task) >= MOST_ATTEMPTS:
                                yield killed(task)
                            else:
                                supply.again.append(task)
            except Interrupted:  # Ctrl-C reaches every process of a terminal; the others stop as well
                raise KeyboardInterrupt from None
            finally:
                if underway:  # stopped: what has been saved stays, what runs ends
                    self._pool().shutdown(wait=True, kill_workers=True)

    def _pool(self) -> Any:
        """The processes, which stay between searches; new ones where one was killed."""
        return get_reusable_executor(self.slots, timeout=IDLE, env=ONE_THREAD)

    def _submit(self, task: Task, given: Given) -> Future[Outcome]:
        try:
            return self._pool().submit(attempt_here, task, given)  # type: ignore[no-any-return]
        except BrokenProcessPool:  # a process was killed while it had nothing to do
            return self._pool().submit(attempt_here, task, given)  # type: ignore[no-any-return]


class Supply:
    """Tasks in their order, those that have to be begun again first."""

    def __init__(self, tasks: Iterable[Task | None]) -> None:
        self.tasks, self.again = iter(tasks), list[Task]()

    def next(self, others: bool) -> Task | None:
        """A task to begin now; None if there is none before one of the others that are underway has ended.

        What was there when a process was killed twice is tried alone, so that the one to blame is known.
        """
        careful = [task for task in self.again if attempts(task) >= MOST_ATTEMPTS - 1]
        ready = [task for task in self.again if task not in careful]
        chosen = ready[0] if ready else careful[0] if careful and not others else None
        if chosen is not None:
            self.again.remove(chosen)
            return chosen
        if careful:
            return None
        task = next(self.tasks, None)
        if task is not None:
            forget_attempts(task)
        return task


@dataclass(frozen=True)
class Given:
    """Where a process finds what all tasks share."""

    path: Path


_read: dict[Path, Any] = {}


@contextmanager
def shared_file(shared: Any) -> Iterator[Given]:
    """What all tasks share, in a file: arrays in it are mapped into the memory of every process, not copied."""
    with tempfile.TemporaryDirectory(prefix="unbraid-") as folder:
        path = Path(folder) / "shared.pickle"
        joblib.dump(shared, path)
        yield Given(path)


def attempt_here(task: Task, given: Given) -> Outcome:
    """Do a task in a process of the pool, which reads what is shared once."""
    if given.path not in _read:
        _read.clear()
        _read[given.path] = joblib.load(given.path, mmap_mode="c")
    return attempt(task, _read[given.path])
