"""The β-VAE score: which factor do the observations of each pair share?"""

from __future__ import annotations

import warnings
from typing import Any

from numpy.typing import NDArray

from unbraid.metrics._shared.bootstrap import REPEATS, Array
from unbraid.metrics._shared.calibration import calibration
from unbraid.metrics._shared.checks import table_metric
from unbraid.metrics._shared.pairs import pair_score
from unbraid.metrics._shared.strata import BATCH, TEST, TRAIN
from unbraid.metrics._shared.table import Table
from unbraid.metrics.record import Metric, register
from unbraid.metrics.score import Score


@table_metric
@calibration(draws=3, rows=False, train=1000, test=2000)
def beta_score(
    table: Table, *, batch: int = BATCH, train: int = TRAIN, test: int = TEST, seed: int = 0, replicates: int = REPEATS
) -> Score:
    """β-VAE score: which factor did the two observations of each pair share?

    A point is the mean of |z − z'| over `batch` pairs of rows that agree in one factor; the score is the test accuracy
    of a multinomial logistic regression (C = 1) that tells the factor from the point. Chance is 1/K; codes that are
    all constant score 0.

    Args:
        codes, factors: mean codes [n, latent] and factors [n, factor], or a `Table`.
        batch: pairs to a point.
        train: points to fit on.
        test: points to test on.
        seed: of the draws, which `z_diff` shares.
        replicates: bootstrap samples of the test points; 0 for no interval.

    Returns:
        The accuracy in [0, 1]; `details["per_factor"]` has each factor's.

    Reference:
        Higgins et al. 2017; 10,000 points to fit and 5,000 to test as in Locatello et al. 2019.

    Example:
        >>> from unbraid.metrics._shared.examples import perfect_table
        >>> beta_score(*perfect_table(), train=300, test=100).value
        1.0
    """
    how = {"batch": batch, "train": train, "test": test, "seed": seed, "replicates": replicates}
    return pair_score(table, "logistic", _logistic, **how)


def _logistic(x: Array, y: NDArray[Any], x_test: Array) -> Any:
    # Deferred: scikit-learn takes longer to import than most metrics take to run.
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a separable problem is a perfect score, not a failure to converge
        return LogisticRegression(solver="newton-cholesky").fit(x, y).predict(x_test)


register(
    Metric(
        name="beta_score",
        title="β-VAE score",
        description="which factor pairs share, by logistic regression",
        when="To compare with older papers; it is close to 1 for many models, and then tells them apart no more.",
        function=beta_score,
        reference="Higgins et al. 2017",
        unchanged_by=("order", "sign", "shift"),
    )
)
