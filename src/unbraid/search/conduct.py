"""`search`: many runs of a data set, in a directory that a repeated call goes on with, and a choice among them."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from unbraid import methods
from unbraid.core import MethodConfig
from unbraid.data.factor_data import FactorData
from unbraid.data.held_out import HeldOut
from unbraid.data.label_budget import LabelBudget
from unbraid.data.load import load
from unbraid.errors import InputError
from unbraid.methods import recipes
from unbraid.runs.plan import Plan
from unbraid.search.agreement import NAMES as NEEDS_SEEDS
from unbraid.search.agreement import early_agreement
from unbraid.search.budget import earlier_steps, seconds_of_a_step, steps_for
from unbraid.search.data import SharedData
from unbraid.search.engine import Queue, Tasks, executor, follow_tasks
from unbraid.search.figures import FREE, check_measures
from unbraid.search.halving import Halving
from unbraid.search.precision import with_one_precision
from unbraid.search.results import PLAN, TRIALS, Search, check_search
from unbraid.search.space import Range, Values, settings, with_options
from unbraid.search.tasks import Executor, Task
from unbraid.search.trial import Trial, read_result, run_trial
from unbraid.training.machine import Machine
from unbraid.training.tracking import Service, check_service, prepare
from unbraid.util.files import check_folder, clean_partial, write_json
from unbraid.util.lock import locked
from unbraid.util.schema import to_json

_log = logging.getLogger("unbraid")
Methods = MethodConfig | str | Sequence[MethodConfig | str]


def search(
    data: FactorData | str | Path,
    method: Methods,
    *,
    vary: Mapping[str, Values] | None = None,
    random: int | None = None,
    then: Methods = (),
    seeds: int | Sequence[int] = 5,
    steps: int | Sequence[int] = 20_000,
    minutes: float | None = None,
    by: str = "udr",
    measures: Sequence[str] = (),
    halving: bool = False,
    options: Mapping[str, Any] | None = None,
    recipe: recipes.Recipe = "fast",
    labels: LabelBudget | str | int | None = None,
    held_out: HeldOut | float | None = None,
    out: str | Path | None = None,
    on: str | Executor = "local",
    workers: int | None = None,
    machine: Machine | None = None,
    keep_best: int | None = None,
    track: Sequence[str] = (),
    show: bool = True,
    command: str | None = None,
) -> Search:
    """Train every setting with every seed, measure each run, and say which to take.

    What the directory `out` already holds is kept: finished trials are skipped, interrupted ones go on, and a stage
    that several trials share is trained once. A setting that cannot work fails its own trials and no others.

    Args:
        data: a data set, the name of one, or a path.
        method: a configuration or name; several are compared with one another.
        vary: values or `Range`s by option: `{"beta": [1, 4], "factor-vae.gamma": [10], "2.latents": [5, 10]}`.
        random: how many settings to draw of the space; left out, the whole grid.
        then: the stages that follow the first one in every run.
        seeds: how many (0, 1, …), or which.
        steps: for all stages, or for each.
        minutes: that all trials may take together, in place of steps: as many steps as these allow here.
        by: the figure to choose by: `udr`, `udr_lasso`, `udr_active`, `stability`, `elbo`, `reconstruction`, `l2`, or
            any score that labels allow, such as `mig`.
        measures: further scores of each run.
        halving: train only the best third of the settings beyond a third of the steps, and so on down (ASHA). Early
            scores mislead, as docs/results/search-udr.md measures, so that it is off unless asked for.
        options: that all settings share, by name as in `vary`.
        recipe: where options start that a name leaves open: `fast` or `paper`.
        labels: how many labels methods may see.
        held_out: the part of the observations that no training sees, as in `fit`.
        out: the search's directory; `runs/search-…` by default.
        on: where to run: `local`, `ray`, `ray://HOST:PORT`, or an executor of your own.
        workers: processes at a time; as many as cores by default.
        machine: device, precision (`auto` is measured once, for all trials) and how often state is saved.
        keep_best: drop the weights of all but this many trials at the end.
        track: services that follow the trainings: tensorboard, mlflow, wandb, trackio.
        show: whether to show progress.
        command: the command that asked for it, for the record.

    Returns:
        The search: `best()` opens the run to take, `recommendation` says why, `to_pandas()` has every trial.

    Example:
        >>> import tempfile
        >>> found = search("pendulum", methods.VAE(likelihood="gaussian", width=0.05), vary={"latents": [2, 3]},
        ...                seeds=2, steps=2, out=tempfile.mkdtemp(), workers=1, show=False)
        >>> sorted(one.setting.name for one in found.settings)
        ['vae, latents 2', 'vae, latents 3']
        >>> found.best().plan.data["name"]
        'pendulum'
    """
    if not isinstance(data, FactorData):
        data = load(data)
    folder = Path(out) if out is not None else Path("runs") / f"search-{Path(data.name).stem}"
    check_folder(folder)
    where = executor(on, workers=workers) if isinstance(on, str) else on
    asked = held_out if isinstance(held_out, HeldOut | None) else HeldOut(float(held_out))
    if asked is not None:
        asked.resolve(data, 0)  # what is wrong with it is said before anything is written
    plan = plan_trials(data, method, vary or {}, random, then, seeds, steps, options or {}, recipe, labels)
    plan = [replace(trial, held_out=asked) for trial in plan]
    wanted = tuple(dict.fromkeys(name for name in (*measures, by) if name not in (*FREE, *NEEDS_SEEDS)))
    check_measures(wanted, data)
    for service in track:
        check_service(service)
    if halving and by not in NEEDS_SEEDS:
        raise InputError(
            f"--halving compares settings by {', '.join(NEEDS_SEEDS)}, not by {by}: leave one of them out."
        )
    if minutes is not None:
        plan = within_minutes(minutes, plan, data, where, folder)
    with locked(folder):
        place = with_one_precision(machine or Machine("cpu"), plan, data, folder / PLAN)
        begin(folder, data, plan, vary or {}, by, wanted, command, minutes, place.precision)
        shared = SharedData(data)
        services = [prepare(service, folder) for service in track]
        errors, stopped = carry_out(
            folder, plan, shared, wanted, where, place, halve_by=by if halving else None, track=services, show=show
        )
        found = Search(folder, plan, by, data, errors, stopped)
        found.write()
        found.report()
        if keep_best is not None:
            found.drop_weights(keep_best)
    return found


def plan_trials(
    data: FactorData,
    method: Methods,
    vary: Mapping[str, Values],
    random: int | None,
    then: Methods,
    seeds: int | Sequence[int],
    steps: int | Sequence[int],
    options: Mapping[str, Any],
    recipe: recipes.Recipe,
    labels: LabelBudget | str | int | None,
) -> list[Trial]:
    """All trials of a search, or a sentence that says why there are none."""
    traits = recipes.Traits.of(data)
    later = [started(one, recipe, traits) for one in listed(then)]
    chains = [[started(one, recipe, traits), *later] for one in listed(method)]
    if not chains:
        raise InputError("name at least one method.")
    chains = with_options(chains, options)
    numbers = list(range(seeds)) if isinstance(seeds, int) else [int(seed) for seed in seeds]
    if not numbers or min(numbers) < 0:
        raise InputError("--seeds must be at least 1, and no seed may be negative.")
    counts = [int(steps)] * len(chains[0]) if isinstance(steps, int) else [int(count) for count in steps]
    if len(counts) == 1:
        counts *= len(chains[0])
    budget = labels if isinstance(labels, LabelBudget | None) else LabelBudget(labels)
    for chain in chains:
        Plan.check(data, chain, counts, numbers[0], budget)  # what no setting can mend is said at once
    found = settings(chains, vary, random=random)
    return [Trial(setting, tuple(counts), seed, budget) for setting in found for seed in numbers]


def within_minutes(
    minutes: float, plan: Sequence[Trial], data: FactorData, where: Executor, folder: Path
) -> list[Trial]:
    """The trials with as many steps as the time allows; a repeated call keeps what the first one has chosen."""
    steps = earlier_steps(folder / PLAN, minutes)
    if steps is None:
        known: dict[str, float] = {}
        seconds = []
        for trial in plan:
            stages = trial.setting.stages
            if stages:
                name = "+".join(stage.name for stage in stages)
                known[name] = known.get(name) or seconds_of_a_step(data, stages, trial.labels)
                seconds.append(known[name])
        steps = steps_for(minutes, seconds, where.slots) if seconds else 1
        _log.info("%g minutes for %d trials: %s steps each", minutes, len(plan), f"{steps:,}")
    return [replace(trial, steps=(steps,) * len(trial.steps)) for trial in plan]


def listed(given: Methods) -> list[MethodConfig | str]:
    """One method or several as a list."""
    return [given] if isinstance(given, MethodConfig | str) else list(given)


def started(given: MethodConfig | str, recipe: recipes.Recipe, traits: recipes.Traits) -> MethodConfig:
    """A configuration as given, or as the recipe has it."""
    return recipes.start(methods.by_name(given), recipe, traits) if isinstance(given, str) else given


def begin(
    folder: Path,
    data: FactorData,
    plan: Sequence[Trial],
    vary: Mapping[str, Values],
    by: str,
    measures: Sequence[str],
    command: str | None,
    minutes: float | None = None,
    precision: str = Machine.precision,
) -> None:
    """Write search.json; a search on other data is left alone."""
    known = {"name": data.name, "fingerprint": data.fingerprint, "n": len(data), "shape": list(data.shape)}
    known["arguments"] = None if data.arguments is None else to_json(dict(data.arguments))
    known["factors"] = list(data.factor_names)
    check_search(folder, known)
    clean_partial(folder)
    described = {name: to_json(values) if isinstance(values, Range) else list(values) for name, values in vary.items()}
    trials = [
        {"name": trial.name, "setting": trial.setting.name, "values": dict(trial.setting.values), "seed": trial.seed}
        for trial in plan
        if not trial.setting.error
    ]
    write_json(
        folder / PLAN,
        {"format": 1, "data": known, "vary": described, "steps": list(plan[0].steps), "by": by, "minutes": minutes}
        | {"precision": precision, "measures": list(measures), "command": command, "trials": trials},
    )


def carry_out(
    folder: Path,
    plan: Sequence[Trial],
    shared: SharedData,
    measures: Sequence[str],
    where: Executor,
    machine: Machine,
    *,
    halve_by: str | None = None,
    track: Sequence[Service] = (),
    show: bool = True,
) -> tuple[dict[str, str], dict[str, int]]:
    """Run all trials that are not finished; with `halve_by` only those to the end whose setting is good early by it.

    Returns:
        The sentences of trials that failed, by their names; and the trials that were left early, with their steps.
    """
    trials = {trial.name: trial for trial in plan if not trial.setting.error}
    leading: dict[str, str] = {}
    leaders = {name: leading.setdefault(trial.first_stage, name) for name, trial in trials.items()}

    def place(trial: Trial) -> Path:
        return folder / TRIALS / trial.name

    def to_the_end(trial: Trial) -> Task | None:
        kept = read_result(place(trial))
        if kept is not None and set(measures) <= set(kept.figures):
            return None
        work = partial(run_trial, trial=trial, measures=measures, machine=machine, track=track)
        leader = leaders[trial.name]
        return Task(trial.name, place(trial), work, None if leader == trial.name else leader)

    supply: Tasks
    if halve_by is None:
        tasks = [task for task in map(to_the_end, trials.values()) if task is not None]
        supply, done, total = Queue(tasks), len(trials) - len(tasks), len(trials)
    else:
        groups: dict[str, list[Trial]] = {}
        for trial in trials.values():
            groups.setdefault(trial.setting.name, []).append(trial)
        supply = Halving(folder, groups, place, partial(early_agreement, by=halve_by), machine, to_the_end)
        done, total = 0, supply.expected
    errors: dict[str, str] = {}
    for outcome in follow_tasks(supply, where, shared, title="search", total=total, done=done, show=show):
        if outcome.error:
            errors[outcome.name] = outcome.error
            _log.warning("%s failed: %s", outcome.name, outcome.error)
    for sentence in dict.fromkeys(trial.setting.error for trial in plan if trial.setting.error):
        _log.warning("a setting cannot be: %s", sentence)
    return errors, supply.stopped if isinstance(supply, Halving) else {}
