"""Run a study: every trial once, one process a core with one thread each, then its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from unbraid.api import fit
from unbraid.data import load
from unbraid.errors import InputError, unknown
from unbraid.papers.registry import STUDIES
from unbraid.papers.study import SCALES, Finished, Scale, Study, Trial
from unbraid.search.engine import executor, run_tasks
from unbraid.search.figures import seconds_of_training
from unbraid.search.tasks import Task
from unbraid.training.machine import Machine
from unbraid.util.files import read_json, write_json, write_text

# What follows this line in a result is written by hand and kept when the rest is made again.
NOTES = "<!-- written by hand from here on; kept when this page is made again -->"


def reproduce(
    name: str,
    scale: str = "desk",
    *,
    out: str | Path = "runs",
    results: str | Path = "docs/results",
    workers: int | None = None,
    on: str = "local",
    train: bool = True,
    show: bool = True,
    studies: Mapping[str, Study] | None = None,
) -> Path:
    """Run a study and write its page. Runs are the only state: finished ones are skipped, an interrupted one goes on.

    Args:
        name: PAPER/RESULT.
        scale: smoke (seconds), desk (hours) or paper (the paper's own).
        out: runs go to OUT/PAPER-RESULT/SCALE.
        results: the page goes to RESULTS/PAPER-RESULT.md; those of smoke and paper scale name their scale.
        workers: processes at a time; one a core by default.
        on: where to run: `local`, `ray` or `ray://HOST:PORT`.
        train: False writes the page from the runs that are finished, and says how many there should be.
        show: whether to show progress.
        studies: studies of your own, by name, in place of the built-in ones.

    Returns:
        The page's path.
    """
    known = STUDIES if studies is None else studies
    if name not in known:
        raise unknown("study", name, known)
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)
    study, chosen = known[name], cast(Scale, scale)
    folder, stem = Path(results), study.stem if chosen == "desk" else f"{study.stem}-{chosen}"
    path = folder / f"{stem}.md"
    notes(path)  # a file that is not such a page is refused before hours of training
    runs = Path(out) / study.stem / chosen
    if train:
        finished = run_trials(study, chosen, runs, workers=workers, on=on, show=show)
    else:
        finished = collect(study, chosen, runs)
    folder.mkdir(parents=True, exist_ok=True)
    title, rest = study.page(chosen, finished, folder, stem).rstrip().split("\n", 1)
    write_text(path, "\n".join([title, "", summary_line(study, chosen, finished), rest, "", notes(path)]))
    return path


def summary_line(study: Study, scale: Scale, finished: Sequence[Finished]) -> str:
    """The command of a page, how many of its runs there are, and what they took."""
    planned, minutes = len(study.trials(scale)), sum(one.seconds for one in finished) / 60
    count = f"{planned} runs" if len(finished) == planned else f"{len(finished)} of {planned} runs are finished"
    command = f"unbraid reproduce {study.name} --scale {scale}"
    return f"`{command}`: {count}, {minutes:.0f} minutes of training in all, one thread each."


def run_trials(
    study: Study, scale: Scale, folder: Path, *, workers: int | None = None, on: str = "local", show: bool = True
) -> list[Finished]:
    """Run every trial of a study that is not finished.

    Args:
        study: what to run.
        scale: smoke, desk or paper.
        folder: where runs go.
        workers: processes at a time; one a core by default.
        on: where to run: `local`, `ray` or `ray://HOST:PORT`.
        show: whether to show progress.

    Returns:
        All trials with their figures, in the study's order.
    """
    trials = list(study.trials(scale))
    for trial in {(t.data, repr(t.arguments)): t for t in trials}.values():
        load(trial.data, **trial.arguments)  # drawn or fetched once, before many processes want it
    where = executor(on, workers=workers)
    done: dict[str, Finished] = {}
    failed: dict[str, str] = {}
    for outcome in run_tasks(tasks(study, trials, folder), where, title=f"{study.name} ({scale})", show=show):
        if outcome.error:
            failed[outcome.name] = outcome.error
        else:
            done[outcome.name] = outcome.value
    if failed:
        name, sentence = next(iter(failed.items()))
        raise InputError(f"{len(failed)} of {len(trials)} runs of {study.name} failed; {name}: {sentence}")
    return [replace(done[trial.folder], folder=folder / trial.folder) for trial in trials]


def tasks(study: Study, trials: Sequence[Trial], folder: Path) -> list[Task]:
    """A task for each trial; one that takes a first stage over from another waits for it."""
    leading: dict[str, str] = {}
    found = []
    for trial in trials:
        stage = repr((trial.data, trial.arguments, trial.stages[0], trial.steps[0], trial.seed))
        leader = leading.setdefault(stage, trial.folder)
        work = partial(run_trial, trial=trial, measures=study.measures)
        found.append(Task(trial.folder, folder / trial.folder, work, None if leader == trial.folder else leader))
    return found


def collect(study: Study, scale: Scale, folder: Path) -> list[Finished]:
    """The trials that are finished and measured, in the study's order."""
    found = []
    for trial in study.trials(scale):
        path = folder / trial.folder / "figures.json"
        figures = read_json(path) if path.is_file() else {}
        if all(name in figures for name in study.measures):
            found.append(Finished(trial, path.parent, figures, seconds_of_training(path.parent)))
    if not found:
        raise InputError(f"no run of {study.name} is finished under {str(folder)!r}: reproduce it first.")
    return found


def run_trial(folder: Path, shared: None, trial: Trial, measures: Mapping[str, Any]) -> Finished:
    """Train unless it is trained, measure what is not measured yet. Trials of a study share no data set."""
    data = load(trial.data, **trial.arguments)
    run = fit(
        data,
        trial.stages,
        steps=trial.steps,
        seed=trial.seed,
        labels=trial.labels,
        held_out=trial.held_out,
        out=folder,
        machine=Machine("cpu", keep=trial.keep),
        show=False,
    )
    path = folder / "figures.json"
    figures: dict[str, float] = read_json(path) if path.is_file() else {}
    for name in measures:
        if name not in figures:
            figures[name] = float(measures[name](run))
            write_json(path, figures)
    return Finished(trial, folder, figures, seconds_of_training(folder))


def notes(path: Path) -> str:
    """The last part of a page: what somebody wrote by hand below the mark of an earlier one.

    Args:
        path: where the page is, or will be. A file without the mark is not such a page, and an `InputError`.

    Returns:
        The mark and the text below it.
    """
    before, mark, kept = (path.read_text(encoding="utf-8") if path.is_file() else "").partition(NOTES)
    if before.strip() and not mark:
        raise InputError(f"{str(path)!r} is there and was not written by unbraid; name another folder with --results.")
    return f"{NOTES}\n\n{kept.strip()}".rstrip() + "\n"
