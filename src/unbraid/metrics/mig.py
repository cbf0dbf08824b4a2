"""MIG, the mutual information gap."""

from __future__ import annotations

from functools import partial

import numpy as np

from unbraid.errors import InputError, unknown
from unbraid.metrics._shared.bootstrap import REPEATS, interval
from unbraid.metrics._shared.checks import table_metric
from unbraid.metrics._shared.information import POINTS, binned_information, gaps, posterior_information
from unbraid.metrics._shared.table import BINS, Table
from unbraid.metrics.record import CHANGES, POSTERIOR_TABLE, Metric, register
from unbraid.metrics.score import Score


@table_metric
def mig(
    table: Table,
    *,
    convention: str = "locatello",
    bins: int = BINS,
    points: int | None = POINTS,
    seed: int = 0,
    replicates: int = REPEATS,
) -> Score:
    """Mutual information gap: how much more the best latent knows of a factor than the second best.

    MIG = 1/K Σ_k (I(z_j(k); v_k) − max_{j≠j(k)} I(z_j; v_k)) / H(v_k)

    Args:
        codes: mean codes [n, latent], or a `Table`.
        factors: true factors [n, factor]; NaN where unknown.
        convention: `locatello`: mean codes in bins, factors as they are. `chen`: q(z_j given v) and q(z_j) are the
            mixtures of the posteriors of *all* rows (eqs. 6, S1), which needs `log_vars`; the expectations that the
            paper samples are integrated on a grid, so that `bins` and `points` play no part.
        bins: equal-width bins of each latent.
        points: rows to draw; None for all.
        seed: of the draw and of the bootstrap.
        replicates: bootstrap samples of the rows; 0 for no interval.

    Returns:
        The score in [0, 1]; `details["per_factor"]` has each factor's gap, `details["latent"]` the latent that knows
        most of it, `details["information"]` the matrix [latent, factor] in nats.

    Reference:
        Chen et al. 2018, eq. 7; bins and points as in Locatello et al. 2019.

    Example:
        >>> from unbraid.metrics._shared.examples import perfect_table
        >>> score = mig(*perfect_table(), names=["shape", "size", "colour"])
        >>> round(score.value, 2), score.details["latent"]
        (1.0, {'shape': 'z1', 'size': 'z2', 'colour': 'z3'})
    """
    if convention == "locatello":
        found = binned_information(table, bins, points, seed)
        how: dict[str, object] = {"bins": bins, "rows": found.rows}
    elif convention == "chen":
        if table.log_vars is None:
            raise InputError("convention 'chen' integrates over posteriors; give log_vars beside the codes (means).")
        found = posterior_information(table, rows=replicates > 0)
        how = {"rows": found.rows}
    else:
        raise unknown("convention", convention, ("locatello", "chen"))
    each = gaps(found.matrix / found.entropy)
    spread = None
    if replicates:
        matrix, entropy = found.replicates(seed, replicates)
        again = gaps(matrix / np.maximum(entropy, 1e-12)[:, None]).mean(axis=-1)
        spread = interval(float(each.mean()), again, 0, 1)
    best = [table.columns[j] for j in found.matrix.argmax(axis=0)]
    details = {
        "convention": convention,
        "seed": seed,
        **how,
        "per_factor": table.by_factor(each),
        "latent": dict(zip(table.names, best, strict=True)),
        "information": found.matrix,
        "entropy": found.entropy,
    }
    return Score(float(each.mean()), spread, details)


register(
    Metric(
        name="mig",
        title="MIG",
        description="gap between the two latents that know most of a factor",
        when="First, for discrete factors: it is the score most papers report. It asks that a factor sits in one "
        "latent, and not that a latent holds one factor (mig_sup asks that).",
        function=mig,
        chance=0.0,
        reference="Chen et al. 2018, eq. 7",
        unchanged_by=CHANGES,
    )
)
register(
    Metric(
        name="mig_chen",
        title="MIG, Chen’s",
        description="the gap by posteriors over all rows",
        when="To compare with figures of the β-TCVAE paper, or where posteriors are wide: it needs log-variances, "
        "and no bins.",
        function=partial(mig, convention="chen"),
        needs=POSTERIOR_TABLE,
        chance=0.0,
        reference="Chen et al. 2018, eqs. 6, 7, S1",
        unchanged_by=CHANGES,
        chance_draws=2,
    )
)
