"""What later stages know beside the first, and what they keep as it moves (MS-VAE, figure 6 and appendix F)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from unbraid.errors import InputError
from unbraid.metrics.bootstrap import REPLICATES, Array, interval, resampled_means
from unbraid.metrics.downstream import downstream
from unbraid.metrics.score import Score
from unbraid.metrics.table import as_table


def downstream_by_stage(
    c: ArrayLike,
    z: ArrayLike,
    factors: ArrayLike,
    *,
    kinds: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    probe: str = "mlp",
    seed: int = 0,
    replicates: int = REPLICATES,
) -> dict[str, Score]:
    """Downstream accuracy from C (codes of stage 1), Z (codes of later stages) and both: `c`, `z` and `c+z`.

    Z complements C if both together know more than either (MS-VAE, figure 6). The three probes are fitted and
    tested on the same rows. Factors with fewer than two values are left out.
    """
    codes = {"c": np.asarray(c), "z": np.asarray(z), "c+z": np.concatenate([c, z], axis=1)}
    tables = {
        name: as_table(part, factors, kinds=kinds, names=names, allow_constant=True).varying()
        for name, part in codes.items()
    }
    if not tables["c"].names:
        raise InputError("downstream_by_stage needs a factor with at least two known values; the table has none.")
    return {name: downstream(table, probe=probe, seed=seed, replicates=replicates) for name, table in tables.items()}


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


def _share(parts: Array) -> Array:
    total = parts[..., 1] - np.square(parts[..., 2:]).sum(axis=-1)
    shares = np.divide(parts[..., 0], total, out=np.ones_like(total), where=total > 1e-12)
    return np.asarray(np.clip(shares, 0, 1))
