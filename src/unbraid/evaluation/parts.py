"""Which part of the data a score is of: held-out observations where there are enough of them, and training data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unbraid.evaluation.measure import Measure, MeasureOptions
from unbraid.runs.codes import choose_rows
from unbraid.runs.directory import RunDirectory
from unbraid.runs.held_out import Part


def parts_of(run: RunDirectory, measure: Measure) -> tuple[Part, ...]:
    """The parts that a measure is taken of, the one that leads first.

    Held-out observations lead where there are as many as the measure needs, with the training data beside them; with
    fewer, or with none held out, there is one part.
    """
    if run.plan.held_out is None or measure.least_rows is None:
        return ("all",)
    return ("held-out", "training") if run.plan.held_out.count >= measure.least_rows else ("training",)


def rows_of(run: RunDirectory, part: Part) -> NDArray[np.int64]:
    """The rows of a part of the data, in order."""
    everything = np.arange(len(run.data))
    if part == "all":
        return everything
    return run.held_out_rows if part == "held-out" else np.setdiff1d(everything, run.held_out_rows, assume_unique=True)


def chosen_rows(run: RunDirectory, options: MeasureOptions, most: int) -> NDArray[np.int64]:
    """At most so many rows of the part that is asked for, chosen by the run's seed."""
    rows = rows_of(run, options.part)
    return rows[choose_rows(len(rows), most, run.plan.seed)]
