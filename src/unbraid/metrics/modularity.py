"""Modularity: whether each latent knows of one factor only."""

from __future__ import annotations

import numpy as np

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import REPEATS, Array, interval
from unbraid.metrics._shared.checks import table_metric
from unbraid.metrics._shared.information import POINTS, binned_information
from unbraid.metrics._shared.numbers import ratio
from unbraid.metrics._shared.table import BINS, Table
from unbraid.metrics.record import CHANGES, Metric, register
from unbraid.metrics.score import Score


@table_metric
def modularity(
    table: Table, *, bins: int = BINS, points: int | None = POINTS, seed: int = 0, replicates: int = REPEATS
) -> Score:
    """Modularity: whether each latent knows of one factor only.

    For latent j with its best factor b: 1 − Σ_{k≠b} I(z_j; v_k)² / (I(z_j; v_b)² (K − 1)), averaged over latents; a
    latent that knows nothing scores 0.

    Args:
        codes, factors: mean codes [n, latent] and factors [n, factor], or a `Table`.
        bins: equal-width bins of each latent.
        points: rows to draw; None for all.
        seed: of the draw and of the bootstrap.
        replicates: bootstrap samples of the rows; 0 for no interval.

    Returns:
        The score in [0, 1]; `details["per_latent"]` has each latent's, [latent].

    Reference:
        Ridgeway & Mozer 2018; bins and points as in Locatello et al. 2019.

    Example:
        >>> from unbraid.metrics._shared.examples import mixed_table, perfect_table
        >>> round(modularity(*perfect_table()).value, 2), round(modularity(*mixed_table()).value, 2)
        (1.0, 0.89)
    """
    if len(table.names) < 2:
        raise InputError("modularity compares factors; the table has only one, so leave this metric out.")
    found = binned_information(table, bins, points, seed)
    each = _modularity(found.matrix)
    spread = None
    if replicates:
        spread = interval(float(each.mean()), _modularity(found.replicates(seed, replicates)[0]).mean(axis=-1), 0, 1)
    details = {"seed": seed, "bins": bins, "rows": found.rows, "per_latent": each}
    return Score(float(each.mean()), spread, details)


def _modularity(matrix: Array) -> Array:
    squared = np.square(matrix)
    best = squared.max(axis=-1)
    rest = squared.sum(axis=-1) - best
    # Rounding leaves up to 1e-32 where a constant code's information is 0.
    return 1.0 - ratio(rest, best * (matrix.shape[-1] - 1), 1.0, least=1e-24 * (matrix.shape[-1] - 1))


register(
    Metric(
        name="modularity",
        title="Modularity",
        description="whether each latent knows of one factor only",
        when="With explicitness beside it. Noise scores high: never read it without its chance level.",
        function=modularity,
        reference="Ridgeway & Mozer 2018",
        unchanged_by=CHANGES,
    )
)
