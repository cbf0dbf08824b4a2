"""From what someone asked for to the plan of a run: names of methods, usual steps, a budget in minutes."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unbraid import methods
from unbraid.core import MethodConfig
from unbraid.data.factor_data import FactorData
from unbraid.data.held_out import HeldOut
from unbraid.data.label_budget import LabelBudget
from unbraid.errors import InputError
from unbraid.methods import budgets, recipes
from unbraid.methods.recipes import Traits
from unbraid.runs.budget import Budget, chain_sentence, folder_name, hours_ahead, plan_within
from unbraid.runs.directory import RunDirectory
from unbraid.runs.fit import check_stages
from unbraid.runs.held_out import begun_with
from unbraid.runs.plan import Plan
from unbraid.training.machine import Machine

_log = logging.getLogger("unbraid")


@dataclass(frozen=True)
class Request:
    """What `fit` was asked for; see there."""

    method: MethodConfig | str | Sequence[MethodConfig | str] | None
    steps: int | Sequence[int] | None
    minutes: float | Budget | None
    seed: int
    labels: LabelBudget | str | int | None
    out: str | Path | None
    machine: Machine | None
    held_out: HeldOut | float | None = None


@dataclass(frozen=True)
class Prepared:
    """What is going to be done: where, what, by which means, and how a budget has come to that."""

    folder: Path
    plan: Plan
    machine: Machine
    budget: Mapping[str, Any] | None = None


def prepare(data: FactorData, asked: Request, *, show: bool) -> Prepared:
    """The plan for what was asked for, or a sentence that says why it cannot be carried out.

    Args:
        data: what is going to be learned from.
        asked: stages, steps or minutes, and all else that `fit` takes.
        show: whether to say what was chosen, and whether it takes hours.
    """
    budget = asked.minutes
    if isinstance(budget, int | float):
        budget = Budget(budget, () if asked.method is None else "all")
    if budget is not None and asked.steps is not None:
        raise InputError("--minutes chooses the steps: leave --steps out.")
    configs, steps = stages_and_steps(data, asked)
    labels = asked.labels if isinstance(asked.labels, LabelBudget | None) else LabelBudget(asked.labels)
    held_out = asked.held_out
    if held_out is None and asked.out is not None:
        held_out = begun_with(Path(asked.out))
    plan = Plan.check(data, configs, steps, asked.seed, labels, held_out)
    by_table = asked.method is None or budget is not None
    machine = asked.machine or (Machine(precision="auto") if by_table else Machine())
    name = plan.default_name if budget is None else folder_name(plan, budget.minutes)
    run = RunDirectory(Path("runs") / name if asked.out is None else Path(asked.out), plan, data)
    if budget is not None:
        check_stages(run, machine)
        plan, facts = plan_within(budget, run, machine)
        say([str(facts["chosen"])] if show else [])
        return Prepared(run.folder, plan, machine, facts)
    if show:
        say([] if asked.method is not None else [chain_sentence(configs, steps)])
        say(hours_ahead(run, machine))
    return Prepared(run.folder, plan, machine)


def stages_and_steps(data: FactorData, asked: Request) -> tuple[list[MethodConfig], list[int]]:
    """The stages that were asked for and the steps of each, those that are usual where none were named."""
    traits = Traits.of(data)
    if asked.method is None:
        configs, usual = budgets.default_chain(traits), budgets.default_steps(traits, len(data))
    else:
        named = [asked.method] if isinstance(asked.method, MethodConfig | str) else asked.method
        starts = [methods.by_name(one) if isinstance(one, str) else one for one in named]
        configs = [one if isinstance(one, MethodConfig) else recipes.start(one, "fast", traits) for one in starts]
        usual = [budgets.STEPS] * len(configs)
    if asked.steps is None:
        return configs, usual
    if isinstance(asked.steps, int | np.integer):
        return configs, [int(asked.steps)] * len(configs)
    return configs, [int(count) for count in asked.steps]


def say(sentences: Sequence[str]) -> None:
    """Sentences for whoever waits."""
    for sentence in sentences:
        _log.warning("%s", sentence)
