"""Predictive information: how much of a factor probes get out of codes, on rows that they were not fitted to."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import Array, resampled_means
from unbraid.metrics._shared.correlation import standard
from unbraid.metrics._shared.table import Table

Rows = NDArray[np.int64]
_WIDEST = 20  # latents whose products are read too: beyond, there would be hundreds of them


def predicted_shares(
    table: Table, latents: list[int], train: int, test: int, seed: int, replicates: int
) -> tuple[Array, Array, Array]:
    """The share of each factor's entropy that a probe gets out of some latents together, on held-out rows.

    The probe is a multinomial logistic regression (C = 1) on standardised codes and, of up to 20, their products.

    Returns:
        The shares [factor], the same in nats, and bootstrap replicates of the shares [replicate, factor].
    """
    fit, held = table.split(train, test, seed)
    x = _quadratic(standard(table.codes[:, latents]))
    each, nats, again = [], [], []
    for f in range(len(table.names)):
        losses, plain = held_out_losses(table, f, x, fit, held, balanced=False, penalty=1.0)
        each.append(1.0 - losses.mean() / plain.mean())
        nats.append(plain.mean() - losses.mean())
        if replicates:
            means = resampled_means(np.stack([losses, plain], axis=1), seed=seed, replicates=replicates)
            again.append(1.0 - means[:, 0] / np.maximum(means[:, 1], 1e-12))
    drawn = np.stack(again, axis=1) if replicates else np.zeros((0, len(each)))
    return np.array(each), np.array(nats), drawn


def _quadratic(x: Array) -> Array:
    """Codes and their products, each standardised."""
    if x.shape[1] > _WIDEST:
        return x
    first, second = np.triu_indices(x.shape[1])
    return np.column_stack([x, standard(x[:, first] * x[:, second])])


def held_out_losses(
    table: Table, factor: int, x: Array, fit: Rows, held: Rows, *, balanced: bool, penalty: float
) -> tuple[Array, Array]:
    """−log p(value) of every held-out row by a multinomial logistic regression, and by the values' shares alone.

    Rows whose value no row to fit on has take no part.

    Args:
        table: whose factor is predicted.
        factor: its column.
        x: what is read, [n, feature].
        fit: rows to fit on.
        held: rows to test on.
        balanced: whether every value weighs alike in the fit; all shares are then the same.
        penalty: C of the regression; infinite for none.
    """
    from sklearn.linear_model import LogisticRegression  # deferred: slow to import

    labels = table.groups(factor)[0]
    fit, held = fit[labels[fit] >= 0], held[labels[held] >= 0]
    values, counts = np.unique(labels[fit], return_counts=True)
    held = held[np.isin(labels[held], values)]
    if len(values) < 2 or not len(held):
        raise InputError(
            f"factor {table.names[factor]!r} has fewer than two values among the rows to fit on; give more rows."
        )
    weight = "balanced" if balanced else None
    model = LogisticRegression(C=penalty, class_weight=weight, solver="newton-cg", tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # values that can be told apart have no finite optimum; 100 rounds are enough
        odds = model.fit(x[fit], labels[fit]).predict_log_proba(x[held])
    place = np.searchsorted(values, labels[held])
    surprise = np.full(len(values), np.log(len(values))) if balanced else -np.log(counts / counts.sum())
    least = np.log(np.finfo(np.float64).eps)
    return -np.maximum(odds[np.arange(len(held)), place], least), surprise[place]
