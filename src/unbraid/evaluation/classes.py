"""Classes that a method finds by itself: naming them, scoring them, and giving one observation's class to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid import metrics
from unbraid.core import HasClasses
from unbraid.data.factor_data import Factor
from unbraid.errors import DataMissing, InputError
from unbraid.evaluation.measure import LEAST_FOR_AVERAGES, Measure, MeasureOptions
from unbraid.evaluation.parts import rows_of
from unbraid.metrics import Score
from unbraid.runs.codes import choose_rows
from unbraid.runs.directory import RunDirectory
from unbraid.runs.held_out import Part
from unbraid.training.batches import as_stored

ROWS = 10_000


def class_method(run: RunDirectory) -> HasClasses:
    """Stage 1 as a method that finds classes, or an error that says that it does not."""
    method = run.stage(1)
    if not isinstance(method, HasClasses):
        raise InputError(f"{run.config(1).name} has no classes: this is for runs of parted-vae.")
    return method


def classify(run: RunDirectory, x: NDArray[Any]) -> list[NDArray[np.float32]]:
    """q(c | x) for each discrete variable of the run, [n, value]; x are stored as the data set's observations are."""
    method = class_method(run)
    with torch.inference_mode():
        parts = [method.classify(batch) for batch in run.inputs(x)]
    return [torch.cat(columns).cpu().numpy() for columns in zip(*parts, strict=True)]


def transfer(run: RunDirectory, content: NDArray[Any], style: NDArray[Any]) -> NDArray[Any]:
    """[content, style, …]: each of `content` with all but its class taken from each of `style` (PartedVAE, fig. 5)."""
    method = class_method(run)
    with torch.inference_mode():
        u = torch.cat([method.encode(batch)["u"].mean for batch in run.inputs(content)])
        z = torch.cat([method.encode(batch)["z"].mean for batch in run.inputs(style)])
        rows = [as_stored(method.decode({"u": one.expand(len(z), -1), "z": z})) for one in u]
    return np.stack(rows)


def class_scores(run: RunDirectory, rows: int = ROWS, part: Part = "all") -> dict[str, Score]:
    """How many observations q(c | x) names right, for each discrete variable: of those whose label was withheld.

    Where every label was shown in training there is nothing else to score, and the details say so. Without any labels
    classes are named as suits them best.
    """
    scores: dict[str, Score] = {}
    for variable, factor in labelled_variables(run).items():
        truth = run.data.column(factor.name)
        known = np.intersect1d(np.flatnonzero(~np.isnan(truth)), rows_of(run, part), assume_unique=True)
        if not len(known):
            continue
        withheld = known[np.isnan(run.visible_labels[known, variable])]
        seen = not len(withheld)
        candidates = known if seen else withheld
        chosen = candidates[choose_rows(len(candidates), rows, run.plan.seed)]
        guessed = classify(run, np.ascontiguousarray(run.data.observations[chosen]))[variable].argmax(1)
        score = metrics.class_accuracy(
            guessed, truth[chosen], naming="given" if is_taught(run, variable) else "best", seed=run.plan.seed
        )
        scores[f"class_accuracy/{factor.name}"] = replace(score, details={**score.details, "seen_in_training": seen})
    return scores


def labelled_variables(run: RunDirectory) -> dict[int, Factor]:
    """The discrete variables that a factor of the labels stands beside, with as many values, whether shown or not."""
    sizes, known = class_method(run).class_sizes, run.label_factors
    return {k: known[k] for k in range(min(len(sizes), len(known))) if known[k].size == sizes[k]}


def is_taught(run: RunDirectory, variable: int) -> bool:
    """Whether any label of this discrete variable was shown; else its classes have names by chance."""
    try:
        return not bool(np.isnan(run.visible_labels[:, variable]).all())
    except DataMissing:  # the stage knows whether it was shown any
        return bool((run.stage_record(1).get("labels") or {}).get("training"))


def class_names(run: RunDirectory, variable: int) -> tuple[str, tuple[str, ...]]:
    """What a discrete variable and its values are called: as the labels call them, where there are labels."""
    factor = labelled_variables(run).get(variable)
    if factor is not None and is_taught(run, variable):
        return factor.name, factor.values or tuple(map(str, range(factor.size)))
    return f"c{variable + 1}", tuple(map(str, range(class_method(run).class_sizes[variable])))


def compute(run: RunDirectory, names: Sequence[str], options: MeasureOptions, labels: bool) -> dict[str, Score]:
    """The accuracy of each discrete variable."""
    return class_scores(run, part=options.part)


def refusal(run: RunDirectory, name: str) -> str | None:
    """It needs classes, and a labelled factor to compare them with."""
    if not isinstance(run.stage(1), HasClasses):
        return f"{run.config(1).name} has no classes: class_accuracy is for runs of parted-vae."
    if not run.label_factors:
        return f"class_accuracy compares classes with labels, and {run.plan.data['name']} has none."
    if not labelled_variables(run):
        return "class_accuracy needs a labelled factor with as many values as there are classes."
    return None


MEASURE = Measure(("class_accuracy",), compute, refusal, reads_labels=False, least_rows=LEAST_FOR_AVERAGES)
