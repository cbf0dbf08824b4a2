"""OMES: whether what moves with a factor is one latent, and whether that latent moves with nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import InputError, unknown
from unbraid.metrics._shared.bootstrap import REPEATS, Array, interval, stream
from unbraid.metrics._shared.calibration import calibration
from unbraid.metrics._shared.checks import table_metric
from unbraid.metrics._shared.strata import one_factor_pairs
from unbraid.metrics._shared.table import Table
from unbraid.metrics.record import CHANGES, Metric, register
from unbraid.metrics.score import Score

POOLS = ("average", "max")
_AT_ONCE = 25  # bootstrap samples


@table_metric
@calibration(draws=3)
def omes(
    table: Table,
    *,
    alpha: float = 0.5,
    pool: str = "average",
    points: int = 10_000,
    inactive: float = 0.05,
    seed: int = 0,
    replicates: int = REPEATS,
) -> Score:
    """Overlap and multiple encoding scores: a factor should move one latent, and that latent with no other factor.

    Pairs of rows that differ in factor k only give A_jk = 1 − |corr(z_j, z'_j)|: 0 where latent j stays as it is, about
    1 where it moves. With the unit vectors e,

        overlap_jk = 1 − mean_l |A_jl − e_kl|,  multiple_jk = 1 − mean_i |A_ik − e_ij|

    a factor's score is α times the mean of A_jk·overlap_jk over latents, weighed by A_jk, and 1 − α times that of
    A_jk·multiple_jk; the score is the mean over factors. Two different ones of m values have a correlation of
    −1/(m − 1): a perfect code of a factor with few values does not reach 1, and that of a binary one counts as not
    moving at all. The ceiling shows it.

    Args:
        codes, factors: mean codes [n, latent] and factors [n, factor], or a `Table`; rows should often agree in all
            factors but one, as on a grid.
        alpha: weight of the overlap; 1 − α is that of the encoding by several latents.
        pool: over latents: `average`, weighed by A, or `max`, of the best latent.
        points: pairs for each factor.
        inactive: latents whose deviation is below this take no part.
        seed: of the pairs and of the bootstrap.
        replicates: bootstrap samples of the rows; 0 for no interval.

    Returns:
        The score in [0, 1]; `details["association"]` has A [latent, factor], of `details["active_latents"]` only.

    Reference:
        Dapueto et al. 2024, «Transferring disentangled representations», and the authors' program.

    Example:
        >>> factors = np.stack(np.meshgrid(np.arange(20), np.arange(20)), axis=-1).reshape(-1, 2)
        >>> turned = factors @ np.array([[1, 1], [1, -1]])
        >>> round(omes(factors, factors).value, 1), round(omes(turned, factors).value, 1)
        (0.9, 0.3)
    """
    if pool not in POOLS:
        raise unknown("pool of OMES", pool, POOLS)
    if not 0 <= alpha <= 1:
        raise InputError(f"alpha of OMES is {alpha}; give a number from 0 to 1.")
    if len(table.names) < 2:
        raise InputError("OMES asks what else moves with a factor; the table has only one, so leave it out.")
    active = table.codes.std(axis=0, ddof=1) >= inactive
    details: dict[str, object] = {
        "seed": seed,
        "alpha": alpha,
        "pool": pool,
        "active_latents": [table.columns[j] for j in np.flatnonzero(active)],
    }
    if not active.any():
        return Score(0.0, (0.0, 0.0) if replicates else None, details)
    pairs = [one_factor_pairs(table, k, points, seed) for k in range(len(table.names))]
    codes = table.codes[:, active]
    codes = codes - codes.mean(axis=0)  # correlations by moments lose digits far from 0
    codes = codes / codes.std(axis=0)
    moments = [_moments(codes, rows) for rows in pairs]
    association = np.stack([_from_moments(each.mean(axis=0)) for each in moments], axis=-1)
    each = factor_scores(association, alpha, pool)
    value = float(each.mean())
    details |= {
        "pairs": {name: len(rows) for name, rows in zip(table.names, pairs, strict=True)},
        "per_factor": table.by_factor(each),
        "association": association,
    }
    if not replicates:
        return Score(value, None, details)
    again = np.concatenate(list(_resampled(moments, pairs, len(table), seed, replicates)))
    return Score(value, interval(value, factor_scores(again, alpha, pool).mean(axis=-1), 0, 1), details)


def factor_scores(association: Array, alpha: float, pool: str) -> Array:
    """The score of each factor from A [..., latent, factor].

    Example:
        >>> factor_scores(np.array([[1.0, 0.0], [0.0, 0.5]]), alpha=0.5, pool="max").tolist()
        [1.0, 0.375]
    """
    d, k = association.shape[-2:]
    # |A − e| summed over a row or column is the sum of all A with A_jk itself turned into 1 − A_jk.
    turned = 1.0 - 2.0 * association
    overlap = 1.0 - (association.sum(axis=-1, keepdims=True) + turned) / k
    multiple = 1.0 - (association.sum(axis=-2, keepdims=True) + turned) / d
    both = association * (alpha * overlap + (1 - alpha) * multiple)
    if pool == "max":
        best = [(association * part).max(axis=-2) for part in (overlap, multiple)]
        return np.asarray(alpha * best[0] + (1 - alpha) * best[1])
    weight = association.sum(axis=-2)
    total = (association * both).sum(axis=-2)
    return np.asarray(np.divide(total, weight, out=np.zeros_like(weight), where=weight > 1e-12))


def _moments(codes: Array, pairs: NDArray[np.int64]) -> Array:
    """What each pair adds to the means that correlations are made of, [pair, 5 · latent]."""
    x, y = codes[pairs[:, 0]], codes[pairs[:, 1]]
    return np.concatenate([x, y, x * x, y * y, x * y], axis=1)


def _resampled(
    moments: list[Array], pairs: list[NDArray[np.int64]], rows: int, seed: int, replicates: int
) -> Iterator[Array]:
    """A [replicate, latent, factor] of bootstrap samples of the rows: a row is in many pairs, so pairs are not free."""
    draws = stream(seed, "rows of pairs")
    for first in range(0, replicates, _AT_ONCE):
        count = min(_AT_ONCE, replicates - first)
        times = draws.poisson(1.0, size=(rows, count)).astype(np.float32)
        parts = []
        for pair, each in zip(pairs, moments, strict=True):
            weight = times[pair[:, 0]] * times[pair[:, 1]]
            total = np.maximum(weight.sum(axis=0), 1.0)[:, None]
            parts.append(_from_moments((weight.T @ each.astype(np.float32) / total).astype(np.float64)))
        yield np.stack(parts, axis=-1)


def _from_moments(moments: Array) -> Array:
    """1 − |corr| from the means of x, y, x², y², xy; a latent that is the same in all pairs has not moved."""
    x, y, xx, yy, xy = np.split(moments, 5, axis=-1)
    spread = np.maximum(xx - x * x, 0.0) * np.maximum(yy - y * y, 0.0)
    correlation = np.divide(xy - x * y, np.sqrt(spread), out=np.ones_like(x), where=spread > 1e-12)
    return np.asarray(1.0 - np.abs(np.clip(correlation, -1.0, 1.0)))


register(
    Metric(
        name="omes",
        title="OMES",
        description="a factor moves one latent, which moves with nothing else",
        when="On a full grid of factors, where interventions are exact; not for binary factors, which score 0.",
        function=omes,
        reference="Dapueto et al. 2024",
        unchanged_by=CHANGES,
    )
)
