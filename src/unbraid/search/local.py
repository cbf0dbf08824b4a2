"""Tasks on this machine: joblib's processes, one a core, with one thread each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from joblib import Parallel, cpu_count, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError

from unbraid.errors import Interrupted
from unbraid.search.tasks import MOST_ATTEMPTS, Outcome, Task, attempt, attempts, forget_attempts, killed


class LocalExecutor:
    """One process a core. Two with one thread each train 1.3 to 1.5 times the models of one with two threads."""

    def __init__(self, workers: int | None = None) -> None:
        self.slots = workers or cpu_count()
        self.place = "1 process" if self.slots == 1 else f"{self.slots} processes"

    def run(self, tasks: Sequence[Task], shared: Any) -> Iterator[Outcome]:
        """Run tasks; those whose process was killed go on in a new one, up to three times."""
        if self.slots == 1:  # in this process: nothing has to start
            for task in tasks:
                yield attempt(task, shared)
            return
        for task in tasks:
            forget_attempts(task)
        left = {task.name: task for task in tasks}
        while left:
            # A killed process takes its neighbours with it. What was there twice is tried alone, so that the one to
            # blame is known.
            alone = [task for task in left.values() if attempts(task) >= MOST_ATTEMPTS - 1]
            together = [task for task in left.values() if task not in alone]
            for group in (together, *([task] for task in alone)):
                for outcome in self._run_group(group, shared):
                    del left[outcome.name]
                    yield outcome

    def _run_group(self, group: Sequence[Task], shared: Any) -> Iterator[Outcome]:
        """Outcomes of tasks that run at a time; none of those that were underway when a process was killed."""
        jobs = [delayed(attempt)(task, shared) for task in group]
        done = set()
        try:
            # At least two: joblib would otherwise run the task in this very process.
            for outcome in Parallel(max(2, min(self.slots, len(jobs))), return_as="generator_unordered")(jobs):
                done.add(outcome.name)
                yield outcome
        except TerminatedWorkerError:
            yield from (killed(task) for task in group if task.name not in done and attempts(task) >= MOST_ATTEMPTS)
        except Interrupted:  # Ctrl-C reaches every process of a terminal; the others stop as well
            raise KeyboardInterrupt from None
