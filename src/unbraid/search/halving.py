"""Successive halving: settings that agree least after a part of the steps are not trained to the end."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from unbraid import api
from unbraid.errors import Interrupted
from unbraid.search.agreement import agreement
from unbraid.search.data import SharedData
from unbraid.search.engine import run_tasks
from unbraid.search.figures import codes_file, shared_codes
from unbraid.search.tasks import Executor, Task
from unbraid.search.trial import Trial, fit_trial
from unbraid.training import checkpoint
from unbraid.training.machine import Machine

FACTOR = 3  # of the settings one in so many goes on at each rung, with so many times the steps
LEAST = 2  # settings that always go on


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
    """How many of so many settings go on.

    Example:
        >>> promoted(9), promoted(4)
        (3, 2)
    """
    return max(LEAST, math.ceil(settings / FACTOR))


def halve(
    folders: Mapping[str, Path],
    plan: Sequence[Trial],
    shared: SharedData,
    by: str,
    where: Executor,
    machine: Machine,
    *,
    show: bool = True,
) -> dict[str, int]:
    """Train all settings to the first rung, the better ones to the next, and so on, short of the end.

    Decisions follow from codes that are on disk, so that a repeated command comes to the same ones; and a setting that
    goes on does so from its checkpoint, to the bits that it would have had without a pause.

    Args:
        folders: run directories by trial.
        plan: the trials.
        shared: the data set.
        by: what is compared: udr, udr_lasso or stability, as early as it is.
        where: the engine.
        machine: where to compute.
        show: whether to show progress.

    Returns:
        The trials that are not to go on, each with the step at which it was left.
    """
    left = {trial.setting.name: trial for trial in plan if not trial.setting.error}
    going, stopped = list(left), dict[str, int]()
    for step in rungs(plan[0].steps[0], len(going)):
        trials = [trial for trial in plan if trial.setting.name in going]
        paused = dataclasses.replace(machine, pause=step, keep=(*machine.keep, step))
        tasks = [
            Task(trial.name, folders[trial.name], partial(train_to, trial=trial, machine=paused)) for trial in trials
        ]
        failed = {
            one.name for one in run_tasks(tasks, where, shared, title=f"to step {step:,}", show=show) if one.error
        }
        scores = {}
        for name in going:
            own = [folders[trial.name] for trial in trials if trial.setting.name == name and trial.name not in failed]
            found = agreement(own, step)
            scores[name] = found[by].value if found else -math.inf
        order = sorted(going, key=lambda name: -scores[name])
        going = [name for name in going if name in order[: promoted(len(order))]]
        stopped |= {trial.name: step for trial in trials if trial.setting.name not in going}
    return stopped


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
