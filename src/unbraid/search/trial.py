"""One trial of a search: a setting and a seed, trained and measured in a run directory of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unbraid import methods
from unbraid.api import Run, fit
from unbraid.data.held_out import HeldOut
from unbraid.data.label_budget import LabelBudget
from unbraid.errors import InputError
from unbraid.search.data import SharedData
from unbraid.search.figures import measure, seconds_of_training
from unbraid.search.space import Setting
from unbraid.training.machine import Machine
from unbraid.training.tracking import Service, tracked, trackers
from unbraid.util.files import read_json, write_json
from unbraid.util.schema import digest, to_json

RECORD = "trial.json"  # in a trial's run directory: only with it does the trial count as finished
FORMAT = 1


@dataclass(frozen=True)
class Trial:
    """All that determines one run of a search."""

    setting: Setting
    steps: tuple[int, ...]
    seed: int
    labels: LabelBudget | None = None
    held_out: HeldOut | None = None  # left out: a tenth of people's own data

    @property
    def name(self) -> str:
        """The name of its run directory: readable, and different for different settings."""
        return f"{'+'.join(stage.name for stage in self.setting.stages)}-{self.key[:6]}-seed{self.seed}"

    @property
    def key(self) -> str:
        """What identifies its setting, without the seed."""
        stages = [methods.describe(stage) for stage in self.setting.stages]
        return digest([stages, list(self.steps), *self._shown])

    @property
    def first_stage(self) -> str:
        """What identifies its first stage: trials that share it train it once."""
        return digest([methods.describe(self.setting.stages[0]), self.steps[0], self.seed, *self._shown])

    @property
    def _shown(self) -> list[Any]:
        """What trainings may see, as keys have it: searches of before anything could be held out keep theirs."""
        return [to_json(self.labels)] + ([] if self.held_out is None else [to_json(self.held_out)])


@dataclass(frozen=True)
class Result:
    """What a finished trial has come to."""

    figures: Mapping[str, float]
    seconds: float  # of training


def run_trial(
    folder: Path,
    shared: SharedData,
    trial: Trial,
    measures: Sequence[str],
    machine: Machine,
    track: Sequence[Service] = (),
) -> Result:
    """Train a trial unless it is trained, measure what is not measured yet, and write its record.

    Args:
        folder: its run directory.
        shared: the data set.
        trial: setting, steps and seed.
        measures: scores beyond those that every trial has, by name.
        machine: where to compute.
        track: services that follow its training.

    Returns:
        Its figures.
    """
    kept = read_result(folder)
    if kept is not None and set(measures) <= set(kept.figures):
        return kept
    known = {"setting": trial.setting.name, "seed": trial.seed, **trial.setting.values}
    with tracked(trackers(track, folder, known)):
        run = fit_trial(folder, shared, trial, machine)
    figures = {**(kept.figures if kept else {})}
    figures |= measure(run, [name for name in measures if name not in figures])
    result = Result(figures, seconds_of_training(folder))
    write_json(folder / RECORD, {"format": FORMAT, "key": trial.key, "seed": trial.seed} | dataclasses.asdict(result))
    return result


def fit_trial(folder: Path, shared: SharedData, trial: Trial, machine: Machine) -> Run:
    """The trained run of a trial."""
    return fit(
        shared.data,
        trial.setting.stages,
        steps=trial.steps,
        seed=trial.seed,
        labels=trial.labels,
        held_out=trial.held_out,
        out=folder,
        machine=machine,
        show=False,
    )


def read_result(folder: Path) -> Result | None:
    """The result of a finished trial; None where there is none, or a damaged one."""
    path = folder / RECORD
    if not path.is_file():
        return None
    try:
        record: Mapping[str, Any] = read_json(path)
        figures = {str(name): float("nan") if v is None else float(v) for name, v in record["figures"].items()}
        return Result(figures, float(record["seconds"]))
    except (InputError, KeyError, TypeError, ValueError, AttributeError):
        return None
