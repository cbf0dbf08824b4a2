"""Moves the codes of one observation, given or of the data set, and names them: what `run.traverse` gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.errors import DataMissing, InputError, unknown
from unbraid.evaluation.pictures import code_ranges, shown_codes, shown_rows, traversal
from unbraid.explore.description import code_table
from unbraid.metrics import stage_prefix
from unbraid.metrics.usage import in_use
from unbraid.report.animation import Traversal, stage_captions
from unbraid.report.draw.order import by_information
from unbraid.runs.chain import Codes, means, unflat
from unbraid.runs.codes import CodeTable, distinct
from unbraid.runs.decoding import code_groups
from unbraid.runs.directory import RunDirectory
from unbraid.runs.kept_observations import some_observations
from unbraid.runs.new_data import read_new
from unbraid.util.names import named_columns, read_names


def move_codes(
    run: RunDirectory,
    x: Any = None,
    *,
    row: int | None = None,
    stage: int = 1,
    steps: int = 9,
    latents: Sequence[str] | str | None = None,
    labels: NDArray[Any] | None = None,
) -> Traversal:
    """What every stage from `stage` on makes of one observation as its codes are moved; see `Run.traverse`."""
    stages = len(run.plan.stages)
    if not 1 <= stage <= stages:
        raise InputError(f"stage must be 1 to {stages}, not {stage}.")
    if steps < 2:
        raise InputError(f"steps must be at least 2, not {steps}.")
    if x is not None and row is not None:
        raise InputError("x is an observation of your own and row one of the data set: give one of them.")
    table = code_table(run) if x is None else run.codes()
    base, original = own_start(run, x, labels) if x is not None else row_start(run, table, row)
    names = code_names(run, table, stage)
    chosen = chosen_codes(run, table, stage, names, latents)
    everything = latents is None
    places = None if everything else np.array(chosen, dtype=np.int64)
    values = code_ranges(table, stage, steps)
    made = traversal(run.chain, base, stage, values if places is None else values[places], places)
    if stage < stages and run.config(stages).replaces_codes:
        made = made[:-1]  # a student that has relearned the codes does not heed its teacher's
    return Traversal(
        tuple(made),
        tuple(names if everything else [names[j] for j in chosen]),
        tuple(chosen) if everything else (),
        stage_captions([config.title for config, _ in run.plan.stages], stage)[: len(made)],
        original,
        () if run.is_image else run.preprocessing.value_names,
    )


def own_start(run: RunDirectory, x: Any, labels: NDArray[Any] | None) -> tuple[list[Codes], NDArray[Any]]:
    """The codes of the first of the given observations, and the observation."""
    found = read_new(run, x)
    known = found.labels_for(run) if labels is None else labels
    first = next(run.new_batches(found.observations[:1], None if known is None else known[:1]))
    return [means(q) for q in run.chain.encode(*first)], found.observations[0]


def row_start(run: RunDirectory, table: CodeTable, row: int | None) -> tuple[list[Codes], NDArray[Any] | None]:
    """The codes of a row of the data set, out of the table, and the observation where it is at hand."""
    if row is None:  # the one that the report shows, if it was encoded
        pictured = shown_rows(int(run.plan.data["n"]))
        row = int(pictured[0] if pictured[0] in table.rows else table.rows[0])
    place = np.flatnonzero(table.rows == row)
    if not len(place):
        n = int(run.plan.data["n"])
        why = f"rows are 0 to {n - 1}" if not 0 <= row < n else "it is not among those that were encoded"
        raise InputError(f"there are no codes of row {row}: {why}.")
    base = []
    for number, like in enumerate(code_groups(run), 1):
        codes = torch.from_numpy(table.arrays[f"{stage_prefix(number)}codes"][place[:1]].copy())
        base.append(unflat(codes.to(run.device), like))
    return base, observation(run, row)


def observation(run: RunDirectory, row: int) -> NDArray[Any] | None:
    """A row of the data set, from what the run keeps or from the data; None where both are gone."""
    kept = some_observations(run)
    if kept is not None and (kept.rows == row).any():
        found: NDArray[Any] = kept.x[int(np.flatnonzero(kept.rows == row)[0])]
        return found
    try:
        return np.array(run.data.observations[row])
    except DataMissing:
        return None


def code_names(run: RunDirectory, table: CodeTable, stage: int) -> list[str]:
    """What the codes of a stage are called."""
    columns = [str(column) for column in table.arrays[f"{stage_prefix(stage)}columns"]]
    return distinct(columns, named_columns(columns, read_names(run.folder), stage))


def chosen_codes(
    run: RunDirectory, table: CodeTable, stage: int, names: Sequence[str], latents: Sequence[str] | str | None
) -> list[int]:
    """The codes to show: those named, by column or given name; else those in use, the most informative first."""
    own = table.table(stage)
    columns = list(own.columns)
    if latents is not None:
        wanted = [name.strip() for name in (latents.split(",") if isinstance(latents, str) else latents)]
        for name in wanted:
            if name not in columns and name not in names:
                raise unknown(f"latent of {run.config(stage).name}:", name, {*columns, *names})
        return [columns.index(name) if name in columns else names.index(name) for name in wanted]
    used = in_use(own)
    order = [j for j in by_information(own.information, len(columns)) if j in set(shown_codes(table, stage).tolist())]
    return [j for j in order if used[j]] or order
