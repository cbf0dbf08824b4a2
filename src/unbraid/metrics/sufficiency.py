"""Sufficiency: whether one latent knows all of a factor."""

from __future__ import annotations

import numpy as np

from unbraid.metrics._shared.bootstrap import REPEATS, interval
from unbraid.metrics._shared.checks import table_metric
from unbraid.metrics._shared.information import POINTS, binned_information
from unbraid.metrics._shared.table import Table
from unbraid.metrics.minimality import FINE_BINS
from unbraid.metrics.record import CHANGES, Metric, register
from unbraid.metrics.score import Score


@table_metric
def sufficiency(
    table: Table, *, bins: int = FINE_BINS, points: int | None = POINTS, seed: int = 0, replicates: int = REPEATS
) -> Score:
    """Sufficiency: what the best latent knows of a factor, 1/K Σ_k max_j I(z_j; v_k)/H(v_k).

    Unlike MIG it subtracts nothing, so that factors which depend on one another do not lower it.

    Args:
        codes, factors: mean codes [n, latent] and factors [n, factor], or a `Table`.
        bins: equal-width bins of each latent.
        points: rows to draw; None for all.
        seed: of the draw and of the bootstrap.
        replicates: bootstrap samples of the rows; 0 for no interval.

    Returns:
        The score in [0, 1]; `details["per_factor"]` has each factor's.

    Reference:
        Almudévar & Ortega 2024, «Rethinking disentanglement under dependent factors of variation».

    Example:
        >>> from unbraid.metrics._shared.examples import mixed_table, perfect_table
        >>> sufficiency(*perfect_table()).value > 0.999 > sufficiency(*mixed_table()).value
        True
    """
    found = binned_information(table, bins, points, seed)
    each = found.matrix.max(axis=0) / found.entropy
    value = float(each.mean())
    spread = None
    if replicates:
        matrix, entropy = found.replicates(seed, replicates)
        spread = interval(value, (matrix.max(axis=1) / np.maximum(entropy, 1e-12)).mean(axis=1), 0, 1)
    details = {"bins": bins, "seed": seed, "rows": found.rows, "per_factor": table.by_factor(each)}
    return Score(value, spread, details)


register(
    Metric(
        name="sufficiency",
        title="Sufficiency",
        description="share of a factor that the best latent knows",
        when="Where factors are correlated, beside minimality: whether a factor is held at all.",
        function=sufficiency,
        reference="Almudévar & Ortega 2024",
        unchanged_by=CHANGES,
    )
)
