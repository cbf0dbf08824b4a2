"""What stage 1's encoder finds in x̂: its MIG there, and whether x̂ follows y or z where one is another image's.

Noise in place of y or z (M3 and M4) is nothing that a decoder was trained on. Another image's y or z is: the authors'
code takes a permutation for M4.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid import metrics
from unbraid.api import Run
from unbraid.evaluation.table import replaces_codes
from unbraid.papers.measures import chains
from unbraid.runs.chain import Chain, flat, means
from unbraid.runs.codes import choose_rows
from unbraid.util.seeds import stream

ROWS = 10_000  # as many as M1 to M4 are taken of: the floor depends on it (0.015 at 4,000, 0.006 at 10,000)
BATCH = 500
Array = NDArray[np.float32]


def found_in(run: Run, images: Tensor) -> Tensor:
    """The codes that the model is steered by, read off any images."""
    if replaces_codes(run):
        return run.chain.encode(images)[-1]["c"].mean
    return flat(means(Chain([run.stage(1)]).encode(images)[0]))


def places(run: Run) -> NDArray[np.int64]:
    """Which rows of the code table are looked at: from all over it, for it is in the order of the factors."""
    return choose_rows(len(run.encode(show=False).rows), ROWS, 0)


@lru_cache(maxsize=1)
def code_sets(folder: Path) -> Mapping[str, Array]:
    """Codes of x, of x̂ and, where z is added to stage 1's codes, of x̂ with the z or the y of other images."""
    run = Run.open(folder)
    rows = run.encode(show=False).rows[places(run)]
    order = torch.from_numpy(stream(run.plan.seed, "exchanged").permutation(len(rows)))
    adds = chains.adds_to_stage_1(run)
    found: dict[str, list[Array]] = {}
    with torch.inference_mode():
        codes = [[means(q) for q in run.chain.encode(x)] for x, _ in run.batches(rows, "codes", show=False)]
        whole = [
            {key: torch.cat([part[k][key] for part in codes]) for key in stage} for k, stage in enumerate(codes[0])
        ]
        other = [{key: value[order] for key, value in stage.items()} for stage in whole]
        ways = {"made": whole}
        if adds:
            ways |= {"other z": [*whole[:-1], other[-1]], "other y": [*other[:-1], whole[-1]]}
        for name, way in ways.items():
            for start in range(0, len(rows), BATCH):
                part = [{key: value[start : start + BATCH] for key, value in stage.items()} for stage in way]
                made = run.chain.decode(part)[-1]
                found.setdefault(name, []).append(found_in(run, made).cpu().numpy())
        for x, _ in run.batches(rows, "codes", show=False):
            found.setdefault("x", []).append(found_in(run, x).cpu().numpy())
    return {name: np.concatenate(parts) for name, parts in found.items()}


def mig_of_made(run: Run) -> float:
    """MIG of the codes that the encoder finds in x̂, as the authors' code has it."""
    table = run.encode(show=False)
    kinds = tuple(factor.kind for factor in run.data.factor_info)
    made, factors = code_sets(run.folder)["made"], table.factors[places(run)]
    return float(metrics.mig(made, factors, kinds=kinds, seed=run.plan.seed, replicates=0))


def exchanged(run: Run, name: str) -> float:
    """M3 with the z of another image (`other z`), or M4 with the y of another (`other y`)."""
    if not chains.adds_to_stage_1(run):
        return chains.NOTHING
    sets = code_sets(run.folder)
    return float(metrics.code_information(sets["x"], sets[name], seed=run.plan.seed, replicates=0))


def floor(run: Run) -> float:
    """What M4 is for codes that know nothing: the same codes in a random order."""
    if not chains.adds_to_stage_1(run):
        return chains.NOTHING
    return float(run.evaluate(["conditioning"], show=False)["conditioning/M4"]["chance"]["mean"])


MEASURES: chains.Measures = {
    "mig-made": mig_of_made,
    "M3-other": partial(exchanged, name="other z"),
    "M4-other": partial(exchanged, name="other y"),
    "floor": floor,
}
