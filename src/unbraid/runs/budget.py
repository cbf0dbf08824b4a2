"""A budget in minutes: a few steps of every stage are measured, and what fits is chosen from the table of budgets.

The choice is made once and stands in config.json, so that a run that is taken up again is the same run.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from unbraid import methods
from unbraid.core import MethodConfig
from unbraid.errors import InputError
from unbraid.methods.budgets import Stage, lighter, stages_for
from unbraid.methods.recipes import Traits
from unbraid.runs.directory import ENCODED_ROWS, RunDirectory
from unbraid.runs.plan import Plan
from unbraid.runs.records import read_config
from unbraid.training.loop import Job
from unbraid.training.machine import Machine
from unbraid.training.pace import Pace, measure
from unbraid.util.schema import digest

MEASURING = 0.02  # part of a budget that the steps of one stage are measured for
SHORTEST_MEASURE, LONGEST_MEASURE = 0.5, 15.0  # seconds
# What comes beside the steps: logs, averages of weights, checkpoints, turns of codes.
OVERHEAD = 1.05
# After training: the page and other things that hardly depend on the data, in seconds of a machine that does nothing
# else; and passes over the data for y, codes and errors, as parts of what training takes for as many observations.
PAGE_SECONDS, PASS_SHARE, SCORED_ROWS = 15.0, 0.3, 10_000
HOUR = 3600.0
WORTH_MEASURING = 1000  # steps from which it is looked whether they take hours
Measure = Callable[[int, MethodConfig], Pace]  # of a stage, from 1, in one of its forms


@dataclass(frozen=True)
class Budget:
    """A number of minutes for a run, from reading the data to the page.

    Attributes:
        minutes: how many.
        keep: options that are to stay as they are (`width`, `2.width` of the second stage), or all of them.
        began: when the minutes began, by `time.monotonic`.

    Example:
        >>> Budget(10, keep=("beta", "2.width")).kept(2)
        ['beta', 'width']
    """

    minutes: float
    keep: tuple[str, ...] | Literal["all"] = "all"
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        """Refuse what is no time."""
        if not 0 < self.minutes < math.inf:
            raise InputError(f"--minutes must be greater than 0, not {self.minutes:g}.")

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self.began + 60 * self.minutes - time.monotonic()

    def kept(self, number: int) -> list[str]:
        """The options of stage `number` that are to stay as they are."""
        return [name.removeprefix(f"{number}.") for name in self.keep]

    def forms(self, configs: Sequence[MethodConfig], tried: Sequence[Stage]) -> list[list[MethodConfig]]:
        """Every stage as it was asked for and then, where that is allowed, ever lighter."""
        if self.keep == "all":
            return [[config] for config in configs]
        stages = enumerate(zip(configs, tried, strict=True), 1)
        return [[config, *lighter(config, line, self.kept(number))] for number, (config, line) in stages]


@dataclass(frozen=True)
class Choice:
    """One stage as it fits into a budget."""

    config: MethodConfig
    steps: int
    pace: Pace

    @property
    def seconds(self) -> float:
        """What its training is expected to take."""
        return self.steps * self.pace.step * OVERHEAD

    def __str__(self) -> str:
        width = f", width {self.config.width:g}" if hasattr(self.config, "width") else ""
        return (
            f"{self.config.name} {self.steps:,} steps{width}, batches of {self.config.batch_size} "
            f"({1000 * self.pace.step:.3g} ms each, {duration(self.seconds)})"
        )


def choose(
    forms: Sequence[Sequence[MethodConfig]],
    tried: Sequence[Stage],
    rows: int,
    left: Callable[[], float],
    measured: Measure,
) -> list[Choice]:
    """Divide a budget among stages: the first of the forms of each that has time for enough steps, and how many.

    Args:
        forms: of every stage, as it was asked for and then ever lighter.
        tried: what the table says of every stage.
        rows: observations in the data set.
        left: tells the seconds that are left for training and all that follows.
        measured: tells the pace of a stage in one of its forms.

    Returns:
        A choice for every stage. What one stage cannot use falls to those after it.
    """
    paces = [measured(number, stage[0]) for number, stage in enumerate(forms, 1)]
    seconds = left() - seconds_after([(stage[0], pace) for stage, pace in zip(forms, paces, strict=True)], rows)
    chosen: list[Choice] = []
    for number, (stage, line, pace) in enumerate(zip(forms, tried, paces, strict=True), 1):
        part = max(seconds, 0.0) * line.share / sum(later.share for later in tried[number - 1 :])
        config = stage[0]
        for form in stage[1:]:
            if part >= line.least * pace.step * OVERHEAD:
                break
            config, pace = form, measured(number, form)
        steps = rounded_down(part / (pace.step * OVERHEAD))
        chosen.append(Choice(config, line.within(steps, rows, config.batch_size), pace))
        seconds -= chosen[-1].seconds
    return chosen


def seconds_after(stages: Sequence[tuple[MethodConfig, Pace]], rows: int) -> float:
    """Seconds that codes, scores and the page of a data set with so many rows are expected to take."""
    passes = min(rows, ENCODED_ROWS) + min(rows, SCORED_ROWS)
    page = PAGE_SECONDS * max(pace.busy for _, pace in stages)
    return page + sum(PASS_SHARE * passes * pace.step / config.batch_size for config, pace in stages)


def plan_within(budget: Budget, asked: RunDirectory, machine: Machine) -> tuple[Plan, Mapping[str, Any]]:
    """The plan of a run that is to be done in some minutes, and what config.json is to say of that.

    Args:
        budget: how many minutes, since when.
        asked: the run with its stages as they were asked for and any number of steps.
        machine: where to compute.
    """
    minutes, rows = budget.minutes, len(asked.data)
    key = request_key(asked.plan, minutes)
    there = kept_plan(asked, key)
    if there is not None:
        return there
    configs = [config for config, _ in asked.plan.stages]
    tried = stages_for(configs, Traits.of(asked.data))
    measured = measurer(asked, machine, min(max(MEASURING * 60 * minutes, SHORTEST_MEASURE), LONGEST_MEASURE))
    chosen = choose(budget.forms(configs, tried), tried, rows, lambda: budget.left, measured)
    after = seconds_after([(choice.config, choice.pace) for choice in chosen], rows)
    if min(choice.steps for choice in chosen) < 1:
        least = math.ceil((60 * minutes - budget.left + after + 30 * len(chosen)) / 60)
        raise InputError(f"{minutes:g} minutes are too few to learn anything here: pass --minutes {least} or more.")
    plan = replace(asked.plan, stages=tuple((choice.config, choice.steps) for choice in chosen))
    stages = [{"seconds_per_step": choice.pace.step, "precision": choice.pace.precision} for choice in chosen]
    unused = budget.left - after - sum(choice.seconds for choice in chosen)
    return plan, {"minutes": minutes, "key": key, "stages": stages, "chosen": sentence(minutes, chosen, unused)}


def sentence(minutes: float, chosen: Sequence[Choice], unused: float) -> str:
    """What was chosen, in words; and where much of the budget is not used, why."""
    units = "minute" if minutes == 1 else "minutes"
    said = f"{minutes:g} {units}: {'; '.join(map(str, chosen))}; then codes, scores and the page."
    if unused > 0.2 * 60 * minutes:
        said += f" More steps brought nothing where it was tried, so that {duration(unused)} of it are left over."
    return said


def request_key(asked: Plan, minutes: float) -> str:
    """What identifies a run that was asked for by its minutes, whatever was then measured."""
    return digest(asked.to_json() | {"minutes": minutes})


def folder_name(asked: Plan, minutes: float) -> str:
    """The directory's name where none is given: the same for the same request."""
    chain = "+".join(config.name for config, _ in asked.stages)
    data = Path(str(asked.data["name"])).stem
    return f"{data}-{chain}-{minutes:g}min-seed{asked.seed}-{request_key(asked, minutes)[:6]}"


def kept_plan(asked: RunDirectory, key: str) -> tuple[Plan, Mapping[str, Any]] | None:
    """What was chosen when this run began; None where it has not."""
    if not (asked.folder / "config.json").is_file():
        return None
    there = read_config(asked.folder)
    budget = there.get("budget") or {}
    if budget.get("key") != key:
        begun = f"of {budget['minutes']:g} minutes" if budget else "begun without --minutes"
        raise InputError(f"{str(asked.folder)!r} holds another run, {begun}: choose another --out or delete it.")
    more = [type(config) for config, _ in asked.plan.stages]
    stages = tuple((methods.restore(stage, more), int(stage["steps"])) for stage in there["stages"])
    return replace(asked.plan, stages=stages), budget


def measurer(run: RunDirectory, machine: Machine, seconds: float) -> Measure:
    """Tells the pace of any form of a run's stages. Observations stand in for y: how long a step takes is the same."""

    def pace(number: int, config: MethodConfig) -> Pace:
        if config.uses_codes:
            raise InputError(
                f"{config.name} works on codes that stage {number - 1} has yet to find, so that its steps cannot be "
                "measured: pass --steps in place of --minutes."
            )
        source = run.training_data(number, run.data.observations if number > 1 else None)
        return measure(Job(config, source, 1, run.plan.seed, "", run.stage_folder(number)), machine, seconds)

    return pace


def chain_sentence(configs: Sequence[MethodConfig], steps: Sequence[int]) -> str:
    """What the table of tried chains has named, in words.

    Example:
        >>> chain_sentence([methods.BetaTCVAE(), methods.MSVAE()], [6000, 2600])
        'no method is named, so it is beta-tcvae (6,000 steps), then ms-vae (2,600 steps): see --minutes and --steps.'
    """
    stages = ", then ".join(f"{config.name} ({count:,} steps)" for config, count in zip(configs, steps, strict=True))
    return f"no method is named, so it is {stages}: see --minutes and --steps."


def hours_ahead(run: RunDirectory, machine: Machine) -> list[str]:
    """A sentence on a training that is going to take hours, by a few of its steps; nothing on a shorter one.

    Nothing either on a run that goes on: whoever began it was told.
    """
    if max(steps for _, steps in run.plan.stages) < WORTH_MEASURING or (run.folder / "config.json").exists():
        return []
    pace = measurer(run, machine, SHORTEST_MEASURE)
    known = [(n, config, steps) for n, (config, steps) in enumerate(run.plan.stages, 1) if not config.uses_codes]
    seconds = sum(pace(number, config).step * steps * OVERHEAD for number, config, steps in known)
    if seconds < HOUR:
        return []
    return [
        f"at the pace of its first steps this takes about {duration(seconds)}: --minutes 10 (or 60) chooses what fits "
        "into so many, and --steps takes fewer."
    ]


def rounded_down(steps: float) -> int:
    """A number of steps with two digits that count.

    Example:
        >>> rounded_down(12_437.5), rounded_down(87.9)
        (12000, 87)
    """
    whole = max(int(steps), 0)
    unit = int(10 ** max(len(str(whole)) - 2, 0))
    return whole // unit * unit


def duration(seconds: float) -> str:
    """A time as people say it.

    Example:
        >>> duration(42), duration(250), duration(5 * 3600)
        ('42 seconds', '4.2 minutes', '5 hours')
    """
    if seconds < 100:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.2g} minutes" if seconds < 100 * 60 else f"{seconds / 3600:.2g} hours"
