"""Explicitness: whether the values of every factor can be read off the codes linearly."""

from __future__ import annotations

import numpy as np

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import REPEATS, interval
from unbraid.metrics._shared.calibration import calibration
from unbraid.metrics._shared.checks import table_metric
from unbraid.metrics._shared.probes import one_vs_rest_decisions
from unbraid.metrics._shared.ranking import areas
from unbraid.metrics._shared.strata import TEST, TRAIN
from unbraid.metrics._shared.table import Table
from unbraid.metrics.record import Metric, register
from unbraid.metrics.score import Score


@table_metric
@calibration(draws=3, train=2000)
def explicitness(
    table: Table,
    *,
    train: int = TRAIN,
    test: int = TEST,
    normalise: bool = True,
    seed: int = 0,
    replicates: int = REPEATS,
) -> Score:
    """Explicitness: whether the values of every factor can be read off the codes linearly.

    The ROC-AUC on test rows of a logistic regression (C = 1) of each value against the rest, averaged over a factor's
    values and then over factors.

    Args:
        codes, factors: mean codes [n, latent] and factors [n, factor], or a `Table`.
        train: rows to fit on.
        test: rows to test on.
        normalise: map chance to 0 and perfect to 1, 2·AUC − 1; else the value is the AUC, as in Locatello et al. 2019.
        seed: of the split and of the bootstrap.
        replicates: bootstrap samples of the test rows, with the probes as fitted; 0 for no interval.

    Returns:
        The score, at most 1; `details["auc"]` has the plain mean AUC, `details["per_factor"]` each factor's score.

    Reference:
        Ridgeway & Mozer 2018.

    Example:
        >>> from unbraid.metrics._shared.examples import perfect_table
        >>> codes, factors = perfect_table()
        >>> explicitness(codes, factors[:, 0]).value
        1.0
    """
    decisions, seen = one_vs_rest_decisions(table, train, test, seed)
    _, held = table.split(train, test, seed)
    each, again = [], []
    for f, (decision, values) in enumerate(zip(decisions, seen, strict=True)):
        truth = table.groups(f)[0][held]
        there = truth >= 0
        area, draws = areas(decision[there], truth[there, None] == values, seed, replicates)
        if not area.size:
            raise InputError(f"factor {table.names[f]!r} has one value only among the test rows; give more rows.")
        each.append(area.mean())
        again.append(draws.mean(axis=1))
    slope, offset = (2.0, -1.0) if normalise else (1.0, 0.0)
    value = float(slope * np.mean(each) + offset)
    details = {
        "seed": seed,
        "normalised": normalise,
        "auc": float(np.mean(each)),
        "per_factor": table.by_factor(slope * np.array(each) + offset),
    }
    spread = interval(value, slope * np.mean(again, axis=0) + offset, offset, 1) if replicates else None
    return Score(value, spread, details)


register(
    Metric(
        name="explicitness",
        title="Explicitness",
        description="whether values can be read off the codes linearly",
        function=explicitness,
        range=(-1.0, 1.0),
        chance=0.0,
        reference="Ridgeway & Mozer 2018",
        unchanged_by=("order", "sign", "shift"),
    )
)
