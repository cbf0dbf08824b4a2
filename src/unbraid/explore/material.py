"""Observations that graphs are traced with and that the page shows: the run's own, or what stands for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid.runs.codes import CodeTable
from unbraid.runs.decoding import decode_codes
from unbraid.runs.directory import RunDirectory
from unbraid.runs.kept_observations import MOST, KeptObservations, some_observations
from unbraid.util.seeds import mix

NO_PICTURES = (
    "The training data are not there, and this run was made before runs kept observations of them: "
    "the map has no pictures."
)


@dataclass(frozen=True)
class Material:
    """Some observations beside their places in a table of codes."""

    x: NDArray[Any]  # stored as the data set stores them
    places: NDArray[np.int64]  # in the table
    labels: NDArray[np.float64] | None  # what encoders may read of them, [n, factor]
    is_real: bool  # or made by the model from codes, where no observation is left

    def inputs(self, run: RunDirectory, count: int | None = None) -> Tensor:
        """The first of them as networks see them."""
        return torch.cat(list(run.inputs(self.x[:count])))

    def label_inputs(self, run: RunDirectory, count: int | None = None) -> Tensor | None:
        """What is known of their labels, for encoders that read them."""
        if self.labels is None:
            return None
        return torch.from_numpy(self.labels[:count].astype(np.float32)).to(run.device)


def gather_material(run: RunDirectory, table: CodeTable) -> Material:
    """Up to 200 observations: those that the run keeps, else of its data, else what it makes of codes in the table."""
    found = some_observations(run)
    if found is None:
        chosen = np.random.default_rng(mix(run.plan.seed, "explore")).permutation(len(table.rows))[:MOST]
        return from_codes(run, table, np.sort(chosen))
    return matched(run, table, found)


def matched(run: RunDirectory, table: CodeTable, found: KeptObservations) -> Material:
    """Those of the observations whose codes are in the table."""
    place = {int(row): k for k, row in enumerate(table.rows)}
    there = np.array([k for k, row in enumerate(found.rows) if int(row) in place], dtype=np.int64)
    places = np.array([place[int(row)] for row in found.rows[there]], dtype=np.int64)
    labels = found.labels_for(run)
    return Material(found.x[there], places, None if labels is None else labels[there], True)


def from_codes(run: RunDirectory, table: CodeTable, chosen: NDArray[np.int64]) -> Material:
    """What the model makes of these rows of the table, with what the table knows of their labels."""
    names = ["codes", *(f"stage-{number}/codes" for number in range(2, len(run.plan.stages) + 1))]
    made = decode_codes(run, [table.arrays[name][chosen] for name in names])[-1]
    columns = [table.factor_names.index(factor.name) for factor in run.label_factors]
    return Material(made, chosen, table.factors[chosen][:, columns], False)
