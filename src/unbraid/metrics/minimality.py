"""Minimality: whether a latent carries nothing beside the factor that it knows best."""

from __future__ import annotations

import numpy as np

from unbraid.metrics._shared.bootstrap import REPEATS, interval
from unbraid.metrics._shared.checks import table_metric
from unbraid.metrics._shared.information import POINTS, binned_information, code_entropy
from unbraid.metrics._shared.numbers import ratio
from unbraid.metrics._shared.table import Table
from unbraid.metrics.record import CHANGES, Metric, register
from unbraid.metrics.score import Score

FINE_BINS = 15  # of the authors


@table_metric
def minimality(
    table: Table, *, bins: int = FINE_BINS, points: int | None = POINTS, seed: int = 0, replicates: int = REPEATS
) -> Score:
    """Minimality: the share of a latent's own information that is about one factor, 1/d Σ_j max_k I(z_j; v_k)/H(z_j).

    It asks nothing of the factors' independence. A continuous code has more to say in `bins` bins than a factor with
    few values can explain: a perfect code of five values with noise gets about 0.6, so read it beside its ceiling.
    Latents that are constant take no part; if all are, the score is 0.

    Args:
        codes, factors: mean codes [n, latent] and factors [n, factor], or a `Table`.
        bins: equal-width bins of each latent.
        points: rows to draw; None for all.
        seed: of the draw and of the bootstrap.
        replicates: bootstrap samples of the rows; 0 for no interval.

    Returns:
        The score in [0, 1]; `details["per_latent"]` has each latent's, [latent].

    Reference:
        Almudévar & Ortega 2024, «Rethinking disentanglement under dependent factors of variation».

    Example:
        >>> from unbraid.metrics._shared.examples import mixed_table, perfect_table
        >>> minimality(*perfect_table()).value > 0.999 > minimality(*mixed_table()).value
        True
    """
    found = binned_information(table, bins, points, seed)
    entropy = code_entropy(table, bins, points, seed)
    varying = entropy > 1e-12
    each = ratio(found.matrix.max(axis=1), entropy, 0.0, least=1e-12)
    value = float(each[varying].mean()) if varying.any() else 0.0
    spread = None
    if replicates and varying.any():
        matrix, _ = found.replicates(seed, replicates)
        again = ratio(matrix.max(axis=2), np.broadcast_to(entropy, matrix.shape[:2]), 0.0, least=1e-12)
        spread = interval(value, again[:, varying].mean(axis=1), 0, 1)
    details = {"bins": bins, "seed": seed, "rows": found.rows, "per_latent": each, "varying": int(varying.sum())}
    return Score(value, spread if varying.any() or not replicates else (0.0, 0.0), details)


register(
    Metric(
        name="minimality",
        title="Minimality",
        description="share of a latent’s information that is of one factor",
        when="Where factors are correlated: it asks nothing of their independence.",
        function=minimality,
        reference="Almudévar & Ortega 2024",
        unchanged_by=CHANGES,
    )
)
