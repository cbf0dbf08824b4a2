"""What is known of labels where a run needs them: rows with given codes, what a stage read, labels of new data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unbraid.core import MethodConfig
from unbraid.errors import InputError

if TYPE_CHECKING:
    from unbraid.runs.directory import Run


def rows_with_codes(run: Run, number: int) -> NDArray[np.int64] | None:
    """The rows whose codes the stages before `number` know; None: all. Where codes are labels, some may lack."""
    given = [config for config, _ in run.plan.stages[: number - 1] if config.codes_are_labels]
    lacking = [np.isnan(run.visible_labels[:, required_columns(run, config)]).any(axis=1) for config in given]
    if not lacking or not np.any(lacking):
        return None
    return np.flatnonzero(~np.any(lacking, axis=0))


def required_columns(run: Run, config: MethodConfig) -> list[int]:
    """Where the factors whose labels a stage cannot do without stand among the labels."""
    known = run.plan.labels.factors if run.plan.labels is not None else ()
    return [known.index(name) for name in config.required_labels(known)]


def labels_read(run: Run, number: int) -> dict[str, Any]:
    """For every table: whether a stage read labels, when, of how many observations and of which factors."""
    source, config, plan = run.training_data(number), run.plan.stages[number - 1][0], run.plan.labels
    if plan is None or not source.spec.labelled:
        return {"training": False, "test": config.encoder_needs_labels}
    count = len(source.labelled_rows) if config.needs_complete_labels else source.spec.labelled
    known: dict[str, Any] = {"count": count, "factors": [factor.name for factor in source.spec.factors]}
    known |= {"first": True} if plan.first else {}
    if config.encoder_needs_labels:  # a budget is for training: the encoder is given whatever labels there are
        needed = config.required_labels(plan.factors) if config.codes_are_labels else ()
        known["count_at_test"] = len(replace(plan, complete=needed).candidates(run.data))
    return {"training": True, "test": config.encoder_needs_labels} | known


def of_new(run: Run, n: int, labels: NDArray[Any] | None) -> NDArray[np.float32]:
    """Labels [n, factor] of observations that are not of the data set, checked; NaN where nothing is known."""
    names = () if run.plan.labels is None else run.plan.labels.factors
    table = np.full((n, len(names)), np.nan) if labels is None else np.asarray(labels, dtype=np.float64)
    if table.shape != (n, len(names)):
        raise InputError(f"labels must be {[n, len(names)]} ({', '.join(names)}), not {list(table.shape)}.")
    info = () if run.plan.labels is None else run.plan.labels.info(run.data)
    for factor, column in zip(info, table.T, strict=True):
        beyond = column[(column < 0) | (column >= factor.size)]
        if factor.size and len(beyond):
            raise InputError(f"labels of {factor.name} are 0 to {factor.size - 1}, not {beyond[0]:g}.")
    for config in (config for config, _ in run.plan.stages if config.codes_are_labels):
        columns = required_columns(run, config)
        if np.isnan(table[:, columns]).any():
            lacking = ", ".join(names[column] for column in columns)
            raise InputError(f"{config.name} takes its codes from labels: pass labels of {lacking} without gaps.")
    return table.astype(np.float32)
