"""The aggregate posterior q(z), the mixture of the posteriors of all rows, at given points."""

from __future__ import annotations

import numpy as np

from unbraid.metrics._shared.bootstrap import Array

LOG_2PI = float(np.log(2 * np.pi))
_BLOCK = 1024
_NOTHING = 45.0  # nats below the largest pair: a million of these are 3e-14 of it


def log_aggregate_posterior(z: Array, mu: Array, log_var: Array) -> Array:
    """log q(z) = log 1/N Σ_n q(z given n) at every row of `z`: one matrix product a block.

    −½ Σ_j (z_j − μ_nj)²/σ²_nj is linear in (z², z, 1), so all pairs are a product of `[points, 2d + 1]` with
    `[2d + 1, n]`.
    """
    precision = np.exp(-log_var)
    constant = -0.5 * (np.square(mu) * precision + log_var + LOG_2PI).sum(axis=1)
    components = np.column_stack([-0.5 * precision, mu * precision, constant])
    features = np.column_stack([np.square(z), z, np.ones(len(z))])
    out = np.empty(len(z))
    for start in range(0, len(z), _BLOCK):
        part = features[start : start + _BLOCK]
        highest, total = np.full(len(part), -np.inf), np.zeros(len(part))
        for first in range(0, len(mu), 4 * _BLOCK):
            pairs = part @ components[first : first + 4 * _BLOCK].T
            peak = np.maximum(highest, pairs.max(axis=1))
            total = total * np.exp(highest - peak) + _sum_of_exponentials(pairs, peak)
            highest = peak
        out[start : start + _BLOCK] = highest + np.log(total) - np.log(len(mu))
    return out


def _sum_of_exponentials(pairs: Array, peak: Array) -> Array:
    """Σ exp(pairs − peak) of each row; most pairs are far apart and are not worth an exponential."""
    near = np.flatnonzero(pairs > (peak - _NOTHING)[:, None])
    if len(near) > pairs.size // 4:
        pairs -= peak[:, None]
        return np.asarray(np.exp(pairs, out=pairs).sum(axis=1))
    row = near // pairs.shape[1]
    return np.asarray(np.bincount(row, np.exp(pairs.ravel()[near] - peak[row]), minlength=len(pairs)), dtype=np.float64)


def mss_log_weights(batch: int, n: int) -> Array:
    """log weights `[batch, batch]` of minibatch stratified sampling (S6); every row's weights sum to one.

    Row i: its own component 1/N, its neighbour (N − M)/(NM), all others 1/M, with M = batch − 1.
    """
    m = batch - 1
    weights = np.full((batch, batch), 1.0 / m)
    rows = np.arange(batch)
    weights[rows, rows] = 1.0 / n
    weights[rows, (rows + 1) % batch] = (n - m) / (n * m)
    return np.asarray(np.log(weights))
