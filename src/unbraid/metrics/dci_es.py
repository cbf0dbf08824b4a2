"""DCI-ES: explicitness, which extends DCI by how much capacity a probe needs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import REPEATS, Array, interval, resampled_means, stream
from unbraid.metrics._shared.calibration import calibration
from unbraid.metrics._shared.checks import table_metric
from unbraid.metrics._shared.correlation import standard
from unbraid.metrics._shared.table import Table
from unbraid.metrics.record import Metric, register
from unbraid.metrics.score import Score

Rows = NDArray[np.int64]
CAPACITIES = (4, 8, 16, 32, 64, 128, 256)
_RIDGE = 1e-3


@table_metric
@calibration(draws=3, train=2000)
def dci_es(table: Table, *, train: int = 5000, test: int = 2500, seed: int = 0, replicates: int = REPEATS) -> Score:
    """Explicitness of DCI-ES: how small a probe may be that predicts the factors.

    Probes of growing capacity (ridge regressions on 4 to 256 random Fourier features of the standardised codes) predict
    each factor; with the loss-capacity curve L(κ), κ = log₂ features, made monotone,
    E = 1 − ∫(L(κ) − min L)dκ / ½(L₀ − min L)(κ_max − κ_min), where L₀ = 1 is the loss of guessing the mean. A curve
    that falls at once has E near 1, one on a straight line 0, and one that falls only at the end −1. Where nothing is
    learned (min L ≥ 0.99 L₀) there is no curve, and E is −1. The size S = K/d is in the details; disentanglement,
    completeness and informativeness are `dci`'s.

    Args:
        codes, factors: mean codes [n, latent] and factors [n, factor], or a `Table`.
        train: rows to fit on.
        test: rows to test on.
        seed: of the split, the features and the bootstrap.
        replicates: bootstrap samples of the test rows; 0 for no interval.

    Returns:
        E, at most 1; `details["per_factor"]` has each factor's, `details["curves"]` L [factor, capacity] and
        `details["size"]` the factors for each latent.

    Reference:
        Eastwood et al. 2023, §3; with the authors' definition of the area, and ridge regressions on nested sets of
        random features in place of probes trained one by one.

    Example:
        >>> from unbraid.metrics._shared.examples import perfect_table
        >>> score = dci_es(*perfect_table(), replicates=0)
        >>> score.value > 0.5, score.details["size"]
        (True, 1.0)
    """
    fit, held = table.split(train, test, seed)
    errors = [_errors(table, f, fit, held, seed) for f in range(len(table.names))]  # [test, capacity] each
    curves = np.stack([error.mean(axis=0) for error in errors])
    each = explicitness_of_curves(curves)
    value = float(each.mean())
    spread = None
    if replicates:
        drawn = [resampled_means(error, seed=seed, replicates=replicates) for error in errors]
        again = np.stack([explicitness_of_curves(draws) for draws in drawn])
        spread = interval(value, again.mean(axis=0), -1, 1)
    details = {
        "seed": seed,
        "train": len(fit),
        "test": len(held),
        "capacities": list(CAPACITIES),
        "per_factor": table.by_factor(each),
        "curves": curves,
        "size": len(table.names) / table.codes.shape[1],
    }
    return Score(value, spread, details)


def explicitness_of_curves(losses: Array, baseline: float = 1.0) -> Array:
    """E of loss-capacity curves `[curve, capacity]` over log capacities one apart.

    Example:
        >>> explicitness_of_curves(np.array([[1.0, 0.5, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 0.0]])).tolist()
        [0.0, 1.0, -0.5]
    """
    lowest = np.minimum.accumulate(np.minimum(losses, baseline), axis=-1)
    least = lowest[..., -1]
    above = lowest - least[..., None]
    area = (0.5 * (above[..., 1:] + above[..., :-1])).sum(axis=-1)
    full = 0.5 * (baseline - least) * (losses.shape[-1] - 1)
    learned = least < 0.99 * baseline
    return np.asarray(np.where(learned, 1.0 - area / np.where(learned, full, 1.0), -1.0))


def _errors(table: Table, factor: int, fit: Rows, held: Rows, seed: int) -> Array:
    """Squared errors of every test row by capacity, in parts of the variance."""
    rows = np.flatnonzero(table.known(factor))
    fit, held = fit[np.isin(fit, rows)], held[np.isin(held, rows)]
    if len(fit) < 2 or not len(held) or not np.ptp(table.factors[fit, factor]) > 0:
        raise InputError(
            f"factor {table.names[factor]!r} has fewer than two values among the rows to fit on; give more rows."
        )
    if table.kinds[factor] == "categorical":
        labels, size = table.groups(factor)
        target = np.eye(size)[np.maximum(labels, 0)]
    else:
        target = table.coordinates(factor)
    target = target - target[fit].mean(axis=0)
    scale = np.square(target[held]).sum(axis=1).mean()
    features = table.shared_by_codes(("fourier", seed), lambda: _features(table.codes, seed))
    x, y = features[fit], target[fit]
    gram, products = x.T @ x, x.T @ y
    out = np.empty((len(held), len(CAPACITIES)))
    for i, count in enumerate(CAPACITIES):
        used = np.r_[:count, -1]  # the last one is constant
        system = gram[np.ix_(used, used)] + _RIDGE * len(fit) * np.diag(np.append(np.ones(count), 0.0))
        guess = features[np.ix_(held, used)] @ np.linalg.solve(system, products[used])
        out[:, i] = np.square(target[held] - guess).sum(axis=1) / max(float(scale), 1e-300)
    return out


def _features(codes: Array, seed: int) -> Array:
    """Cosines of random projections of the standardised codes, and a constant: `[n, capacity + 1]`."""
    draws = stream(seed, "fourier")
    x = standard(codes)
    frequencies = draws.standard_normal((x.shape[1], CAPACITIES[-1])) / np.sqrt(max(1, x.shape[1]))
    phases = draws.uniform(0, 2 * np.pi, CAPACITIES[-1])
    return np.column_stack([np.sqrt(2.0) * np.cos(x @ frequencies + phases), np.ones(len(x))])


register(
    Metric(
        name="dci_es",
        title="DCI-ES explicitness",
        description="how little capacity a probe needs",
        when="To compare representations by how easily factors are read from them, of different sizes too.",
        function=dci_es,
        range=(-1.0, 1.0),
        reference="Eastwood et al. 2023, §3",
        unchanged_by=("shift", "scale of each", "common scale"),
    )
)
