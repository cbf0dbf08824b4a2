"""M1 to M4: whether a later stage keeps to stage 1's codes (MS-VAE, §4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid import metrics
from unbraid.evaluation.measure import Measure, MeasureOptions
from unbraid.metrics import Score
from unbraid.runs.chain import Chain, drawn_codes, drawn_z, flat, has_learned_prior, means, with_earlier_codes
from unbraid.runs.codes import choose_rows
from unbraid.runs.directory import RunDirectory
from unbraid.util.seeds import mix


def conditioning_scores(run: RunDirectory, show: bool, rows: int = MeasureOptions.rows) -> dict[str, Score]:
    """M1–M4 of the last stage against stage 1's codes; noise in place of y is N(0, 1), as in the paper.

    So is noise in place of z (M3), unless the stage has learned p(z | y): M3 is then with draws of that, and the
    paper's is beside it, under `normal` in its details.
    """
    chosen = choose_rows(len(run.data), rows, run.plan.seed)
    chain, first = run.chain, Chain([run.stage(1)])
    torch.manual_seed(mix(run.plan.seed, "conditioning"))
    found: list[list[NDArray[np.float32]]] = []
    # Where stage 1 reads labels, without them: what a label says would be found in any picture, noise too.
    for x, labels in run.batches(chosen, "conditioning", labels=not run.config(1).encoder_needs_labels, show=show):

        def code(observations: Tensor, labels: Tensor = labels) -> NDArray[np.float32]:
            return flat(means(first.encode(observations, labels)[0])).cpu().numpy()

        codes = [means(q) for q in chain.encode(x, labels)]
        if not chain.stages[-1].config.reconstructs:
            codes[-1] |= drawn_z(chain.stages[-1], len(x))
        *_, y, restored = chain.decode(codes)
        noise = {key: torch.randn_like(value) for key, value in codes[-1].items()}
        without_z = [chain.decode([*codes[:-1], noise])[-1]]
        if has_learned_prior(chain.stages[-1]):
            without_z.insert(0, chain.decode([*codes[:-1], drawn_codes(chain.stages[-1], len(x), y)])[-1])
        # A stage that starts from the codes in place of y is given noise in their place too.
        earlier = {key: torch.randn_like(value) for key, value in codes[-2].items()}
        without_y = chain.decode_last(with_earlier_codes(chain.stages[-1], codes[-1], earlier), torch.randn_like(y))
        found.append([code(image) for image in (x, y, restored, without_y, *without_z)])
    arrays = [np.concatenate(part) for part in zip(*found, strict=True)]
    of_x, of_y, of_restored, of_noise, *of_draws = arrays
    terms = metrics.conditioning(of_x, of_y, of_restored, of_draws[0], of_noise, seed=run.plan.seed, calibrate=True)
    if len(of_draws) > 1:
        normal = metrics.code_information(of_x, of_draws[1], seed=run.plan.seed, replicates=0).value
        terms["M3"] = replace(terms["M3"], details={"z": "learned", "normal": normal, **terms["M3"].details})
    return {f"conditioning/{name}": score for name, score in terms.items()}


def compute(run: RunDirectory, names: Sequence[str], options: MeasureOptions, labels: bool) -> dict[str, Score]:
    """M1 to M4."""
    return conditioning_scores(run, options.show, options.rows)


def refusal(run: RunDirectory, name: str) -> str | None:
    """It compares a later stage, which must have been given stage 1's codes and not labels."""
    why = needs_later_stage(run, name)
    if why is None and run.config(1).codes_are_labels:
        return (
            f"conditioning says nothing after {run.config(1).name}, whose codes are the labels whatever a later stage "
            "makes of them, so that each counts 1 in M1 to M4; ask for identity_change."
        )
    return why


def needs_later_stage(run: RunDirectory, name: str) -> str | None:
    """Why a run has no later stage that adds to stage 1's codes; None if it has one."""
    if len(run.plan.stages) < 2:
        return f"{name} compares later stages with the first; this run has one stage."
    last = run.config(len(run.plan.stages))
    if last.replaces_codes:
        return (
            f"{name} asks what is added to stage 1's codes; {last.name} has codes of its own in their place, so score "
            "these (mig, dci)."
        )
    return None


MEASURE = Measure(("conditioning",), compute, refusal, reads_labels=False)
