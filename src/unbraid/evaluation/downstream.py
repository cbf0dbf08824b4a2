"""What probes read off the codes of stage 1, of the later stages, and of both (MS-VAE, figure 6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unbraid import metrics
from unbraid.evaluation.conditioning import needs_later_stage
from unbraid.evaluation.measure import LEAST_FOR_TABLES, Measure, MeasureOptions
from unbraid.metrics import Score
from unbraid.runs.chain import knows_prior_only
from unbraid.runs.directory import RunDirectory


def compute(run: RunDirectory, names: Sequence[str], options: MeasureOptions, labels: bool) -> dict[str, Score]:
    """Accuracy of a probe that reads the factors off C (stage 1), Z (all later stages) and both."""
    encoded = run.codes(labels=labels, show=options.show).of(options.part)
    table = encoded.table()
    z = np.concatenate([encoded.table(number).codes for number in encoded_later(run)], axis=1)
    found = metrics.downstream_by_stage(
        table.codes, z, table.factors, kinds=table.kinds, names=table.names, seed=run.plan.seed
    )
    return {f"downstream_by_stage/{name}": score for name, score in found.items()}


def refusal(run: RunDirectory, name: str) -> str | None:
    """It needs factors, and a later stage that finds codes."""
    why = needs_later_stage(run, name)
    if why is None and not run.plan.data["factors"]:
        return f"{run.plan.data['name']} has no factors, which {name} would need; ask for identity_change."
    if why is None and not encoded_later(run):
        return f"{name} reads the codes of later stages; no later stage of this run has an encoder."
    return why


def encoded_later(run: RunDirectory) -> list[int]:
    """The later stages that find codes: of the others only the prior is known, the same for every observation."""
    return [number for number, stage in enumerate(run.chain.stages, 1) if number > 1 and not knows_prior_only(stage)]


MEASURE = Measure(("downstream_by_stage",), compute, refusal, least_rows=LEAST_FOR_TABLES)
