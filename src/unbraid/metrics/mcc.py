"""MCC, the mean correlation coefficient."""

from __future__ import annotations

import numpy as np

from unbraid.errors import unknown
from unbraid.metrics._shared.bootstrap import REPEATS, interval
from unbraid.metrics._shared.calibration import calibration
from unbraid.metrics._shared.checks import table_metric
from unbraid.metrics._shared.correlation import squared_correlation
from unbraid.metrics._shared.table import Table
from unbraid.metrics.record import CHANGES, Metric, register
from unbraid.metrics.score import Score


@table_metric
@calibration(draws=5)
def mcc(table: Table, *, method: str = "pearson", seed: int = 0, replicates: int = REPEATS) -> Score:
    """Mean correlation coefficient: 1/K Σ_k |r(z_π(k), v_k)| under the one-to-one assignment π that maximises it.

    A cyclic factor is matched by its cosine and sine, a categorical one by its class means (the root of R²). Factors
    that no latent is left for count 0.

    Args:
        codes, factors: mean codes [n, latent] and factors [n, factor], or a `Table`.
        method: `pearson` or `spearman`.
        seed: of the bootstrap.
        replicates: bootstrap samples of the rows, with the assignment as found; 0 for no interval.

    Returns:
        The mean in [0, 1]; `details["latent"]` names the latent assigned to each factor, `details["correlation"]`
        has all of them, [latent, factor].

    Reference:
        Hyvärinen & Morioka 2016.

    Example:
        >>> from unbraid.metrics._shared.examples import perfect_table
        >>> codes, factors = perfect_table()
        >>> score = mcc(codes[:, ::-1], factors)
        >>> round(score.value, 6), score.details["latent"]["factor 0"]
        (1.0, 'z3')
    """
    # Deferred: importing the metrics should not import SciPy.
    from scipy.optimize import linear_sum_assignment

    if method not in ("pearson", "spearman"):
        raise unknown("method of MCC", method, ("pearson", "spearman"))
    rows = np.arange(len(table))
    k = len(table.names)
    ranks = method == "spearman"
    found = [squared_correlation(table, f, rows, seed, replicates, ranks=ranks) for f in range(k)]
    strength = np.sqrt(np.stack([value for value, _ in found], axis=1))  # [latent, factor]
    again = np.sqrt(np.stack([draw for _, draw in found], axis=2))
    latent, factor = linear_sum_assignment(-strength)
    value = float(strength[latent, factor].sum() / k)
    each = np.zeros(k)
    each[factor] = strength[latent, factor]
    details = {
        "method": method,
        "seed": seed,
        "per_factor": table.by_factor(each),
        "latent": {table.names[f]: table.columns[j] for j, f in zip(latent, factor, strict=True)},
        "correlation": strength,
    }
    spread = interval(value, again[:, latent, factor].sum(axis=1) / k, 0, 1) if replicates else None
    return Score(value, spread, details)


register(
    Metric(
        name="mcc",
        title="MCC",
        description="mean correlation of factors with latents assigned to them",
        when="In studies of identifiability, with continuous factors and as many latents as factors.",
        function=mcc,
        reference="Hyvärinen & Morioka 2016",
        unchanged_by=CHANGES,
    )
)
