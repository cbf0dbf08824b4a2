"""Accuracy of attribute vectors on binary factors."""

from __future__ import annotations

import numpy as np

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import REPEATS, Array
from unbraid.metrics._shared.checks import table_metric
from unbraid.metrics._shared.probes import accuracy_score
from unbraid.metrics._shared.strata import TEST, TRAIN
from unbraid.metrics._shared.table import Table
from unbraid.metrics.record import Metric, register
from unbraid.metrics.score import Score


@table_metric
def attribute_classification(
    table: Table, *, train: int = TRAIN, test: int = TEST, seed: int = 0, replicates: int = REPEATS
) -> Score:
    """Accuracy of attribute vectors on binary factors, averaged over the factors.

    w is the mean code of rows that have the attribute minus that of rows that do not; codes are projected on w, scaled
    so that the two means lie 2 apart, and a bias minimises the hinge loss of the projections. Factors with more than
    two values are left out.

    Args:
        codes, factors: mean codes [n, latent] and factors [n, factor], or a `Table`.
        train: rows to fit on.
        test: rows to test on.
        seed: of the split and of the bootstrap.
        replicates: bootstrap samples of the test rows; 0 for no interval.

    Returns:
        The accuracy in [0, 1]; `details["per_factor"]` has that of each binary factor.

    Reference:
        Kumar et al. 2018, Table 2.

    Example:
        >>> from unbraid.metrics._shared.examples import perfect_table
        >>> attribute_classification(*perfect_table()).details["per_factor"]
        {'factor 0': 1.0}
    """
    binary = [f for f in range(len(table.names)) if table.discrete[f] and table.groups(f)[1] == 2]
    if not binary:
        raise InputError("attribute classification needs factors with two values; the table has none.")
    fit, held = table.split(train, test, seed)
    correct, known = np.zeros((len(held), len(binary))), np.zeros((len(held), len(binary)))
    for i, f in enumerate(binary):
        label = table.groups(f)[0]
        yes, no = fit[label[fit] == 1], fit[label[fit] == 0]
        if not len(yes) or not len(no):
            raise InputError(f"factor {table.names[f]!r} has one value among the rows to fit on; give more rows.")
        w = table.codes[yes].mean(axis=0) - table.codes[no].mean(axis=0)
        # The hinge loss has a margin of 1, so the scale of w matters: the classes' means are put 2 apart.
        w *= 2.0 / max(float(w @ w), 1e-300)
        bias = hinge_bias(table.codes[yes] @ w, table.codes[no] @ w)
        known[:, i] = label[held] >= 0
        correct[:, i] = known[:, i] * ((table.codes[held] @ w + bias > 0) == (label[held] == 1))
    return accuracy_score([table.names[f] for f in binary], correct, known, {"seed": seed}, seed, replicates)


def hinge_bias(positive: Array, negative: Array) -> float:
    """The b that minimises Σ max(0, 1 − (s + b)) over positives plus Σ max(0, 1 + (s + b)) over negatives.

    The loss is convex and piecewise linear: its slope at b is minus the positives with 1 − s > b plus the
    negatives with −1 − s < b. Where it is 0 on a stretch, the middle is taken.

    Example:
        >>> import numpy as np
        >>> hinge_bias(np.array([3.0]), np.array([1.0]))
        -2.0
    """
    bends = np.sort(np.concatenate([1.0 - positive, -1.0 - negative]))
    slope = np.arange(1, len(bends) + 1) - len(positive)  # just above each bend
    flat = np.flatnonzero(slope == 0)
    at = int(flat[0]) if flat.size else int(np.argmax(slope > 0))
    return float((bends[at] + bends[at + 1]) / 2) if flat.size and at + 1 < len(bends) else float(bends[at])


register(
    Metric(
        name="attribute_classification",
        title="Attributes",
        description="accuracy of attribute vectors on binary factors",
        when="With yes-or-no attributes, to compare with the DIP-VAE paper's table 2.",
        function=attribute_classification,
        reference="Kumar et al. 2018, Table 2",
        unchanged_by=("order", "sign", "shift", "common scale"),
    )
)
