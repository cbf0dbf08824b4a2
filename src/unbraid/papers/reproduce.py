"""Run a study: every trial once, one process a core with one thread each, then its page."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, cast

import torch
from joblib import Parallel, cpu_count, delayed

from unbraid.api import fit
from unbraid.data import load
from unbraid.errors import InputError, unknown
from unbraid.papers.registry import STUDIES
from unbraid.papers.study import SCALES, Finished, Scale, Study, Trial
from unbraid.training.log import read_log
from unbraid.training.machine import Machine
from unbraid.util.files import read_json, write_json, write_text
from unbraid.util.progress import Steps

# What follows this line in a result is written by hand and kept when the rest is made again.
NOTES = "<!-- written by hand from here on; kept when this page is made again -->"


def reproduce(
    name: str,
    scale: str = "desk",
    *,
    out: str | Path = "runs",
    results: str | Path = "docs/results",
    workers: int | None = None,
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
    finished = run_trials(study, chosen, runs, workers=workers, show=show) if train else collect(study, chosen, runs)
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
    study: Study, scale: Scale, folder: Path, *, workers: int | None = None, show: bool = True
) -> list[Finished]:
    """Run every trial of a study that is not finished.

    Args:
        study: what to run.
        scale: smoke, desk or paper.
        folder: where runs go.
        workers: processes at a time; one a core by default.
        show: whether to show progress.

    Returns:
        All trials with their figures, in the study's order.
    """
    trials = list(study.trials(scale))
    for trial in {(t.data, repr(t.arguments)): t for t in trials}.values():
        load(trial.data, **trial.arguments)  # drawn or fetched once, before many processes want it
    processes = min(workers or cpu_count(), len(trials))
    done: dict[str, Finished] = {}
    with (
        stopped_as_interrupt(),
        Steps(f"{study.name} ({scale}, {processes} processes)", len(trials), show=show) as bar,
    ):
        for wave in waves(trials):
            jobs = [delayed(run_trial)(trial, folder / trial.folder, study.measures) for trial in wave]
            for finished in Parallel(processes, return_as="generator_unordered")(jobs):
                done[finished.trial.folder] = finished
                bar.advance(len(done))
    return [done[trial.folder] for trial in trials]


def waves(trials: Sequence[Trial]) -> list[list[Trial]]:
    """First one trial for every first stage, then those that take such a stage over: none is trained twice at once."""
    first: dict[str, Trial] = {}
    for trial in trials:
        first.setdefault(repr((trial.data, trial.arguments, trial.stages[0], trial.steps[0], trial.seed)), trial)
    leading = list(first.values())
    following = [trial for trial in trials if trial not in leading]
    return [wave for wave in (leading, following) if wave]


def collect(study: Study, scale: Scale, folder: Path) -> list[Finished]:
    """The trials that are finished and measured, in the study's order."""
    found = []
    for trial in study.trials(scale):
        path = folder / trial.folder / "figures.json"
        figures = read_json(path) if path.is_file() else {}
        if all(name in figures for name in study.measures):
            found.append(Finished(trial, path.parent, figures, training_seconds(path.parent)))
    if not found:
        raise InputError(f"no run of {study.name} is finished under {str(folder)!r}: reproduce it first.")
    return found


@contextmanager
def stopped_as_interrupt() -> Iterator[None]:
    """Let SIGTERM end the processes of a study as Ctrl-C does; it would otherwise leave them behind, training on."""
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


def run_trial(trial: Trial, folder: Path, measures: Mapping[str, Any]) -> Finished:
    """Train unless it is trained, measure what is not measured yet."""
    torch.set_num_threads(1)
    data = load(trial.data, **trial.arguments)
    run = fit(
        data,
        trial.stages,
        steps=trial.steps,
        seed=trial.seed,
        labels=trial.labels,
        held_out=0.0,
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
    return Finished(trial, folder, figures, training_seconds(folder))


def training_seconds(folder: Path) -> float:
    """What all stages of a run took, by their logs: these count the time before an interruption too."""
    logs = [read_log(path) for path in sorted(folder.glob("stage-*/log.jsonl"))]
    return sum(float(log[-1]["seconds"]) for log in logs if log)


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
