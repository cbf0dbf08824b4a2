"""Mutual information between codes and factors, with what each row contributes to it."""

from __future__ import annotations

from collections.abc import Callable
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
class Contributions:
    """What each row adds to I(z_j; v_k) and to H(v_k); 0 where its label is missing."""

    information: Array  # [n, d, k]
    entropy: Array  # [n, k]
    known: Array  # [n, k], 1 where the label is there


@dataclass(frozen=True, eq=False)
class Information:
    """I(z_j; v_k) `[d, k]` and H(v_k) `[k]` in nats, and on request what each row contributes to both.

    The mean of a row's log p(z, v)/(p(z)p(v)) over rows *is* the plug-in mutual information, and its deviation
    from that mean is the estimator's influence function: resampling these contributions is the bootstrap of
    the rows to first order, without counting anything again and without the bias that ties in a resample add.
    """

    matrix: Array
    entropy: Array
    rows: int  # how many were read
    contributions: Callable[[], Contributions]

    def replicates(self, seed: int, count: int) -> tuple[Array, Array]:
        """Bootstrap replicates of the matrix `[count, d, k]` and of the entropies `[count, k]`."""
        parts = self.contributions()
        n, d, k = parts.information.shape
        flat = np.concatenate([parts.information.reshape(n, d * k), parts.entropy, parts.known], axis=1)
        means = resampled_means(flat, seed=seed, replicates=count)
        share = np.maximum(means[:, d * k + k :], 1e-12)
        return means[:, : d * k].reshape(count, d, k) / share[:, None], means[:, d * k : d * k + k] / share


def binned_information(table: Table, bins: int = BINS, points: int | None = POINTS, seed: int = 0) -> Information:
    """Plug-in mutual information with codes in `bins` bins of equal width and factors as they are."""

    def make() -> Information:
        sample = table.sample(points, seed)
        codes = binned_codes(table, bins, points, seed)
        n, d, k = len(sample), table.codes.shape[1], table.factors.shape[1]
        matrix, entropy = np.zeros((d, k)), np.zeros(k)
        cells: list[tuple[Array, Array]] = []
        for f in range(k):
            labels, size = table.levels(f)
            label = labels[sample]
            there = label >= 0
            if not there.any():
                raise InputError(f"factor {table.names[f]!r} has no known label among the rows drawn; use more points.")
            whole = bool(there.all())
            joint = joint_counts(codes if whole else codes[there], label if whole else label[there], bins, size)
            cells.append(pointwise_information(joint))
            matrix[:, f] = np.einsum("jbv,jbv->j", joint, cells[f][0])
            entropy[f] = joint[0].sum(axis=0) @ cells[f][1]

        def contributions() -> Contributions:
            rows, row_entropy, known = np.zeros((n, d, k)), np.zeros((n, k)), np.zeros((n, k))
            for f, (pointwise, surprise) in enumerate(cells):
                label = table.levels(f)[0][sample]
                there = np.flatnonzero(label >= 0)
                rows[there, :, f] = pointwise[np.arange(d), codes[there], label[there, None]]
                row_entropy[there, f] = surprise[label[there]]
                known[there, f] = 1.0
            return Contributions(rows, row_entropy, known)

        return Information(matrix, entropy, n, contributions)

    return table.shared(("information", bins, points, seed), make)


def binned_codes(table: Table, bins: int, points: int | None, seed: int) -> NDArray[np.int64]:
    """The bins of the codes of the rows drawn, `[n, d]`."""
    sample = table.sample(points, seed)
    return table.shared_by_codes(("bins", bins, points, seed), lambda: equal_width(table.codes[sample], bins))


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


def posterior_information(table: Table, rows: bool = True) -> Information:
    """Mutual information under the posteriors of all rows, integrated on a grid; the table must have log_vars.

    Without `rows` no contributions of single rows are computed, which takes half of the time.
    """

    def make() -> Information:
        assert table.log_vars is not None
        labels = [table.levels(f) for f in range(table.factors.shape[1])]
        known = np.stack([(label >= 0).astype(np.float64) for label, _ in labels], axis=1)
        row_entropy = np.zeros_like(known)
        for f, (label, size) in enumerate(labels):
            there = label >= 0
            share = np.bincount(label[there], minlength=size) / there.sum()
            row_entropy[there, f] = -np.log(share[label[there]])
        matrix, each = factor_information(table.codes, table.log_vars, labels, rows=rows)

        def contributions() -> Contributions:
            assert each is not None
            return Contributions(each, row_entropy, known)

        return Information(matrix, row_entropy.sum(axis=0) / known.sum(axis=0), len(table), contributions)

    return table.shared(("posterior information", rows), make)


def gaps(normalised: Array) -> Array:
    """First minus second along the latents (the last axis but one); a lone latent has nothing beside it."""
    if normalised.shape[-2] == 1:
        return normalised[..., 0, :]
    top = np.partition(normalised, -2, axis=-2)
    return np.asarray(top[..., -1, :] - top[..., -2, :])


def code_entropy(table: Table, bins: int, points: int | None, seed: int) -> Array:
    """H(z_j) of the binned codes in nats, `[d]`."""
    codes = binned_codes(table, bins, points, seed)
    share = np.stack([np.bincount(column, minlength=bins) for column in codes.T]) / len(codes)
    return np.asarray(-(share * np.log(np.where(share > 0, share, 1.0))).sum(axis=1))
