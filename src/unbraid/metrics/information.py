"""Mutual information between codes and factors, and the scores that read it: MIG and modularity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.errors import InputError, unknown
from unbraid.metrics.aggregate import factor_information
from unbraid.metrics.bootstrap import REPLICATES, Array, interval, resampled_means
from unbraid.metrics.score import Score
from unbraid.metrics.table import BINS, Table, as_table, equal_width

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
        count = known.sum(axis=0)
        return Information(rows.sum(axis=0) / count, row_entropy.sum(axis=0) / count, rows, row_entropy, known)

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


def mutual_information_matrix(
    codes: ArrayLike | Table,
    factors: ArrayLike | None = None,
    *,
    kinds: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    bins: int = BINS,
    points: int | None = POINTS,
    normalise: bool = False,
    seed: int = 0,
) -> Array:
    """I(z_j; v_k) in nats `[latent, factor]`, or divided by H(v_k); what the report's heat map shows."""
    found = binned_information(as_table(codes, factors, kinds=kinds, names=names), bins, points, seed)
    return found.matrix / found.entropy if normalise else found.matrix


def mig(
    codes: ArrayLike | Table,
    factors: ArrayLike | None = None,
    *,
    convention: str = "locatello",
    log_vars: ArrayLike | None = None,
    kinds: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    bins: int = BINS,
    points: int | None = POINTS,
    seed: int = 0,
    replicates: int = REPLICATES,
) -> Score:
    """Mutual information gap: how much more the best latent knows of a factor than the second best.

    MIG = 1/K Σ_k (I(z_j(k); v_k) − max_{j≠j(k)} I(z_j; v_k)) / H(v_k)   (Chen et al. 2018, eq. 7)

    Convention `locatello` (Locatello et al. 2019): mean codes of `points` rows in `bins` bins of equal width,
    factors as they are. Convention `chen`: q(z_j given v) and q(z_j) are the mixtures of the posteriors of
    *all* rows (eqs. 6, S1), which needs `codes` to be the means and `log_vars` beside them; the expectations
    that the paper samples are integrated on a grid, so `points`, `bins` play no part. The interval resamples rows.
    """
    table = as_table(codes, factors, kinds=kinds, names=names, log_vars=log_vars)
    if convention == "locatello":
        found = binned_information(table, bins, points, seed)
        how: dict[str, object] = {"bins": bins, "rows": len(found.known)}
    elif convention == "chen":
        if table.log_vars is None:
            raise InputError("convention 'chen' integrates over posteriors; give log_vars beside the codes (means).")
        found = _posterior_information(table)
        how = {"rows": len(table)}
    else:
        raise unknown("convention", convention, ("locatello", "chen"))
    each = gaps(found.matrix / found.entropy)
    spread = None
    if replicates:
        matrix, entropy = found.replicates(seed, replicates)
        again = gaps(matrix / np.maximum(entropy, 1e-12)[:, None]).mean(axis=-1)
        spread = interval(float(each.mean()), again, 0, 1)
    return Score(
        float(each.mean()),
        spread,
        {
            "convention": convention,
            "seed": seed,
            **how,
            "per_factor": dict(zip(table.names, each.tolist(), strict=True)),
            "latent": dict(zip(table.names, found.matrix.argmax(axis=0).tolist(), strict=True)),
            "information": found.matrix,
            "entropy": found.entropy,
        },
    )


def _posterior_information(table: Table) -> Information:
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
        count = known.sum(axis=0)
        return Information(rows.sum(axis=0) / count, row_entropy.sum(axis=0) / count, rows, row_entropy, known)

    return table.shared("posterior information", make)


def gaps(normalised: Array) -> Array:
    """First minus second along the latents (the last axis but one); a lone latent has nothing beside it."""
    if normalised.shape[-2] == 1:
        return normalised[..., 0, :]
    top = np.partition(normalised, -2, axis=-2)
    return np.asarray(top[..., -1, :] - top[..., -2, :])


def modularity(
    codes: ArrayLike | Table,
    factors: ArrayLike | None = None,
    *,
    kinds: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    bins: int = BINS,
    points: int | None = POINTS,
    seed: int = 0,
    replicates: int = REPLICATES,
) -> Score:
    """Modularity: whether each latent knows of one factor only.

    For latent j with its best factor b: 1 − Σ_{k≠b} I(z_j; v_k)² / (I(z_j; v_b)² (K − 1)), averaged over
    latents; a latent that knows nothing scores 0 (Ridgeway & Mozer 2018; 20 equal-width bins and 10,000 points
    as in Locatello et al. 2019). The interval resamples rows.
    """
    table = as_table(codes, factors, kinds=kinds, names=names)
    if len(table.names) < 2:
        raise InputError("modularity compares factors; the table has only one, so leave this metric out.")
    found = binned_information(table, bins, points, seed)
    each = _modularity(found.matrix)
    spread = None
    if replicates:
        spread = interval(float(each.mean()), _modularity(found.replicates(seed, replicates)[0]).mean(axis=-1), 0, 1)
    details = {"seed": seed, "bins": bins, "rows": len(found.known), "per_latent": each}
    return Score(float(each.mean()), spread, details)


def _modularity(matrix: Array) -> Array:
    squared = np.square(matrix)
    best = squared.max(axis=-1)
    rest = squared.sum(axis=-1) - best
    # Rounding leaves up to 1e-32 where a constant code's information is 0.
    active = best > 1e-24
    share = np.divide(rest, best * (matrix.shape[-1] - 1), out=np.ones_like(best), where=active)
    return np.asarray(1.0 - share)
