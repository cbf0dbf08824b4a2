"""Reconstruction errors of every stage, and the outputs that image measures look at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid import metrics
from unbraid.core import Decodes
from unbraid.evaluation.measure import LEAST_FOR_AVERAGES, Measure, MeasureOptions
from unbraid.evaluation.parts import chosen_rows
from unbraid.metrics import Score
from unbraid.metrics.keys import MetricKey
from unbraid.runs.chain import Chain
from unbraid.runs.count_scales import comparable
from unbraid.runs.directory import RunDirectory
from unbraid.training.batches import as_stored
from unbraid.util.seeds import mix


def compute(run: RunDirectory, names: Sequence[str], options: MeasureOptions, labels: bool) -> dict[str, Score]:
    """Errors of the final output, and of every stage before it as «stage-1/l2» and so on."""
    rows = chosen_rows(run, options, options.rows)
    originals = comparable(run, run.data.observations[rows])
    stages = [comparable(run, made) for made in outputs(run, rows, options.show, labels=labels)]
    return {
        stage_key(name, number, len(stages)): metrics.METRICS[name].function(
            originals, stages[number - 1], seed=run.plan.seed
        )
        for name in names
        for number in reconstructing(run)
    }


def refusal(run: RunDirectory, name: str) -> str | None:
    """A run without reconstructions has no errors of them."""
    if reconstructing(run):
        return None
    return f"{name} needs reconstructions, which {run.config(len(run.plan.stages)).name} does not make: ask for fid."


def reconstructing(run: RunDirectory) -> list[int]:
    """The stages whose output is a reconstruction. Of GANs and flows it is a draw: they have no L1 or L2."""
    stages = enumerate(run.chain.stages, 1)
    return [number for number, stage in stages if stage.config.reconstructs and isinstance(stage, Decodes)]


def outputs(
    run: RunDirectory, rows: NDArray[np.int64], show: bool, *, labels: bool = True, chain: Chain | None = None
) -> list[NDArray[Any]]:
    """What each stage makes of these rows; of the run's own chain, or of another one for the same data."""
    torch.manual_seed(mix(run.plan.seed, "outputs"))
    batches, chain = run.batches(rows, "reconstructing", labels=labels, show=show), chain or run.chain
    parts = [[as_stored(output) for output in chain.reconstruct(x, known)] for x, known in batches]
    return [np.concatenate(part) for part in zip(*parts, strict=True)]


def stage_key(metric: str, number: int, stages: int) -> str:
    """The key of a score of one stage's output: the last stage's has no prefix."""
    return str(MetricKey(metric, stage=0 if number == stages else number))


MEASURE = Measure(("l1", "l2"), compute, refusal, least_rows=LEAST_FOR_AVERAGES)
