"""Scores of pairs that share a factor's value: the β-VAE score and Z-diff, one set of draws for both."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.errors import InputError
from unbraid.metrics.bootstrap import REPLICATES, Array, interval, resampled_means, stream
from unbraid.metrics.intervention import BATCH, TEST, TRAIN, all_strata
from unbraid.metrics.score import Score
from unbraid.metrics.table import Table, as_table

_CHUNK = 1 << 18


def difference_vectors(
    table: Table, points: int, batch: int, seed: int, purpose: str
) -> tuple[Array, NDArray[np.int64]]:
    """Mean |z − z'| over `batch` pairs of rows that share a factor's value `[points, d]`, and which factor."""

    def make() -> tuple[Array, NDArray[np.int64]]:
        draws = stream(seed, purpose)
        strata = all_strata(table, least=2)
        which = draws.integers(len(strata), size=points)
        out = np.empty((points, table.codes.shape[1]))
        for k, stratum in enumerate(strata):
            for chunk in np.array_split(np.flatnonzero(which == k), 1 + points * batch // _CHUNK):
                rows = stratum.pairs(draws, len(chunk), batch)
                difference = table.codes[rows[:, :, 0]]
                difference -= table.codes[rows[:, :, 1]]
                out[chunk] = np.abs(difference, out=difference).mean(axis=1)
        return out, which

    return table.shared(("differences", points, batch, seed, purpose), make)


def beta_score(
    codes: ArrayLike | Table,
    factors: ArrayLike | None = None,
    *,
    kinds: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    batch: int = BATCH,
    train: int = TRAIN,
    test: int = TEST,
    seed: int = 0,
    replicates: int = REPLICATES,
) -> Score:
    """β-VAE score: which factor did the two observations of each pair share?

    A point is the mean of |z − z'| over `batch` pairs of rows that agree in one factor; the score is the test
    accuracy of a multinomial logistic regression (C = 1) that tells the factor from the point (Higgins et al.
    2017; 10,000 points to fit, 5,000 to test, as in Locatello et al. 2019). Chance is 1/K; codes that are all
    constant score 0. The interval resamples test points.
    """
    return _pair_score("logistic", codes, factors, kinds, names, batch, train, test, seed, replicates)


def z_diff(
    codes: ArrayLike | Table,
    factors: ArrayLike | None = None,
    *,
    kinds: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    batch: int = BATCH,
    train: int = TRAIN,
    test: int = TEST,
    seed: int = 0,
    replicates: int = REPLICATES,
) -> Score:
    """Z-diff: the β-VAE score's points, told apart by linear SVMs one-vs-rest with C = 0.01 on the hinge loss.

    Kumar et al. 2018, §4. The paper does not give the number of pairs in a point; `batch` is that of the β-VAE
    score, and both scores read the same draws. Codes that are all constant score 0. The interval resamples test
    points.
    """
    return _pair_score("svm", codes, factors, kinds, names, batch, train, test, seed, replicates)


def _pair_score(
    classifier: str,
    codes: ArrayLike | Table,
    factors: ArrayLike | None,
    kinds: Sequence[str] | None,
    names: Sequence[str] | None,
    batch: int,
    train: int,
    test: int,
    seed: int,
    replicates: int,
) -> Score:
    table = as_table(codes, factors, kinds=kinds, names=names)
    if len(table.names) < 2:
        raise InputError("the β-VAE score and Z-diff tell factors apart; the table has only one, so leave them out.")
    details: dict[str, Any] = {"classifier": classifier, "seed": seed, "batch": batch, "train": train, "test": test}
    if not np.ptp(table.codes, axis=0).any():
        return Score(0.0, (0.0, 0.0) if replicates else None, details)
    x, y = difference_vectors(table, train, batch, seed, "pairs, train")
    x_test, y_test = difference_vectors(table, test, batch, seed, "pairs, test")
    guess = (_logistic if classifier == "logistic" else _svm)(x, y, x_test)
    correct = (guess == y_test).astype(np.float64)
    value = float(correct.mean())
    spread = interval(value, resampled_means(correct, seed=seed, replicates=replicates), 0, 1) if replicates else None
    k = len(table.names)
    right = np.bincount(y_test, correct, minlength=k) / np.maximum(np.bincount(y_test, minlength=k), 1)
    details["per_factor"] = dict(zip(table.names, right.tolist(), strict=True))
    return Score(value, spread, details)


def _logistic(x: Array, y: NDArray[np.int64], x_test: Array) -> NDArray[np.int64]:
    # Deferred: scikit-learn takes longer to import than most metrics take to run.
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a separable problem is a perfect score, not a failure to converge
        return np.asarray(LogisticRegression(solver="newton-cholesky").fit(x, y).predict(x_test), dtype=np.int64)


def _svm(x: Array, y: NDArray[np.int64], x_test: Array) -> NDArray[np.int64]:
    from sklearn.svm import LinearSVC

    # At scikit-learn's own tolerance the accuracy depends on the order of visits by more than 0.01.
    model = LinearSVC(C=0.01, loss="hinge", tol=1e-6, max_iter=20_000, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(model.fit(x, y).predict(x_test), dtype=np.int64)
