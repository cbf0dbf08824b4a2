"""IRS, the interventional robustness score."""

from __future__ import annotations

from typing import Any

import numpy as np

from unbraid.metrics._shared.bootstrap import REPEATS, interval, stream
from unbraid.metrics._shared.calibration import calibration
from unbraid.metrics._shared.checks import table_metric
from unbraid.metrics._shared.table import Table
from unbraid.metrics.record import Metric, register
from unbraid.metrics.score import Score


@table_metric
@calibration(draws=3)
def irs(table: Table, *, quantile: float = 0.99, seed: int = 0, replicates: int = REPEATS) -> Score:
    """Interventional robustness: whether a latent stays put when all factors but its own change.

    With a factor held at a value, the latent's deviation is the `quantile` of |z_j − E[z_j given v_k]| over the
    rows that have it; averaged over values and divided by the largest |z_j − E z_j| it gives
    IRS_j = 1 − min_k deviation_jk / deviation_j, and the score averages latents weighted by that largest
    deviation. Constant latents have no weight; codes that are all constant score 0.

    Args:
        codes, factors: mean codes [n, latent] and factors [n, factor], or a `Table`.
        quantile: of the deviations.
        seed: of the bootstrap.
        replicates: bootstrap samples of the rows, each value's and all of them apart; 0 for no interval. The
            bootstrap of a quantile is an order statistic whose rank is a Beta variate, so nothing is sorted again.

    Returns:
        The score in [0, 1]; `details["factor"]` names the factor of each active latent, `details["scores"]` has all,
        [latent, factor].

    Reference:
        Suter et al. 2019.

    Example:
        >>> from unbraid.metrics._shared.examples import perfect_table
        >>> score = irs(*perfect_table())
        >>> score.value, score.details["factor"]["z2"]
        (1.0, 'factor 1')
    """
    n = len(table)
    strayed = np.sort(np.abs(table.codes - table.codes.mean(axis=0)), axis=0)
    reach = strayed[-1]
    active = reach > 1e-12 * np.maximum(1.0, np.abs(table.codes).max(axis=0))
    d, k = table.codes.shape[1], table.factors.shape[1]
    details: dict[str, Any] = {"seed": seed, "quantile": quantile, "active": int(active.sum())}
    if not active.any():
        return Score(0.0, (0.0, 0.0) if replicates else None, details)
    draws = stream(seed, "irs")
    deviation, again = np.zeros((d, k)), np.zeros((replicates, d, k))
    for f in range(k):
        labels, size = table.groups(f)
        order = np.argsort(labels, kind="stable")
        order = order[labels[order] >= 0]
        for rows in np.split(order, np.cumsum(np.bincount(labels[order], minlength=size))[:-1]):
            inside = table.codes[rows]
            away = np.sort(np.abs(inside - inside.mean(axis=0)), axis=0)
            rank = quantile * (len(rows) - 1)
            low, part = int(rank), rank - int(rank)
            deviation[:, f] += away[low] * (1 - part) + away[min(low + 1, len(rows) - 1)] * part
            if replicates:
                at = (draws.beta(low + 1, len(rows) - low, (replicates, d)) * len(rows)).astype(np.int64)
                again[:, :, f] += away[np.minimum(at, len(rows) - 1), np.arange(d)]
        deviation[:, f] /= size
        again[:, :, f] /= size
    scale = np.where(active, reach, 1.0)[:, None]
    robust = np.where(active[:, None], 1.0 - deviation / scale, 0.0)
    value = float(np.average(robust.max(axis=1), weights=reach * active))
    spread = None
    if replicates:
        # The largest of a resample is the row whose rank is a Beta variate, too.
        far = strayed[(draws.beta(n, 1, (replicates, d)) * n).astype(np.int64).clip(max=n - 1), np.arange(d)]
        weights = np.where(active, np.maximum(far, 1e-300), 0.0)
        best = (1.0 - again / np.maximum(far, 1e-300)[:, :, None]).max(axis=2)
        spread = interval(value, (weights * best).sum(axis=1) / weights.sum(axis=1), 0, 1)
    factor = {table.columns[j]: table.names[robust[j].argmax()] for j in np.flatnonzero(active)}
    details |= {"per_latent": robust.max(axis=1), "factor": factor, "scores": robust}
    return Score(value, spread, details)


register(
    Metric(
        name="irs",
        title="IRS",
        description="whether a latent stays put when other factors change",
        when="To ask whether a code stays put while its factor is fixed and all else moves.",
        function=irs,
        reference="Suter et al. 2019",
        unchanged_by=("order", "sign", "shift", "common scale"),
    )
)
