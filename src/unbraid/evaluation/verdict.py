"""A verdict on a run in plain sentences, kept in verdict.json: is it any good, and what would make it better?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unbraid import metrics
from unbraid.errors import DataMissing
from unbraid.evaluation.evaluate import works_without_labels
from unbraid.evaluation.reconstruction import outputs, reconstructing
from unbraid.evaluation.table import steering_table
from unbraid.metrics import Table
from unbraid.metrics.usage import in_use
from unbraid.runs.codes import choose_rows
from unbraid.runs.count_scales import comparable
from unbraid.runs.directory import RunDirectory
from unbraid.util.files import read_json, write_json

FILE = "verdict.json"
ROWS = 1000  # observations whose reconstructions are compared with PCA's
LEAST_POINTS = 40  # of the loss, below which its course cannot be told from noise
AT_REST = 0.01  # part of the whole fall that a quarter of the training may still bring to a loss at rest
NOT_SLOWING = -1  # in place of a number of steps
Level = Literal["good", "note", "bad"]


@dataclass(frozen=True)
class Sentence:
    """One thing to know of a run: something good, something to know, or something to act upon."""

    level: Level
    text: str


def write_verdict(run: RunDirectory) -> list[Sentence]:
    """Judge a run, write verdict.json, and return the sentences."""
    found = list(sentences(run))
    write_json(run.folder / FILE, [asdict(sentence) for sentence in found])
    return found


def sentences(run: RunDirectory) -> Iterator[Sentence]:
    """Everything that can be said of a run, what matters most first; nothing where something cannot be told."""
    reads = run.chain.needs_labels and not works_without_labels(run)
    table = steering_table(run, run.codes(labels=reads, show=False))
    course = {number: steps_to_rest(*logged_loss(run.stage_folder(number) / "log.jsonl")) for number in judged(run)}
    remedy = remedies(adjustable=hasattr(run.config(1), "beta"), at_rest=course.get(1) == 0)
    if table.information is not None:
        yield latents_used(table, remedy)
    yield from still_falling(run, course)
    try:
        yield from against_pca(run, reads, remedy)
    except DataMissing:
        yield Sentence("note", "Reconstructions are not compared with PCA: the training data are not there.")
    yield from against_chance(run, table)
    yield Sentence("note", "These scores are of training data: new observations may do worse.")


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


def still_falling(run: RunDirectory, course: Mapping[int, int | None]) -> Iterator[Sentence]:
    """Whether the loss of each stage had come to rest, by the steps that it would have taken to."""
    for number, more in course.items():
        total = run.plan.stages[number - 1][1]
        where = f"The loss of stage {number}" if len(run.plan.stages) > 1 else "The loss"
        if more == 0:
            yield Sentence("good", f"{where} had come to rest.")
        elif more == NOT_SLOWING:
            yield Sentence("bad", f"{where} was still falling, and no slower: train {2 * total:,} steps or more.")
        elif more is not None:
            yield Sentence("bad", f"{where} was still falling: about {rounded(more):,} more steps would do.")


def logged_loss(path: Path) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Steps and total loss of a stage's first update; a step that was logged twice counts once, as last written."""
    values: dict[int, float] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        try:
            entry = json.loads(line)
        except ValueError:  # a killed run can leave half a line
            continue
        first = next((key for key in entry if key.endswith("/total")), None)
        if first is not None and isinstance(entry[first], int | float) and np.isfinite(entry[first]):
            values[int(entry["step"])] = float(entry[first])
    steps = sorted(values)
    return np.array(steps, dtype=float), np.array([values[step] for step in steps], dtype=float)


def steps_to_rest(steps: NDArray[np.float64], loss: NDArray[np.float64]) -> int | None:
    """How many more steps until a quarter of the training so far brings hardly anything.

    The falls from the second quarter of the training to the third, and from the third to the last, say how fast the
    fall slows down; it is taken to go on like that.

    Returns:
        0 at rest, `NOT_SLOWING` if there is no end to it, None if nothing can be told: of few points, or of a loss that
        rises, as those do whose weights grow.
    """
    if len(steps) < LEAST_POINTS:
        return None
    end = steps[-1]
    quarters = [loss[(steps > end * k / 4) & (steps <= end * (k + 1) / 4)] for k in range(4)]
    if min(map(len, quarters)) < LEAST_POINTS // 8:
        return None
    second, third, last = (float(quarter.mean()) for quarter in quarters[1:])
    earlier, fall = second - third, third - last
    noise = float(np.sqrt(spread(quarters[2]) ** 2 / len(quarters[2]) + spread(quarters[3]) ** 2 / len(quarters[3])))
    least = AT_REST * (float(loss[: max(1, len(loss) // 50)].mean()) - last)
    if fall < -3 * noise or least <= 0:
        return None
    if fall <= max(3 * noise, least):
        return 0
    ratio = fall / earlier if earlier > 0 else 1.0
    if ratio >= 0.95:
        return NOT_SLOWING
    return int(np.ceil(np.log(least / fall) / np.log(ratio) * end / 4))


def spread(values: NDArray[np.float64]) -> float:
    """The noise of a loss from step to step, without its trend."""
    return float(np.diff(values).std() / np.sqrt(2))


def rounded(count: int) -> int:
    """A number with one digit that counts.

    Example:
        >>> rounded(4321), rounded(87)
        (4000, 90)
    """
    return int(f"{float(f'{count:.0e}'):.0f}")


# Reconstructions


def against_pca(run: RunDirectory, reads_labels: bool, remedy: str) -> Iterator[Sentence]:
    """How much of the data's variance each stage's reconstructions leave, beside PCA with as many codes as are used."""
    n = int(run.plan.data["n"])
    rows = choose_rows(n, ROWS, run.plan.seed)
    numbers = reconstructing(run)
    if not numbers:
        return
    made = [comparable(run, output) for output in outputs(run, rows, show=False, labels=reads_labels)]
    x = flattened(comparable(run, run.data.observations[rows]))
    variance = float(((x - x.mean(axis=0)) ** 2).mean())
    if variance == 0:
        return
    found = run.codes(labels=reads_labels, show=False)
    for number in numbers:
        codes = sum(int(in_use(found.table(stage)).sum()) for stage in range(1, number + 1))
        error = x - flattened(made[number - 1])
        if run.preprocessing.counts:  # the logarithm of a rate lies above the mean logarithm of its counts
            error = error - error.mean(axis=0)
        left = float((error**2).mean()) / variance
        fair = len(rows) == n or codes <= len(rows) // 10  # PCA of few rows learns them by heart
        baseline = pca_error(x, codes) / variance if fair and 0 < codes < min(x.shape[1], len(rows) - 1) else None
        where = f" of stage {number}" if len(run.plan.stages) > 1 else ""
        yield reconstruction(left, baseline, codes, where, remedy if number == 1 else "train it longer")


def reconstruction(left: float, baseline: float | None, codes: int, where: str, remedy: str) -> Sentence:
    """What the parts of the variance that a model and PCA leave mean.

    Example:
        >>> reconstruction(0.2, 0.3, 10, "", "lower β").text
        'Reconstructions lose 20 % of the variance; PCA with as many codes (10) loses 30 %.'
    """
    said = f"Reconstructions{where} lose {left:.0%} of the variance".replace("%", " %")
    if left >= 0.995:
        return Sentence("bad", f"Reconstructions{where} are no better than the mean of the data: {remedy}.")
    if baseline is None:
        return Sentence("good" if left < 0.5 else "note", f"{said}; the mean of the data loses all of it.")
    other = f"PCA with as many codes ({codes}) loses {baseline:.0%}".replace("%", " %")
    if left > 1.1 * baseline:
        return Sentence("bad", f"{said}; {other}: {remedy}, or widen the network.")
    return Sentence("good", f"{said}; {other}.")


def flattened(observations: NDArray[Any]) -> NDArray[np.float64]:
    """Observations as rows of numbers, [n, value]."""
    return observations.reshape(len(observations), -1).astype(np.float64)


def pca_error(x: NDArray[np.float64], codes: int) -> float:
    """The mean squared error per value that PCA with so many codes leaves of the rows that it is computed from."""
    centred = x - x.mean(axis=0)
    smaller = centred @ centred.T if len(x) <= x.shape[1] else centred.T @ centred
    strengths = np.linalg.eigvalsh(smaller)[::-1]
    return float(max(0.0, strengths[codes:].sum()) / x.size)


# Scores


def against_chance(run: RunDirectory, table: Table) -> Iterator[Sentence]:
    """Whether MIG is above what codes that know nothing get, and how far it has come to what perfect codes get."""
    path = run.folder / "metrics.json"
    scores: Mapping[str, Any] = read_json(path) if path.is_file() else {}
    entry = scores.get("without-labels/mig", scores.get("mig"))
    if entry is None or entry.get("interval") is None or entry.get("value") is None:
        return
    if not entry.get("chance"):  # a file of before scores were calibrated
        entry = {**metrics.mig(table.varying(), replicates=0, calibrate=True).to_json(), **entry}
    chance, ceiling = float(entry["chance"]["mean"]), float(entry["ceiling"])
    low, high = (float(end) for end in entry["interval"])
    said = f"MIG is {float(entry['value']):.2f} ({low:.2f} to {high:.2f})"
    if low <= chance or entry["beyond_chance"] is False:
        yield Sentence("bad", f"{said}, no better than chance, which gives {chance:.2f} here.")
    else:
        yield Sentence("good", f"{said}; chance would give {chance:.2f}, perfect codes {ceiling:.2f}.")
