"""Scores that read correlations: Gaussian total correlation, MCC, and the squared correlation SAP uses."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata

from unbraid.errors import InputError, unknown
from unbraid.metrics.bootstrap import REPLICATES, Array, interval, resampled_means
from unbraid.metrics.score import Score
from unbraid.metrics.table import Table, as_table, numbers


def squared_correlation(
    table: Table, factor: int, rows: NDArray[np.int64], seed: int, replicates: int, ranks: bool = False
) -> tuple[Array, Array]:
    """R² between every latent and one factor `[d]`, and bootstrap replicates of it `[replicates, d]`.

    Ordinal and continuous factors: the squared Pearson correlation. Cyclic: the share of the latent's variance
    that cosine and sine explain (Mardia 1976). Categorical: the share that the class means explain (the
    correlation ratio), since the order of its values means nothing. Of two values, all of these agree.
    """
    rows = rows[table.known(factor)[rows]]
    codes = table.codes[rows]
    if table.kinds[factor] == "categorical":
        labels, size = table.groups(factor)
        target = np.eye(size)[labels[rows]][:, 1:]  # one class is implied by the others
    else:
        target = table.coordinates(factor)[rows]
    if ranks:
        codes = rankdata(codes, axis=0)
        target = rankdata(target, axis=0) if table.kinds[factor] not in ("categorical", "cyclic") else target
    x, y = _standard(codes), _standard(target)
    d, c = x.shape[1], y.shape[1]
    value = _explained(x.mean(axis=0), y.mean(axis=0), np.square(x).mean(axis=0), x.T @ y / len(x), y.T @ y / len(x))
    if not replicates:
        return value, np.zeros((0, d))
    if c <= 4:
        xy, yy = x[:, :, None] * y[:, None, :], y[:, :, None] * y[:, None, :]
        moments = np.column_stack([x, y, np.square(x), xy.reshape(len(x), -1), yy.reshape(len(x), -1)])
        again = resampled_means(moments, seed=seed, replicates=replicates)
        mx, my, xx, xy, yy = np.split(again, np.cumsum([d, c, d, d * c]), axis=1)
        return value, _explained(mx, my, xx, xy.reshape(-1, d, c), yy.reshape(-1, c, c))
    # Many classes: to first order, R² moves with each row's squared residual and squared deviation.
    fitted = y @ np.linalg.lstsq(y, x, rcond=None)[0]
    parts = np.column_stack([np.square(x - fitted), np.square(x)])
    means = resampled_means(parts, seed=seed, replicates=replicates)
    return value, 1.0 - np.divide(means[:, :d], means[:, d:], out=np.ones_like(means[:, d:]), where=means[:, d:] > 0)


def _standard(values: Array) -> Array:
    """Columns with mean 0 and deviation 1; a constant column becomes 0."""
    centred = values - values.mean(axis=0)
    scale = centred.std(axis=0)
    size = np.abs(values).max(axis=0, initial=0.0)
    # A constant column's deviation is rounding, not spread.
    return np.asarray(np.divide(centred, scale, out=np.zeros_like(centred), where=scale > 1e-14 * size))


def _explained(mx: Array, my: Array, xx: Array, xy: Array, yy: Array) -> Array:
    """The share of each latent's variance that the targets explain linearly, from first and second moments."""
    cov_xy = xy - mx[..., :, None] * my[..., None, :]
    cov_yy = yy - my[..., :, None] * my[..., None, :]
    var_x = xx - np.square(mx)
    explained = np.einsum("...jc,...jc->...j", cov_xy @ np.linalg.pinv(cov_yy, hermitian=True), cov_xy)
    share = np.divide(explained, var_x, out=np.zeros_like(var_x), where=var_x > 1e-12)
    return np.asarray(np.clip(share, 0.0, 1.0))


def mcc(
    codes: ArrayLike | Table,
    factors: ArrayLike | None = None,
    *,
    method: str = "pearson",
    kinds: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    seed: int = 0,
    replicates: int = REPLICATES,
) -> Score:
    """Mean correlation coefficient: 1/K Σ_k |r(z_π(k), v_k)| under the one-to-one assignment π that maximises it.

    Hyvärinen & Morioka 2016. `method` is `pearson` or `spearman`. A cyclic factor is matched by its cosine and
    sine, a categorical one by its class means (the root of R²). Factors that no latent is left for count 0.
    The interval resamples rows, with the assignment as found.
    """
    if method not in ("pearson", "spearman"):
        raise unknown("method of MCC", method, ("pearson", "spearman"))
    table = as_table(codes, factors, kinds=kinds, names=names)
    rows = np.arange(len(table))
    found = [
        squared_correlation(table, f, rows, seed, replicates, ranks=method == "spearman")
        for f in range(len(table.names))
    ]
    strength = np.sqrt(np.stack([value for value, _ in found], axis=1))  # [d, k]
    again = np.sqrt(np.stack([draw for _, draw in found], axis=2))
    latent, factor = linear_sum_assignment(-strength)
    k = len(table.names)
    value = float(strength[latent, factor].sum() / k)
    each = np.zeros(k)
    each[factor] = strength[latent, factor]
    return Score(
        value,
        interval(value, again[:, latent, factor].sum(axis=1) / k, 0, 1) if replicates else None,
        {
            "method": method,
            "seed": seed,
            "per_factor": dict(zip(table.names, each.tolist(), strict=True)),
            "latent": {table.names[f]: int(j) for j, f in zip(latent, factor, strict=True)},
            "correlation": strength,
        },
    )


def total_correlation(
    codes: ArrayLike | Table, factors: ArrayLike | None = None, *, seed: int = 0, replicates: int = REPLICATES
) -> Score:
    """Total correlation of a Gaussian with the codes' covariance, in nats: −½ log det Corr(z).

    0 for uncorrelated codes, infinite if some latent is a linear function of others (Watanabe 1960; used on mean
    codes in Locatello et al. 2019). Constant latents take no part; factors are not read. The interval
    resamples rows.
    """
    z = codes.codes if isinstance(codes, Table) else numbers(codes, "codes")
    if z.ndim != 2 or len(z) < 2:
        raise InputError(f"codes have shape {z.shape}; give at least two rows, [n, latents].")
    x = _standard(z)
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
