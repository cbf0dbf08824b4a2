"""Total correlation of the codes, if they were Gaussian."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import REPEATS, Array, interval, resampled_means
from unbraid.metrics._shared.correlation import standard
from unbraid.metrics._shared.numbers import numbers
from unbraid.metrics._shared.table import Table
from unbraid.metrics.record import CHANGES, CODES, Metric, register
from unbraid.metrics.score import Score


def total_correlation(
    codes: ArrayLike | Table, factors: ArrayLike | None = None, *, seed: int = 0, replicates: int = REPEATS
) -> Score:
    """Total correlation of a Gaussian with the codes' covariance, in nats: −½ log det Corr(z).

    0 for uncorrelated codes, infinite if some latent is a linear function of others. Constant latents take no part.

    Args:
        codes: mean codes [n, latent], or a `Table`.
        factors: not read; there so that all metrics of a table are called alike.
        seed: of the bootstrap.
        replicates: bootstrap samples of the rows; 0 for no interval.

    Returns:
        The dependence in nats, at least 0.

    Reference:
        Watanabe 1960; used on mean codes in Locatello et al. 2019.

    Example:
        >>> from unbraid.metrics._shared.examples import mixed_table, perfect_table
        >>> codes, mixed = perfect_table()[0], mixed_table()[0]
        >>> abs(round(total_correlation(codes).value, 2)), round(total_correlation(mixed).value, 2)
        (0.0, 0.27)
    """
    z = codes.codes if isinstance(codes, Table) else numbers(codes, "codes")
    if z.ndim != 2 or len(z) < 2:
        raise InputError(f"codes have shape {z.shape}; give at least two rows, [n, latents].")
    x = standard(z)
    x = x[:, x.any(axis=0)]
    d = x.shape[1]
    details = {"seed": seed, "latents": d, "constant": z.shape[1] - d}
    if d < 2:
        return Score(0.0, (0.0, 0.0) if replicates else None, details)
    value = float(_gaussian_tc((x.T @ x / len(x))[None])[0])
    spread = None
    if replicates and math.isfinite(value):
        # Second moments are formed for a few hundred groups of rows, not for rows: d² columns each.
        draws = np.random.default_rng([seed, d])
        groups = np.array_split(draws.permutation(len(x)), min(len(x), max(50, 4_000_000 // d**2), 1000))
        size = np.array([len(rows) for rows in groups], dtype=np.float64)
        first = np.stack([x[rows].sum(axis=0) for rows in groups])
        second = np.stack([x[rows].T @ x[rows] for rows in groups]).reshape(len(groups), -1)
        sums = resampled_means(np.column_stack([size, first, second]), seed=seed, replicates=replicates)
        mean = sums[:, 1 : d + 1] / sums[:, :1]
        moment = (sums[:, d + 1 :] / sums[:, :1]).reshape(-1, d, d)
        spread = interval(value, _gaussian_tc(moment - mean[:, :, None] * mean[:, None, :]), 0.0)
    return Score(value, spread, details)


def _gaussian_tc(covariance: Array) -> Array:
    """½(Σ log σ²_j − log det Σ) of a stack of covariances."""
    scale = np.sqrt(np.maximum(np.einsum("bjj->bj", covariance), 1e-300))
    correlation = covariance / (scale[:, :, None] * scale[:, None, :])
    eigenvalues = np.linalg.eigvalsh(correlation)
    singular = eigenvalues[:, 0] < 1e-10
    return np.where(singular, np.inf, -0.5 * np.log(np.maximum(eigenvalues, 1e-300)).sum(axis=1))


register(
    Metric(
        name="total_correlation",
        title="Total correlation",
        description="dependence of the codes if they were Gaussian, nats",
        when="Without labels: how far the codes are from independent, as far as correlations show it.",
        function=total_correlation,
        needs=CODES,
        better="lower",
        range=(0.0, None),
        reference="Watanabe 1960",
        unchanged_by=CHANGES,
    )
)
