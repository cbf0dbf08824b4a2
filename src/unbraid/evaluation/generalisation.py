"""What held-out observations tell of a run: whether it knows its training data by heart, and what scores are of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data.held_out import LEAST
from unbraid.evaluation.measure import LEAST_FOR_TABLES
from unbraid.evaluation.sentence import Sentence
from unbraid.metrics.keys import MetricKey
from unbraid.runs.held_out import is_own_record
from unbraid.runs.plan import Plan

Pairs = Mapping[int, tuple[NDArray[np.float64], NDArray[np.float64]]]  # errors of held-out and training rows, by stage
LITTLE = 0.01  # part of the variance: what is lost beside it, or more than by PCA, does not matter
CLEARLY = 1.2  # times the error of training data, from which on held-out data are reconstructed worse
LEAST_ROWS = 5  # of either part, below which nothing can be told
TINY = 1e-12  # in place of an error of 0
DEVIATIONS = 3  # of the difference between both, which it must be beyond


def is_overfitted(held_out: NDArray[np.float64], training: NDArray[np.float64]) -> bool:
    """Whether held-out observations are reconstructed clearly worse: by much, and by more than chance brings.

    Args:
        held_out: the error of each held-out observation, [n].
        training: the error of each observation of the training data, [m].

    Example:
        >>> errors = np.tile([1.0, 2.0], 50)
        >>> [is_overfitted(held_out, errors) for held_out in (1.5 * errors, 1.1 * errors, 3 * errors[:2])]
        [True, False, False]
    """
    if min(len(held_out), len(training)) < LEAST_ROWS:
        return False
    logs = [
        np.log(np.maximum(errors, TINY)) for errors in (held_out, training)
    ]  # of which a wild row does not spoil all
    noise = np.sqrt(sum(log.var(ddof=1) / len(log) for log in logs))
    worse = logs[0].mean() - logs[1].mean()
    return bool(worse > DEVIATIONS * noise and worse > np.log(CLEARLY))


def times_worse(held_out: NDArray[np.float64], training: NDArray[np.float64]) -> float:
    """How many times the error of training data a typical held-out observation has: the ratio of geometric means.

    Example:
        >>> round(times_worse(np.array([2.0, 8.0]), np.array([1.0, 4.0])), 6)
        2.0
    """
    return float(np.exp(np.log(np.maximum(held_out, TINY)).mean() - np.log(np.maximum(training, TINY)).mean()))


def row_errors(x: NDArray[np.float64], made: NDArray[Any]) -> NDArray[np.float64]:
    """The mean squared error of each observation, [n]."""
    errors: NDArray[np.float64] = ((x - flattened(made)) ** 2).mean(axis=1)
    return errors


def lagging(errors: Pairs) -> set[int]:
    """The stages with larger errors of held-out data, if only by chance."""
    return {number for number, pair in errors.items() if times_worse(*pair) > CLEARLY}


def overfitting(errors: Pairs) -> Iterator[Sentence]:
    """Which stages reconstruct held-out data clearly worse than what they were trained on.

    Args:
        errors: by stage, of held-out observations and of training data, in parts of the variance.
    """
    worse = {number: pair for number, pair in errors.items() if is_overfitted(*pair)}
    for number, (held_out, training) in worse.items():
        where = f"stage {number} has" if max(errors) > 1 else "the model has"
        times = times_worse(held_out, training)
        said = f"{times:.1f} times" if times < 100 else "more than 100 times"
        if float(held_out.mean()) < LITTLE:
            lost = percent(float(held_out.mean()))
            yield Sentence("good", f"Held-out data: {where} {said} the error of training data, {lost} of the variance.")
            continue
        yield Sentence(
            "bad",
            f"Overfitting: {where} {said} the error on held-out data that it has on training data: train "
            "fewer steps, take a smaller --width, or give it more data.",
        )
    unclear = {number: times_worse(*errors[number]) for number in sorted(lagging(errors) - set(worse))}
    for number, times in unclear.items():
        where = f" of stage {number}" if max(errors) > 1 else ""
        count = len(errors[number][0])
        yield Sentence(
            "note",
            f"Held-out errors{where} are {times:.1f} times those of training data, which {count} observations may be "
            "by chance.",
        )
    if not worse and not unclear:
        yield Sentence("good", "Held-out data are reconstructed as well as training data.")


def percent(part: float) -> str:
    """A part of the whole, with a digit more where it would be 0 %.

    Example:
        >>> percent(0.153), percent(0.0034)
        ('15 %', '0.3 %')
    """
    return f"{100 * part:.{0 if part >= LITTLE else 1}f} %"


def flattened(observations: NDArray[Any]) -> NDArray[np.float64]:
    """Observations as rows of numbers, [n, value]."""
    return observations.reshape(len(observations), -1).astype(np.float64)


def explained_by_pca(x: NDArray[np.float64], learned_from: NDArray[np.float64], codes: int) -> float:
    """The mean squared error per value that PCA with so many codes leaves of rows that it was not computed from.

    Args:
        x: the rows, [n, value].
        learned_from: other rows, from which mean and directions come, [m, value].
        codes: how many directions.

    Example:
        >>> line = np.outer(np.arange(5.0), [1.0, 1.0])
        >>> round(explained_by_pca(np.array([[1.0, 3.0]]), line, 1), 6)
        1.0
    """
    centre = learned_from.mean(axis=0)
    _, _, directions = np.linalg.svd(learned_from - centre, full_matrices=False)
    left = x - centre
    left = left - (left @ directions[:codes].T) @ directions[:codes]
    return float((left**2).mean())


def scores_are_of(plan: Plan, scores: Mapping[str, Any]) -> str:
    """What the scores of a run are of, in one sentence.

    Args:
        plan: the run's plan.
        scores: as in metrics.json.
    """
    if plan.held_out is None:
        few = is_own_record(plan) and int(plan.data["n"]) < LEAST
        why = f"{plan.data['n']} are too few to hold any out, and " if few else ""
        return f"These scores are of training data: {why}new observations may do worse."
    leading = {name: entry for name, entry in scores.items() if name != "_" and not MetricKey.parse(name).training}
    parts = {entry.get("of") for entry in leading.values()}
    said = f"{plan.held_out.count:,} held-out observations"
    if plan.held_out.by:
        said += f" (whole groups of {plan.held_out.by})"
    if "held-out" not in parts:
        return f"These scores are of training data: {said} are too few for them, and new ones may do worse."
    if "training" not in parts:
        return f"These scores are of held-out data: {said} that no training saw."
    return (
        f"Errors are of {said} that no training saw; scores of the codes are of training data, because fewer than "
        f"{LEAST_FOR_TABLES} held-out observations say little of them."
    )
