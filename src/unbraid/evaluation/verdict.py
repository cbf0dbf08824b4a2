"""A verdict on a run in plain sentences, kept in verdict.json: is it any good, and what would make it better?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid import metrics
from unbraid.errors import DataMissing
from unbraid.evaluation.evaluate import works_without_labels
from unbraid.evaluation.generalisation import (
    LITTLE,
    Pairs,
    explained_by_pca,
    flattened,
    is_overfitted,
    lagging,
    overfitting,
    percent,
    row_errors,
    scores_are_of,
)
from unbraid.evaluation.held_out_course import has_lost, turned, turning_point
from unbraid.evaluation.loss_course import NOT_SLOWING, logged_loss, steps_to_rest
from unbraid.evaluation.measure import MeasureOptions
from unbraid.evaluation.parts import chosen_rows, parts_of
from unbraid.evaluation.reconstruction import MEASURE as reconstruction_measure
from unbraid.evaluation.reconstruction import outputs, reconstructing
from unbraid.evaluation.scores_file import FILE as SCORES
from unbraid.evaluation.scores_file import read_scores
from unbraid.evaluation.sentence import Sentence
from unbraid.evaluation.table import steering_table
from unbraid.metrics import Table
from unbraid.metrics.usage import in_use
from unbraid.runs.codes import CodeTable
from unbraid.runs.count_scales import comparable
from unbraid.runs.directory import RunDirectory
from unbraid.runs.held_out import Part
from unbraid.util.files import write_json

FILE = "verdict.json"
ROWS = 1000  # observations whose reconstructions are compared with PCA's
NO_DATA = "Reconstructions are not compared with PCA: the training data are not there."


def write_verdict(run: RunDirectory) -> list[Sentence]:
    """Judge a run, write verdict.json, and return the sentences."""
    found = list(sentences(run))
    write_json(run.folder / FILE, [asdict(sentence) for sentence in found])
    return found


def sentences(run: RunDirectory) -> Iterator[Sentence]:
    """Everything that can be said of a run, what matters most first; nothing where something cannot be told."""
    reads = run.chain.needs_labels and not works_without_labels(run)
    found = run.codes(labels=reads, show=False)
    table = steering_table(run, found)
    course = {number: steps_to_rest(*logged_loss(run.stage_folder(number) / "log.jsonl")) for number in judged(run)}
    remedy = remedies(adjustable=hasattr(run.config(1), "beta"), at_rest=course.get(1) == 0)
    if table.information is not None:
        yield latents_used(table, remedy)
    try:
        compared, errors = against_pca(run, reads, remedy)
    except DataMissing:
        compared, errors = [Sentence("note", NO_DATA)], {}
    yield from still_falling(run, course, lagging(errors))
    yield from compared
    yield from overfitting(errors) if errors else ()
    scores = read_scores(run.folder / SCORES)
    yield from against_chance(run, found, scores)
    yield Sentence("note", scores_are_of(run.plan, scores))


# Latents


def remedies(*, adjustable: bool, at_rest: bool) -> str:
    """What may help a model that keeps too little: not more steps, where the loss is at rest.

    Example:
        >>> remedies(adjustable=True, at_rest=False), remedies(adjustable=False, at_rest=True)
        ('lower β or train longer', 'try another method or seed')
    """
    known = ["lower β"] * adjustable + ["train longer"] * (not at_rest)
    return " or ".join(known) or "try another method or seed"


def latents_used(table: Table, remedy: str) -> Sentence:
    """How many latents of the stage that steers the model carry information, and what to do about too few."""
    used, count = int(in_use(table).sum()), len(table.columns)
    if not used:
        return Sentence("bad", f"None of {count} latents is used, so the codes say nothing: {remedy}.")
    if used == 1 and count > 1:
        return Sentence("bad", f"1 of {count} latents is used: {remedy}.")
    if used == count:
        return Sentence("note", f"All {count} latents are used: more of them may find more.")
    return Sentence("good", f"{used} of {count} latents are used.")


# The course of the loss


def judged(run: RunDirectory) -> list[int]:
    """The stages whose loss has a meaning of its own: players that work against one another have none that falls."""
    return [number for number, (config, _) in enumerate(run.plan.stages, 1) if config.reconstructs]


def still_falling(run: RunDirectory, course: Mapping[int, int | None], behind: Collection[int]) -> Iterator[Sentence]:
    """Whether the loss of each stage had come to rest, by the steps that it would have taken to.

    Args:
        run: the run.
        course: of the loss of each stage, as `steps_to_rest` has it.
        behind: stages that have larger errors on held-out data, which more steps would not mend.
    """
    for number, more in course.items():
        total = run.plan.stages[number - 1][1]
        where = f"The loss of stage {number}" if len(run.plan.stages) > 1 else "The loss"
        best = None
        if more is not None:  # of one whose weights grow, held-out loss rises too
            steps, loss = logged_loss(run.stage_folder(number) / "log.jsonl", "held_out/total")
            best = turning_point(steps, loss)
        if best is not None:
            yield turned(where, best, total, harmed=has_lost(loss))
        elif more == 0:
            yield Sentence("good", f"{where} had come to rest.")
        elif more is not None and number in behind:
            yield Sentence("note", f"{where} was still falling, of training data; more steps may not help others.")
        elif more == NOT_SLOWING:
            yield Sentence("bad", f"{where} was still falling, and no slower: train {2 * total:,} steps or more.")
        elif more is not None:
            yield Sentence("bad", f"{where} was still falling: about {rounded(more):,} more steps would do.")


def rounded(count: int) -> int:
    """A number with one digit that counts.

    Example:
        >>> rounded(4321), rounded(87)
        (4000, 90)
    """
    return int(f"{float(f'{count:.0e}'):.0f}")


# Reconstructions


def against_pca(run: RunDirectory, reads_labels: bool, remedy: str) -> tuple[list[Sentence], Pairs]:
    """How much of the data's variance each stage's reconstructions leave, beside PCA with as many codes as are used.

    Of held-out data where there are enough, with PCA of training data; then also the errors of both parts, by stage, as
    parts of that variance.
    """
    n, numbers, said = int(run.plan.data["n"]), reconstructing(run), list[Sentence]()
    if not numbers:
        return said, {}
    part, *others = parts_of(run, reconstruction_measure)
    rows = some_rows(run, part)
    made = [comparable(run, output) for output in outputs(run, rows, show=False, labels=reads_labels)]
    x = flattened(comparable(run, run.data.observations[rows]))
    seen = some_rows(run, "training") if others else rows
    known = flattened(comparable(run, run.data.observations[seen])) if others else x
    variance = float(((x - known.mean(axis=0)) ** 2).mean())
    if variance == 0:
        return said, {}
    errors = {}
    if others:
        again = [comparable(run, output) for output in outputs(run, seen, show=False, labels=reads_labels)]
        of_rows = {n: (row_errors(x, made[n - 1]), row_errors(known, again[n - 1])) for n in numbers}
        errors = {number: (one / variance, other / variance) for number, (one, other) in of_rows.items()}
    found = run.codes(labels=reads_labels, show=False)
    for number in numbers:
        codes = sum(int(in_use(found.table(stage)).sum()) for stage in range(1, number + 1))
        error = x - flattened(made[number - 1])
        if run.preprocessing.counts:  # the logarithm of a rate lies above the mean logarithm of its counts
            error = error - error.mean(axis=0)
        left = float((error**2).mean()) / variance
        fair = bool(others) or len(rows) == n or codes <= len(rows) // 10  # PCA of few rows learns them by heart
        baseline = None
        if fair and 0 < codes < min(x.shape[1], len(seen) - 1):
            baseline = (explained_by_pca(x, known, codes) if others else pca_error(x, codes)) / variance
        where = f" of stage {number}" if len(run.plan.stages) > 1 else ""
        what = f"{where} of held-out data" if others else where
        cure = f"{remedy if number == 1 else 'train it longer'}, or widen the network"
        if number in errors and is_overfitted(*errors[number]):
            cure = "it has learned its training data by heart, see below"  # more of the same would make it worse
        said.append(reconstruction(left, baseline, codes, what, cure))
    return said, errors


def some_rows(run: RunDirectory, part: Part) -> NDArray[np.int64]:
    """A thousand rows of a part of the data."""
    return chosen_rows(run, MeasureOptions(part=part), ROWS)


def reconstruction(left: float, baseline: float | None, codes: int, where: str, cure: str) -> Sentence:
    """What the parts of the variance that a model and PCA leave mean.

    Example:
        >>> reconstruction(0.2, 0.3, 10, "", "lower β").text
        'Reconstructions lose 20 % of the variance; PCA with as many codes (10) loses 30 %.'
    """
    said = f"Reconstructions{where} lose {percent(left)} of the variance"
    if left >= 0.995:
        return Sentence("bad", f"Reconstructions{where} are no better than the mean of the data: {cure}.")
    if baseline is None:
        return Sentence("good" if left < 0.5 else "note", f"{said}; the mean of the data loses all of it.")
    other = f"PCA with as many codes ({codes}) loses {percent(baseline)}"
    if left > 1.1 * baseline and left - baseline > LITTLE:
        return Sentence("bad", f"{said}; {other}: {cure}.")
    return Sentence("good", f"{said}; {other}.")


def pca_error(x: NDArray[np.float64], codes: int) -> float:
    """The mean squared error per value that PCA with so many codes leaves of the rows that it is computed from."""
    centred = x - x.mean(axis=0)
    smaller = centred @ centred.T if len(x) <= x.shape[1] else centred.T @ centred
    strengths = np.linalg.eigvalsh(smaller)[::-1]
    return float(max(0.0, strengths[codes:].sum()) / x.size)


# Scores


def against_chance(run: RunDirectory, found: CodeTable, scores: Mapping[str, Any]) -> Iterator[Sentence]:
    """Whether MIG is above what codes that know nothing get, and how far it has come to what perfect codes get."""
    entry = scores.get("without-labels/mig", scores.get("mig"))
    if entry is None or entry.get("interval") is None or entry.get("value") is None:
        return
    if not entry.get("chance"):  # a file of before scores were calibrated
        table = steering_table(run, found.of(entry.get("of") or "all"))
        entry = {**metrics.mig(table.varying(), replicates=0, calibrate=True).to_json(), **entry}
    chance, ceiling = float(entry["chance"]["mean"]), float(entry["ceiling"])
    low, high = (float(end) for end in entry["interval"])
    said = f"MIG is {float(entry['value']):.2f} ({low:.2f} to {high:.2f})"
    if low <= chance or entry["beyond_chance"] is False:
        yield Sentence("bad", f"{said}, no better than chance, which gives {chance:.2f} here.")
    else:
        yield Sentence("good", f"{said}; chance would give {chance:.2f}, perfect codes {ceiling:.2f}.")
