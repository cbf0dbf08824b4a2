"""Which labels a run's stages may read: rows with known codes, what a stage read, labels of new observations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.core import MethodConfig
from unbraid.data.factor_data import Factor, FactorData
from unbraid.data.pairs import Pairs
from unbraid.errors import InputError
from unbraid.runs.plan import Plan
from unbraid.training.batches import TrainingData
from unbraid.util.schema import from_json, to_json


def required_columns(plan: Plan, config: MethodConfig) -> list[int]:
    """The columns of the labels that a stage cannot do without."""
    known = plan.labels.factors if plan.labels is not None else ()
    return [known.index(name) for name in config.required_labels(known)]


def rows_with_codes(plan: Plan, number: int, visible: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """The rows whose codes the stages before `number` know; None: all. Where codes are labels, some may be missing.

    Args:
        plan: the run's plan.
        number: the stage that is to be trained, from 1.
        visible: the labels that training may see, [n, factor], NaN where missing or withheld.
    """
    earlier = [config for config, _ in plan.stages[: number - 1] if config.codes_are_labels]
    missing = [np.isnan(visible[:, required_columns(plan, config)]).any(axis=1) for config in earlier]
    if not missing or not np.any(missing):
        return None
    return np.flatnonzero(~np.any(missing, axis=0))


def labels_read(plan: Plan, number: int, source: TrainingData) -> dict[str, Any]:
    """For every table: whether a stage read labels, when, of how many observations and of which factors."""
    config, labels = plan.stages[number - 1][0], plan.labels
    if labels is None or not source.spec.labelled:
        return {"training": False, "test": config.encoder_needs_labels} | pairs_read(config)
    count = len(source.labelled_rows) if config.needs_complete_labels else source.spec.labelled
    known: dict[str, Any] = {"count": count, "factors": [factor.name for factor in source.spec.factors]}
    known |= {"first": True} if labels.first else {}
    if config.encoder_needs_labels:  # a budget is for training: the encoder is given whatever labels there are
        needed = config.required_labels(labels.factors) if config.codes_are_labels else ()
        known["count_at_test"] = len(replace(labels, complete=needed).candidates(source.data))
    return {"training": True, "test": config.encoder_needs_labels} | known


def pairs_read(config: MethodConfig) -> dict[str, Any]:
    """What a stage that learns from pairs was told by their choice: factors that stay, the order of rows, a column."""
    pairs = getattr(config, "pairs", None)
    return {"pairs": to_json(pairs)} if isinstance(pairs, Pairs) else {}


def labels_of_new(plan: Plan, factors: Sequence[Factor], n: int, labels: NDArray[Any] | None) -> NDArray[np.float32]:
    """Labels [n, factor] of observations that are not of the data set, checked; NaN where nothing is known."""
    names = [factor.name for factor in factors]
    table = np.full((n, len(names)), np.nan) if labels is None else np.asarray(labels, dtype=np.float64)
    if table.shape != (n, len(names)):
        raise InputError(f"labels must be {[n, len(names)]} ({', '.join(names)}), not {list(table.shape)}.")
    for factor, column in zip(factors, table.T, strict=True):
        beyond = column[(column < 0) | (column >= factor.size)]
        if factor.size and len(beyond):
            raise InputError(f"labels of {factor.name} are 0 to {factor.size - 1}, not {beyond[0]:g}.")
    for config in (config for config, _ in plan.stages if config.codes_are_labels):
        columns = required_columns(plan, config)
        if np.isnan(table[:, columns]).any():
            needed = ", ".join(names[column] for column in columns)
            raise InputError(f"{config.name} takes its codes from labels: pass labels of {needed} without gaps.")
    return table.astype(np.float32)


def label_factors(plan: Plan) -> tuple[Factor, ...]:
    """The factors whose labels the run's methods may see."""
    names = () if plan.labels is None else plan.labels.factors
    known = {str(given["name"]): given for given in plan.data["factors"]}
    return tuple(from_json(Factor, known[name]) for name in names)


def visible_labels(plan: Plan, data: FactorData, held_out: NDArray[np.int64]) -> NDArray[np.float64]:
    """The labels that training is shown, [n, factor]; NaN elsewhere. The same whenever it is asked for."""
    if plan.labels is None:
        return np.empty((len(data), 0))
    return plan.labels.visible(data, plan.seed, held_out)
