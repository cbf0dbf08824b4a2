"""Asynchronous successive halving: settings go on as soon as they are among the best third of those compared so far."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from unbraid import api
from unbraid.errors import Interrupted
from unbraid.search.data import SharedData
from unbraid.search.figures import codes_file, shared_codes
from unbraid.search.tasks import Outcome, Task
from unbraid.search.trial import Trial, fit_trial
from unbraid.training import checkpoint
from unbraid.training.machine import Machine
from unbraid.util.files import read_json, write_json
from unbraid.util.schema import digest

FACTOR = 3  # of the settings one in so many goes on at each rung, with so many times the steps
LEAST = 2  # settings that always go on
RECORD = "halving.json"  # in the search's directory: which settings went on from which step, in this order

Score = Callable[[Sequence[Path], int], float]  # of one setting's run directories after a step; more is better


def rungs(steps: int, settings: int) -> list[int]:
    """The steps at which settings are compared, the first one first.

    Example:
        >>> rungs(9000, 9), rungs(9000, 4), rungs(9000, 2)
        ([1000, 3000], [3000], [])
    """
    found: list[int] = []
    while settings > LEAST and (steps := steps // FACTOR) >= 1:
        found.insert(0, steps)
        settings = promoted(settings)
    return found


def promoted(settings: int) -> int:
    """How many of so many settings go on, once all of them have been compared.

    Example:
        >>> promoted(9), promoted(4)
        (3, 2)
    """
    return max(LEAST, math.ceil(settings / FACTOR))


class Halving:
    """Tasks of a search by ASHA's rule, as an engine asks for them.

    Whenever there is room, the setting that has come furthest among those that may go on does so: a setting may if it
    is in the best third of all that have reached its rung by now. If none may, the next setting begins. No setting
    waits for the slowest one. When a rung has all it will get, its best third goes on, at least two.

    Settings that go on are written down before they do, so that a repeated command goes on with the same ones. A
    setting that goes on does so from its checkpoint, to the bits that it would have had without a pause.

    Args:
        folder: the search's directory.
        groups: trials of each setting, one for each seed, by the setting's name.
        place: the run directory of a trial.
        score: what settings are compared by, as early as it is.
        machine: where to compute.
        finish: the task that trains a trial to its end and measures it; None if that is done.

    Reference:
        Li et al. 2020, A System for Massively Parallel Hyperparameter Tuning, algorithm 2.
    """

    def __init__(
        self,
        folder: Path,
        groups: Mapping[str, Sequence[Trial]],
        place: Callable[[Trial], Path],
        score: Score,
        machine: Machine,
        finish: Callable[[Trial], Task | None],
    ) -> None:
        self.record, self.groups, self.place, self.score = folder / RECORD, groups, place, score
        self.machine, self.finish = machine, finish
        first = next(iter(groups.values()), None)
        self.rungs = rungs(first[0].steps[0], len(groups)) if first else []
        # Settings that have not begun, in an order that has nothing to do with their values.
        self.new = sorted(groups, key=digest)
        self.reached: list[dict[str, float]] = [{} for _ in self.rungs]  # scores at each rung, by setting
        self.gone_on: list[dict[str, None]] = [{} for _ in self.rungs]  # from each rung, in their order
        self.waiting: list[tuple[Task, str, int]] = []  # tasks that may begin, with their setting and where it gets to
        self.underway: dict[str, tuple[str, int]] = {}
        self.open: dict[tuple[str, int], int] = {}  # tasks of a setting on its way to a rung that have not ended
        self.failed: set[str] = set()
        for rung, name in self._remembered():
            self.gone_on[rung][name] = None
        self._take_up()

    @property
    def expected(self) -> int:
        """How many tasks there will be if settings go on as they would without haste."""
        settings, seeds, total = len(self.groups), max(map(len, self.groups.values()), default=0), 0
        for _ in self.rungs:
            total, settings = total + settings * seeds, promoted(settings)
        return total + settings * seeds

    @property
    def stopped(self) -> dict[str, int]:
        """The trials that did not go on to the end, each with the step at which its setting was left."""
        found: dict[str, int] = {}
        for name, trials in self.groups.items():
            left = next((step for step, on in zip(self.rungs, self.gone_on, strict=True) if name not in on), None)
            found |= {} if left is None else {trial.name: left for trial in trials if trial.name not in self.failed}
        return found

    def __iter__(self) -> Iterator[Task | None]:
        """The next task; None while all that could begin waits for something underway."""
        while True:
            while not self.waiting and self._advance():
                pass
            if self.waiting:
                task, name, rung = self.waiting.pop(0)
                self.underway[task.name] = name, rung
                yield task
            elif self.underway:
                yield None
            else:
                return

    def ended(self, outcome: Outcome) -> None:
        """Count a task of a setting; with the last one its rung is reached, and it has a score."""
        name, rung = self.underway.pop(outcome.name)
        if outcome.error:
            self.failed.add(outcome.name)
        self._one_less(name, rung)

    def _take_up(self) -> None:
        """Count what an earlier command has left before anything is decided: the same whichever came first then."""
        for rung, step in enumerate(self.rungs):
            for name in [*self.new] if rung == 0 else [*self.gone_on[rung - 1]]:
                if all((self.place(trial) / codes_file(step)).is_file() for trial in self.groups[name]):
                    self._begin(name, rung)
                    if rung == 0:
                        self.new.remove(name)

    def _one_less(self, name: str, rung: int) -> None:
        self.open[name, rung] -= 1
        if not self.open[name, rung] and rung < len(self.rungs):
            there = [self.place(trial) for trial in self.groups[name] if trial.name not in self.failed]
            self.reached[rung][name] = self.score(there, self.rungs[rung])

    def _advance(self) -> bool:
        """Let one setting go on or begin, if one may."""
        for rung in reversed(range(len(self.rungs))):
            name = self._best_waiting(rung)
            if name is not None:
                if name not in self.gone_on[rung]:
                    self.gone_on[rung][name] = None
                    self._remember()
                self._begin(name, rung + 1)
                return True
        if self.new:
            self._begin(self.new.pop(0), 0)
            return True
        return False

    def _best_waiting(self, rung: int) -> str | None:
        """The setting that may go on from a rung and has not begun to."""
        here = self.reached[rung]
        begun = {name for name, to in self.open if to == rung + 1}
        for name in self.gone_on[rung]:  # as an earlier command has decided
            if name in here and name not in begun:
                return name
        # Whether nothing more will get here.
        whole = not self.new and not any(left for (_, to), left in self.open.items() if to <= rung)
        whole = whole and all(self._best_waiting(lower) is None for lower in range(rung))
        most = promoted(len(here)) if whole else len(here) // FACTOR
        best = sorted(here, key=lambda name: -here[name])[:most]
        return next((name for name in best if name not in begun), None)

    def _begin(self, name: str, rung: int) -> None:
        """Let the trials of a setting go on to a rung, the one after the last being the end of training."""
        tasks = []
        for trial in self.groups[name]:
            if trial.name in self.failed:
                continue
            if rung == len(self.rungs):
                task = self.finish(trial)
            else:
                paused = dataclasses.replace(
                    self.machine, pause=self.rungs[rung], keep=(*self.machine.keep, *self.rungs[: rung + 1])
                )
                task = Task(trial.name, self.place(trial), partial(train_to, trial=trial, machine=paused))
                task = None if (task.folder / codes_file(self.rungs[rung])).is_file() else task
            tasks += [] if task is None else [task]
        self.open[name, rung] = len(tasks) + 1
        self.waiting += [(task, name, rung) for task in tasks]
        self._one_less(name, rung)

    def _remember(self) -> None:
        write_json(self.record, {"format": 1, "rungs": self.rungs, "gone_on": [list(on) for on in self.gone_on]})

    def _remembered(self) -> Iterator[tuple[int, str]]:
        record = read_json(self.record) if self.record.is_file() else {}
        if isinstance(record, dict) and record.get("rungs") == self.rungs:
            for rung, names in enumerate(record["gone_on"]):
                yield from ((rung, name) for name in names if name in self.groups)


def train_to(folder: Path, shared: SharedData, trial: Trial, machine: Machine) -> None:
    """Train a trial to the step at which it is to pause, and keep the codes that it has then."""
    step = machine.pause
    assert step is not None
    if (folder / codes_file(step)).is_file():
        return
    if step not in checkpoint.kept(folder / "stage-1"):
        try:
            fit_trial(folder, shared, trial, machine)
        except Interrupted:
            if step not in checkpoint.kept(folder / "stage-1"):
                raise
    more = [type(stage) for stage in trial.setting.stages]
    shared_codes(api.open(folder, shared.data, more), step)
