"""The two parts of a run's data: what its stages are trained on, and what is held out of it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unbraid.data.factor_data import FactorData
from unbraid.data.held_out import LEAST, SHARE, HeldOut, HeldOutPlan
from unbraid.data.label_budget import NO_ROWS
from unbraid.runs.plan import Plan
from unbraid.runs.records import read_config
from unbraid.training.batches import TrainingData
from unbraid.util.schema import from_json

Part = Literal["all", "training", "held-out"]  # of the data set


def held_out_rows(plan: Plan, data: FactorData) -> NDArray[np.int64]:
    """The rows that no stage is trained on, in order. The same whenever it is asked for."""
    return NO_ROWS if plan.held_out is None else plan.held_out.rows(data, plan.seed)


def begun_with(folder: Path) -> HeldOut | None:
    """What a run that was begun in this folder holds out, if there is one: a repeated command goes on with that."""
    if not (folder / "config.json").is_file():
        return None
    saved = read_config(folder).get("held_out")
    plan = HeldOutPlan(0, 0.0) if saved is None else from_json(HeldOutPlan, saved)
    return HeldOut(plan.share, plan.by)


def watched_data(plan: Plan, number: int, source: TrainingData) -> TrainingData | None:
    """What stage `number` is watched on: the held-out rows with their labels; None where there are none.

    Where an earlier stage's codes are labels, nothing is known of them for rows whose labels were not shown.
    """
    if not len(source.held_out) or any(config.codes_are_labels for config, _ in plan.stages[: number - 1]):
        return None
    labels = np.full(source.labels.shape, np.nan)
    if plan.labels is not None and source.labels.shape[1]:
        labels[source.held_out] = source.data.factors[:, plan.labels.columns(source.data)][source.held_out]
    rest = (source.y, source.codes, source.factors, None, source.required)
    return TrainingData(source.data, labels, *rest, held_out=source.seen_rows)


def held_out_sentence(plan: Plan) -> str | None:
    """What there is to know before training of what it will not see; None where nobody would expect it."""
    n, held = int(plan.data["n"]), plan.held_out
    if held is not None:
        by = f", by whole groups of {held.by}" if held.by else ""
        return f"{held.count:,} of {n:,} observations are held out{by}; --held-out 0 trains on all."
    if is_own_record(plan) and n < LEAST:
        return (
            f"nothing is held out: {n} observations are too few for that (--held-out {SHARE:g} does it all the same)."
        )
    return None


def is_own_record(plan: Plan) -> bool:
    """Whether the plan's data are somebody's own: arrays, or loaded from a path."""
    return plan.data["arguments"] is None or Path(str(plan.data["name"])).is_absolute()
