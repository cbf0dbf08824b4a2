"""What codes know that they should not: classes in class-independent codes, factors in later stages, tied factors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unbraid import metrics
from unbraid.core import HasClasses
from unbraid.data.train_under import ties
from unbraid.evaluation.classes import labelled_variables
from unbraid.evaluation.downstream import encoded_later
from unbraid.evaluation.measure import LEAST_FOR_TABLES, Measure, MeasureOptions
from unbraid.evaluation.table import replaces_codes, steering_table
from unbraid.metrics import Score, Table
from unbraid.runs.directory import RunDirectory

FREE_OF_CLASS = "z"  # the group of codes that a method with classes keeps free of them


def compute(run: RunDirectory, names: Sequence[str], options: MeasureOptions, labels: bool) -> dict[str, Score]:
    """What class-independent codes know of the class, and the codes of later stages of the factors; with chance."""
    encoded = run.codes(labels=labels, show=options.show).of(options.part)
    table = encoded.table()
    scores: dict[str, Score] = {}
    if has_classes(run):
        wanted = {factor.name for factor in labelled_variables(run).values()}
        chosen = table.with_factors([k for k, name in enumerate(table.names) if name in wanted]).varying()
        free = [name for name in table.columns if name.startswith(FREE_OF_CLASS)]
        scores["leakage/class"] = metrics.leakage(chosen, latents=free, seed=run.plan.seed, calibrate=True)
    if has_later(run):
        z = np.concatenate([encoded.table(number).codes for number in encoded_later(run)], axis=1)
        later = Table.of(
            z.astype(np.float64), table.factors, names=table.names, kinds=table.kinds, sizes=table.sizes
        ).varying()
        scores["leakage/later"] = metrics.leakage(later, seed=run.plan.seed, calibrate=True)
    return scores


def has_classes(run: RunDirectory) -> bool:
    """Whether stage 1 keeps codes free of a class that labels know."""
    return isinstance(run.stage(1), HasClasses) and bool(run.label_factors) and bool(labelled_variables(run))


def has_later(run: RunDirectory) -> bool:
    """Whether a later stage finds codes beside stage 1's."""
    return len(run.plan.stages) > 1 and not replaces_codes(run) and bool(encoded_later(run))


def refusal(run: RunDirectory, name: str) -> str | None:
    """It needs factors, and codes that should not know all of them."""
    if not run.plan.data["factors"]:
        return f"{run.plan.data['name']} has no factors, so that nothing can be said to leak."
    if has_classes(run) or has_later(run):
        return None
    return f"{name} is of class-independent codes (parted-vae) or of later stages that encode; this run has neither."


def compute_tied(run: RunDirectory, names: Sequence[str], options: MeasureOptions, labels: bool) -> dict[str, Score]:
    """What the code of a factor knows of another that was tied to it in training, where they are independent."""
    table = steering_table(run, run.codes(labels=labels, show=options.show).of(options.part)).varying()
    pairs = [(tie.first, tie.second) for tie in ties(trained_under(run), table.names, run.plan.data["name"])]
    found = metrics.factor_leakage(table, pairs=pairs, seed=run.plan.seed, calibrate=True)
    return {f"factor_leakage/{way}": score for way, score in found.items()}


def trained_under(run: RunDirectory) -> str:
    """The ties between factors that training was under; empty for none."""
    return str((run.plan.data["arguments"] or {}).get("train_under") or "")


def refusal_tied(run: RunDirectory, name: str) -> str | None:
    """It needs a run that was trained under ties."""
    if trained_under(run):
        return None
    return f"{name} is for runs with --train-under; of any codes, call unbraid.metrics.factor_leakage."


MEASURE = Measure(("leakage",), compute, refusal, least_rows=LEAST_FOR_TABLES)
# Whoever trains under ties wants to know what they did.
TIED = Measure(("factor_leakage",), compute_tied, refusal_tied, is_free=True, least_rows=LEAST_FOR_TABLES)
