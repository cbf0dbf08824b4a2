"""Explicitness: whether the values of every factor can be read off the codes linearly."""

from __future__ import annotations

from functools import partial

import numpy as np

from unbraid.errors import InputError, unknown
from unbraid.metrics._shared.bootstrap import REPEATS, Array, interval
from unbraid.metrics._shared.calibration import calibration
from unbraid.metrics._shared.checks import table_metric
from unbraid.metrics._shared.probes import one_vs_rest_decisions
from unbraid.metrics._shared.ranking import areas
from unbraid.metrics._shared.strata import TEST, TRAIN
from unbraid.metrics._shared.table import Table
from unbraid.metrics.record import Metric, register
from unbraid.metrics.score import Score

CONVENTIONS = ("normalised", "auc")


@table_metric
@calibration(draws=3, train=2000)
def explicitness(
    table: Table,
    *,
    convention: str = "normalised",
    train: int = TRAIN,
    test: int = TEST,
    seed: int = 0,
    replicates: int = REPEATS,
) -> Score:
    """Explicitness: whether the values of every factor can be read off the codes linearly.

    The ROC-AUC on test rows of a logistic regression (C = 1) of each value against the rest, averaged over a factor's
    values and then over factors.

    Args:
        codes, factors: mean codes [n, latent] and factors [n, factor], or a `Table`.
        convention: `normalised`: 2·AUC − 1, so that chance is 0 and perfect 1. `auc`: the AUC itself, with chance at
            0.5, as in Locatello et al. 2019 and in the IDVAE paper.
        train: rows to fit on.
        test: rows to test on.
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
        >>> explicitness(codes, factors).value == 2 * explicitness(codes, factors, convention="auc").value - 1
        True
    """
    if convention not in CONVENTIONS:
        raise unknown("convention of explicitness", convention, CONVENTIONS)
    each, again = table.shared(
        ("explicitness", train, test, seed, replicates), lambda: _areas(table, train, test, seed, replicates)
    )
    slope, offset = (2.0, -1.0) if convention == "normalised" else (1.0, 0.0)
    value = float(slope * np.mean(each) + offset)
    details = {
        "seed": seed,
        "convention": convention,
        "auc": float(np.mean(each)),
        "per_factor": table.by_factor(slope * each + offset),
    }
    spread = interval(value, slope * again.mean(axis=1) + offset, offset, 1) if replicates else None
    return Score(value, spread, details)


def _areas(table: Table, train: int, test: int, seed: int, replicates: int) -> tuple[Array, Array]:
    """The mean AUC of each factor's values [factor], and bootstrap replicates of it [replicate, factor]."""
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
    return np.array(each), np.stack(again, axis=1)


register(
    Metric(
        name="explicitness",
        title="Explicitness",
        description="whether values can be read off the codes linearly",
        when="To ask whether all codes together hold the factors in a form that a linear probe can read; it says "
        "nothing of separation.",
        function=explicitness,
        range=(-1.0, 1.0),
        chance=0.0,
        reference="Ridgeway & Mozer 2018",
        unchanged_by=("order", "sign", "shift"),
    )
)
register(
    Metric(
        name="explicitness_auc",
        title="Explicitness, AUC",
        description="the same as plain area under the ROC curve",
        when="To compare with papers that report the area itself (IDVAE, Locatello et al. 2019).",
        function=partial(explicitness, convention="auc"),
        chance=0.5,
        reference="Ridgeway & Mozer 2018; Locatello et al. 2019",
        unchanged_by=("order", "sign", "shift"),
    )
)
