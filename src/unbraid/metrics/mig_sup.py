"""MIG-sup: the mutual information gap seen from the latents."""

from __future__ import annotations

import numpy as np

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import REPEATS, interval
from unbraid.metrics._shared.checks import table_metric
from unbraid.metrics._shared.information import POINTS, binned_information, gaps
from unbraid.metrics._shared.table import BINS, Table
from unbraid.metrics.record import CHANGES, Metric, register
from unbraid.metrics.score import Score


@table_metric
def mig_sup(
    table: Table, *, bins: int = BINS, points: int | None = POINTS, seed: int = 0, replicates: int = REPEATS
) -> Score:
    """MIG-sup: how much more a latent knows of its best factor than of the second best.

    MIG-sup = 1/d Σ_j (Ī(z_j; v_k(j)) − max_{k≠k(j)} Ī(z_j; v_k)) with Ī = I/H(v). MIG does not see a latent that holds
    two factors; this does. As in the paper the mean is over all latents, so that those which are not in use count 0:
    `details["per_latent"]` tells them apart.

    Args:
        codes, factors: mean codes [n, latent] and factors [n, factor], or a `Table`.
        bins: equal-width bins of each latent.
        points: rows to draw; None for all.
        seed: of the draw and of the bootstrap.
        replicates: bootstrap samples of the rows; 0 for no interval.

    Returns:
        The score in [0, 1]; `details["per_latent"]` has each latent's gap, [latent].

    Reference:
        Li et al. 2020, «Progressive learning and disentanglement of hierarchical representations», §4.

    Example:
        >>> from unbraid.metrics._shared.examples import perfect_table
        >>> codes, factors = perfect_table()
        >>> both = codes[:, :1] + 3 * codes[:, 1:2]      # one latent for two factors
        >>> round(mig_sup(codes, factors).value, 2), round(mig_sup(both, factors).value, 2)
        (1.0, 0.0)
    """
    if len(table.names) < 2:
        raise InputError("MIG-sup compares the factors that a latent knows; the table has only one, so leave it out.")
    found = binned_information(table, bins, points, seed)
    each = gaps((found.matrix / found.entropy).T)
    value = float(each.mean())
    spread = None
    if replicates:
        matrix, entropy = found.replicates(seed, replicates)
        again = np.swapaxes(matrix / np.maximum(entropy, 1e-12)[:, None], 1, 2)
        spread = interval(value, gaps(again).mean(axis=-1), 0, 1)
    return Score(value, spread, {"bins": bins, "seed": seed, "rows": found.rows, "per_latent": each})


register(
    Metric(
        name="mig_sup",
        title="MIG-sup",
        description="gap between the two factors that a latent knows best",
        when="Beside MIG: it falls where one latent holds several factors, which MIG does not see.",
        function=mig_sup,
        chance=0.0,
        reference="Li et al. 2020, §4",
        unchanged_by=CHANGES,
    )
)
