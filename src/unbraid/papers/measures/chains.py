"""What studies of multi-stage models measure and show: errors, FID and conditioning by stage and over training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid import metrics
from unbraid.api import Run
from unbraid.evaluation import inception, reconstruction
from unbraid.evaluation.table import steering_table
from unbraid.methods.staged.sizes import latents
from unbraid.papers import plots, tables
from unbraid.papers.measures import runs as figures
from unbraid.papers.study import Finished
from unbraid.runs.chain import Chain
from unbraid.runs.codes import choose_rows
from unbraid.util.files import read_json

NOTHING = float("nan")  # a figure that a run does not have
Measures = dict[str, Callable[[Run], float]]


def chain_at(run: Run, part: float = 1.0) -> Chain:
    """All stages, the last with the weights that it had after this part of its training."""
    number, (_, steps) = len(run.plan.stages), run.plan.stages[-1]
    if part == 1.0:
        return run.chain
    return Chain([*run.chain_before(number).stages, run.stage_after(number, step_after(steps, part))])


def step_after(steps: int, part: float) -> int:
    """The step at which a part of the training is done: its weights are kept for curves."""
    return max(1, round(steps * part))


def outputs(run: Run, rows: NDArray[np.int64], part: float = 1.0) -> list[NDArray[Any]]:
    """What each stage makes of these rows."""
    return reconstruction.outputs(run, rows, False, chain=chain_at(run, part))


def has_second_stage(run: Run) -> bool:
    """Whether there is a stage 1 to compare with."""
    return len(run.plan.stages) > 1


def adds_to_stage_1(run: Run) -> bool:
    """Whether the codes of stage 1 stay, with others beside them: those of Jacobian supervision do not."""
    return has_second_stage(run) and not run.chain.stages[-1].config.replaces_codes


def error(run: Run, name: str, *, first: bool = False) -> float:
    """L1 or L2 of the final output, or of stage 1's."""
    if first and not has_second_stage(run):
        return NOTHING
    found = run.evaluate(["l1", "l2"], show=False)  # both at once: reconstructing is what takes time
    return float(found[f"stage-1/{name}" if first else name]["value"])


@cache
def network() -> tuple[inception.Network, str]:
    """The Inception network of the data folder."""
    return inception.load_network(inception.find_network(None))


def fid_of(run: Run, made: NDArray[Any]) -> float:
    """FID between images and as many of the data, chosen alike for every run."""
    net, identity = network()
    real = inception.cached_features(net, identity, run, choose_rows(len(run.data), len(made), 0), False)
    return float(metrics.fid(real, inception.features(net, made, "", False), replicates=0))


def conditioning(run: Run, name: str) -> float:
    """M1 to M4 of a second stage that is given y."""
    if not adds_to_stage_1(run):
        return NOTHING
    return float(run.evaluate(["conditioning"], show=False)[f"conditioning/{name}"]["value"])


def downstream(run: Run, name: str, factor: str | None = None) -> float:
    """How well the factors, or one of them, are read off `c`, `z` or `c+z` (figure 6)."""
    if not adds_to_stage_1(run):
        return NOTHING
    found = run.evaluate(["downstream_by_stage"], show=False)[f"downstream_by_stage/{name}"]
    return float(found["value"] if factor is None else found["details"]["per_factor"][factor])


def mig(run: Run) -> float:
    """MIG of c, the codes that the model is steered by: stage 1's, or what a student has made of them."""
    return figures.mig(run, codes=steering_table(run, run.encode(show=False)).codes)


def errors() -> Measures:
    """L1 and L2 of the final output and of stage 1's."""
    found: Measures = {}
    for name in ("l1", "l2"):
        found |= {name: partial(error, name=name), f"first-{name}": partial(error, name=name, first=True)}
    return found


def conditionings(measure: Callable[..., float] = conditioning) -> Measures:
    """M1 to M4."""
    return {name: partial(measure, name=name) for name in ("M1", "M2", "M3", "M4")}


def downstreams() -> Measures:
    """Accuracy from C, Z and both, over all factors."""
    return {f"downstream-{name}": partial(downstream, name=name) for name in ("c", "z", "c+z")}


def sizes(finished: Sequence[Finished]) -> str:
    """Parameters, latents and training of each group: what a comparison must be read with."""
    rows = []
    for group, runs in tables.groups(finished).items():
        stages, steps = runs[0].trial.stages, runs[0].trial.steps
        records = [read_json(runs[0].folder / f"stage-{k}" / "stage.json") for k in range(1, len(stages) + 1)]
        counts = " + ".join(f"{int(record['parameters']):,}" for record in records)
        batches = " + ".join(f"{n:,} × {stage.batch_size}" for n, stage in zip(steps, stages, strict=True))
        rows.append([group, counts, str(latents(stages)), batches, str(len(runs))])
    return tables.markdown(["", "parameters, by stage", "latents", "steps × batch", "seeds"], rows)


def described(stage: Any, steps: int) -> str:
    """The setting of a stage, a method's configuration, in a line."""
    rate = f"Adam {stage.adam.lr:g}" + (f" to {stage.adam.rate(1):g}" if stage.adam.end < 1 else "")
    return f"width {stage.width:g}, batch {stage.batch_size}, {rate}, {steps:,} steps"


def traversals(path: Path, run: Run, *, row: int, codes: int, steps: int = 10) -> None:
    """The codes of stage 1 that say most of the observation, each as y and x̂ in alternate rows."""
    x = np.ascontiguousarray(run.data.observations[[row]])
    order = np.argsort(-run.encode(show=False).arrays["information"])[:codes]
    stages = run.traverse(x, stage=1, steps=steps)
    plots.image_rows(
        path,
        [(f"c{code + 1}  {name}", made[code]) for code in order for name, made in zip(("y", "x̂"), stages, strict=True)],
    )
