"""Z-diff: the β-VAE score's points, told apart by linear support vector machines."""

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
def z_diff(
    table: Table, *, batch: int = BATCH, train: int = TRAIN, test: int = TEST, seed: int = 0, replicates: int = REPEATS
) -> Score:
    """Z-diff: the β-VAE score's points, told apart by linear SVMs one-vs-rest with C = 0.01 on the hinge loss.

    Args:
        codes, factors: mean codes [n, latent] and factors [n, factor], or a `Table`.
        batch: pairs to a point; the paper does not say how many, so that this is the β-VAE score's number.
        train: points to fit the classifiers on.
        test: points to count right guesses on.
        seed: of the draws, which are those of `beta_score`.
        replicates: bootstrap samples of the test points; 0 for no interval.

    Returns:
        The test accuracy in [0, 1], by factor in `details["per_factor"]`. Codes that are all constant score 0.

    Reference:
        Kumar et al. 2018, §4.

    Example:
        >>> from unbraid.metrics._shared.examples import perfect_table
        >>> z_diff(*perfect_table(), train=300, test=100).value > 0.9
        True
    """
    how = {"batch": batch, "train": train, "test": test, "seed": seed, "replicates": replicates}
    return pair_score(table, "svm", _svm, **how)


def _svm(x: Array, y: NDArray[Any], x_test: Array) -> Any:
    from sklearn.svm import LinearSVC

    # At scikit-learn's own tolerance the accuracy depends on the order of visits by more than 0.01.
    model = LinearSVC(C=0.01, loss="hinge", tol=1e-6, max_iter=20_000, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(x, y).predict(x_test)


register(
    Metric(
        name="z_diff",
        title="Z-diff",
        description="which factor pairs share, by linear SVMs, as in DIP-VAE",
        when="To compare with the DIP-VAE paper's tables.",
        function=z_diff,
        reference="Kumar et al. 2018, §4",
        unchanged_by=("order", "sign", "shift"),
    )
)
