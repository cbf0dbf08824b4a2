"""What a later stage adds, and what it keeps: measures of trained chains (MS-VAE, §4 and appendix F)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from unbraid import metrics
from unbraid.batches import mix
from unbraid.chain import Chain, Codes, draws_of, priors
from unbraid.errors import InputError
from unbraid.metrics.bootstrap import REPLICATES, interval, resampled_means
from unbraid.metrics.score import Score
from unbraid.run import Run

BATCH = 256


def downstream_by_stage(run: Run, *, probe: str = "mlp") -> dict[str, Score]:
    """Accuracy of a probe that reads the factors off C (stage 1), Z (all later stages) and both (figure 6).

    Z complements C if both together know more than either.
    """
    table, stages = run.encode(show=False), len(run.plan.stages)
    if stages < 2:
        raise InputError("C and Z are codes of two stages; this run has one.")
    c = table.codes
    z = np.concatenate([table.arrays[f"stage-{number}/codes"] for number in range(2, stages + 1)], axis=1)
    kinds = [str(kind) for kind in table.arrays["factor_kinds"]]
    inputs = {"c": c, "z": z, "c+z": np.concatenate([c, z], axis=1)}
    return {
        f"downstream/{name}": metrics.downstream(codes, table.factors, kinds=kinds, probe=probe, seed=run.plan.seed)
        for name, codes in inputs.items()
    }


def identity_change(features: ArrayLike, *, seed: int = 0, replicates: int = REPLICATES) -> Score:
    """Of features [identity, pose, …]: the share of their variance that moves with the pose while identity stays.

    0: every identity looks the same in every pose. 1: poses explain all there is, so identities differ in nothing
    (or change with every pose). The interval resamples identities.
    """
    values = np.asarray(features, dtype=np.float64)
    if values.ndim < 3 or min(values.shape[:2]) < 2:
        raise InputError(f"identity change needs features [identity, pose, feature], not {values.shape}.")
    values = values.reshape(*values.shape[:2], -1)
    centre = values.mean(axis=1)  # [identity, feature]
    within = values.var(axis=1).sum(axis=1)  # [identity]
    square = np.square(values).sum(axis=2).mean(axis=1)
    parts = np.concatenate([within[:, None], square[:, None], centre], axis=1)
    value = float(_share(parts.mean(axis=0)))
    spread = None
    if replicates:
        spread = interval(value, _share(resampled_means(parts, seed=seed, replicates=replicates)), 0, 1)
    return Score(value, spread, {"identities": values.shape[0], "poses": values.shape[1], "seed": seed})


def _share(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    total = parts[..., 1] - np.square(parts[..., 2:]).sum(axis=-1)
    shares = np.divide(parts[..., 0], total, out=np.ones_like(total), where=total > 1e-12)
    return np.asarray(np.clip(shares, 0, 1))


@torch.inference_mode()
def traversed_features(
    chain: Chain, features: Callable[[Tensor], Tensor], *, identities: int = 100, poses: int = 16, seed: int = 0
) -> NDArray[np.float32]:
    """Features [identity, pose, feature] of what a chain makes as c moves and everything else stays.

    c is the group `c` of stage 1 (given factors, classes) or, where there is none, all codes of stage 1. Poses are
    drawn once and shared by all identities.
    """
    torch.manual_seed(mix(seed, "identity"))
    fixed = [draws_of(priors(stage).prior(identities)) for stage in chain.stages]
    moved = draws_of(priors(chain.stages[0]).prior(poses))
    keys = ["c"] if "c" in moved else list(moved)
    parts = []
    for pose in range(poses):
        first: Codes = fixed[0] | {key: moved[key][pose].expand(identities, -1) for key in keys}
        made = []
        for start in range(0, identities, BATCH):
            rows = slice(start, start + BATCH)
            codes = [{key: value[rows] for key, value in group.items()} for group in (first, *fixed[1:])]
            made.append(features(chain.decode(codes)[-1]).float().cpu())
        parts.append(torch.cat(made))
    stacked: NDArray[np.float32] = torch.stack(parts, dim=1).numpy()
    return stacked
