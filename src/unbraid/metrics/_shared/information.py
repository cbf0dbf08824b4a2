"""Mutual information between codes and factors, with what each row contributes to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import InputError
from unbraid.metrics._shared.aggregate import factor_information
from unbraid.metrics._shared.bootstrap import Array, resampled_means
from unbraid.metrics._shared.numbers import equal_width
from unbraid.metrics._shared.table import BINS, Table

POINTS = 10_000


@dataclass(frozen=True, eq=False)
class Information:
    """I(z_j; v_k) `[d, k]` and H(v_k) `[k]` in nats, and what each row contributes to both.

    The mean of a row's log p(z, v)/(p(z)p(v)) over rows *is* the plug-in mutual information, and its deviation
    from that mean is the estimator's influence function: resampling these contributions is the bootstrap of
    the rows to first order, without counting anything again and without the bias that ties in a resample add.
    """

    matrix: Array
    entropy: Array
    rows: Array  # [n, d, k], 0 where the label is missing
    row_entropy: Array  # [n, k]
    known: Array  # [n, k], 1 where the label is there

    @classmethod
    def of(cls, rows: Array, row_entropy: Array, known: Array) -> Information:
        """The information of all rows, each factor's mean taken over the rows whose label is known."""
        count = known.sum(axis=0)
        return cls(rows.sum(axis=0) / count, row_entropy.sum(axis=0) / count, rows, row_entropy, known)

    def replicates(self, seed: int, count: int) -> tuple[Array, Array]:
        """Bootstrap replicates of the matrix `[count, d, k]` and of the entropies `[count, k]`."""
        n, d, k = self.rows.shape
        flat = np.concatenate([self.rows.reshape(n, d * k), self.row_entropy, self.known], axis=1)
        means = resampled_means(flat, seed=seed, replicates=count)
        share = np.maximum(means[:, d * k + k :], 1e-12)
        return means[:, : d * k].reshape(count, d, k) / share[:, None], means[:, d * k : d * k + k] / share


def binned_information(table: Table, bins: int = BINS, points: int | None = POINTS, seed: int = 0) -> Information:
    """Plug-in mutual information with codes in `bins` bins of equal width and factors as they are."""

    def make() -> Information:
        sample = table.sample(points, seed)
        codes = equal_width(table.codes[sample], bins)
        n, d, k = len(sample), table.codes.shape[1], table.factors.shape[1]
        rows, row_entropy, known = np.zeros((n, d, k)), np.zeros((n, k)), np.zeros((n, k))
        for f in range(k):
            labels, size = table.levels(f)
            there = np.flatnonzero(labels[sample] >= 0)
            if not there.size:
                raise InputError(f"factor {table.names[f]!r} has no known label among the rows drawn; use more points.")
            label = labels[sample][there]
            pointwise, surprise = pointwise_information(joint_counts(codes[there], label, bins, size))
            rows[there, :, f] = pointwise[np.arange(d), codes[there], label[:, None]]
            row_entropy[there, f] = surprise[label]
            known[there, f] = 1.0
        return Information.of(rows, row_entropy, known)

    return table.shared(("information", bins, points, seed), make)


def joint_counts(codes: NDArray[np.int64], labels: NDArray[np.int64], bins: int, size: int) -> Array:
    """p(bin, value) for every latent, `[d, bins, size]`."""
    n, d = codes.shape
    cell = (np.arange(d) * bins + codes) * size + labels[:, None]
    return np.asarray(np.bincount(cell.ravel(), minlength=d * bins * size).reshape(d, bins, size) / n)


def pointwise_information(joint: Array) -> tuple[Array, Array]:
    """log p(z, v)/(p(z)p(v)) for every cell (0 in empty ones), and −log p(v)."""
    p_value = joint[0].sum(axis=0)
    product = joint.sum(axis=2, keepdims=True) * p_value
    ratio = np.divide(joint, product, out=np.ones_like(joint), where=joint > 0)
    return np.log(ratio), -np.log(np.where(p_value > 0, p_value, 1.0))


def posterior_information(table: Table) -> Information:
    """Mutual information under the posteriors of all rows, integrated on a grid; the table must have log_vars."""

    def make() -> Information:
        assert table.log_vars is not None
        labels = [table.levels(f) for f in range(table.factors.shape[1])]
        rows = factor_information(table.codes, table.log_vars, labels)
        known = np.stack([(label >= 0).astype(np.float64) for label, _ in labels], axis=1)
        row_entropy = np.zeros_like(known)
        for f, (label, size) in enumerate(labels):
            there = label >= 0
            share = np.bincount(label[there], minlength=size) / there.sum()
            row_entropy[there, f] = -np.log(share[label[there]])
        return Information.of(rows, row_entropy, known)

    return table.shared("posterior information", make)


def gaps(normalised: Array) -> Array:
    """First minus second along the latents (the last axis but one); a lone latent has nothing beside it."""
    if normalised.shape[-2] == 1:
        return normalised[..., 0, :]
    top = np.partition(normalised, -2, axis=-2)
    return np.asarray(top[..., -1, :] - top[..., -2, :])
