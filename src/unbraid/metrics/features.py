"""Distances between two sets of features: FID and KID. Which network made the features is not decided here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unbraid.errors import InputError
from unbraid.metrics.bootstrap import REPLICATES, Array, interval, resampled_means
from unbraid.metrics.score import Score
from unbraid.metrics.table import numbers

_BLOCK = 2048


@dataclass(frozen=True, eq=False)
class GaussianStatistics:
    """Mean and covariance of features, which a data set needs to have computed once."""

    mean: Array
    covariance: Array
    count: int

    @classmethod
    def of(cls, features: ArrayLike) -> GaussianStatistics:
        """The statistics of features `[n, d]`, with the unbiased covariance."""
        x = _features(features, "features")
        mean = x.mean(axis=0)
        centred = x - mean
        return cls(mean, centred.T @ centred / (len(x) - 1), len(x))


def fid(
    features_a: ArrayLike | GaussianStatistics,
    features_b: ArrayLike | GaussianStatistics,
    *,
    seed: int = 0,
    replicates: int = REPLICATES,
) -> Score:
    """Fréchet distance of two Gaussians with the features' moments (Heusel et al. 2017).

    FID = |μ_a − μ_b|² + tr(Σ_a + Σ_b − 2(Σ_a Σ_b)^½)

    Published figures use 2048 pool features of the 2015-12-05 Inception network and 10,000 observations or more;
    with fewer rows than features the value is biased upwards. Either side may be `GaussianStatistics`. The
    interval resamples the rows that were given, to first order: a row's contribution is the derivative of the
    distance towards it, so no matrix is decomposed again.
    """
    a = features_a if isinstance(features_a, GaussianStatistics) else GaussianStatistics.of(features_a)
    b = features_b if isinstance(features_b, GaussianStatistics) else GaussianStatistics.of(features_b)
    if a.mean.shape != b.mean.shape:
        raise InputError(f"one side has {len(a.mean)} features and the other {len(b.mean)}; use the same network.")
    root_a, inverse_a = _root(a.covariance)
    cross = _eigen(root_a @ b.covariance @ root_a)
    between = float(np.sqrt(cross[0]).sum())
    value = float(np.sum((a.mean - b.mean) ** 2) + np.trace(a.covariance) + np.trace(b.covariance) - 2 * between)
    value = max(value, 0.0)
    again = np.zeros(replicates)
    # T pushes a onto b: the distance's derivative by Σ_a is 1 − T, by Σ_b it is 1 − T⁻¹.
    sides = [(features_a, a, b, "a"), (features_b, b, a, "b")]
    given = [side for side in sides if not isinstance(side[0], GaussianStatistics)]
    if replicates and given:
        middle = (cross[1] * np.sqrt(cross[0])) @ cross[1].T
        push = {"a": inverse_a @ middle @ inverse_a}
        if any(name == "b" for *_, name in given):
            push["b"] = root_a @ _inverse(middle) @ root_a
        for features, own, other, name in given:
            assert not isinstance(features, GaussianStatistics)
            centred = _features(features, "features") - own.mean
            gain = 2 * centred @ (own.mean - other.mean)
            gain += np.square(centred).sum(axis=1) - np.einsum("nd,nd->n", centred @ push[name], centred)
            means = resampled_means(gain, seed=seed, replicates=replicates, purpose=f"fid {name}")
            again += means - gain.mean()
    spread = interval(value, value + again, 0.0) if replicates and given else None
    return Score(value, spread, {"seed": seed, "features": len(a.mean), "rows": [a.count, b.count]})


def kid(features_a: ArrayLike, features_b: ArrayLike, *, seed: int = 0, replicates: int = REPLICATES) -> Score:
    """Kernel distance: the unbiased squared MMD with the kernel (x·y/d + 1)³ (Bińkowski et al. 2018).

    Over all pairs of rows rather than a hundred subsets of them: the value then has no draws in it. It may be
    negative when the two sets are alike. The interval resamples the rows of both sides, to first order.
    """
    a, b = _features(features_a, "the first features"), _features(features_b, "the second features")
    if a.shape[1] != b.shape[1]:
        raise InputError(f"one side has {a.shape[1]} features and the other {b.shape[1]}; use the same network.")
    within_a, within_b = _kernel_means(a, a, True), _kernel_means(b, b, True)
    across_a, across_b = _kernel_means(a, b, False), _kernel_means(b, a, False)
    value = float(within_a.mean() + within_b.mean() - 2 * across_a.mean())
    spread = None
    if replicates:
        # Each side's projection of the two-sample U-statistic.
        left = resampled_means(2 * (within_a - across_a), seed=seed, replicates=replicates, purpose="kid a")
        right = resampled_means(2 * (within_b - across_b), seed=seed, replicates=replicates, purpose="kid b")
        spread = interval(value, left + right)
    return Score(value, spread, {"seed": seed, "features": a.shape[1], "rows": [len(a), len(b)]})


def _features(features: ArrayLike, name: str) -> Array:
    x = numbers(features, name)
    if x.ndim != 2 or len(x) < 2:
        raise InputError(f"{name} have shape {x.shape}; give at least two rows, [n, features].")
    return x


def _kernel_means(a: Array, b: Array, same: bool) -> Array:
    """Each row of a: its mean kernel with the rows of b, without itself if they are the same rows."""
    sums = np.zeros(len(a))
    for i in range(0, len(a), _BLOCK):
        for j in range(0, len(b), _BLOCK):
            kernel = a[i : i + _BLOCK] @ b[j : j + _BLOCK].T / a.shape[1] + 1.0
            sums[i : i + _BLOCK] += (kernel * kernel * kernel).sum(axis=1)
    if same:
        return np.asarray((sums - (np.square(a).sum(axis=1) / a.shape[1] + 1.0) ** 3) / (len(b) - 1))
    return sums / len(b)


def _eigen(matrix: Array) -> tuple[Array, Array]:
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.maximum(values, 0.0), vectors


def _root(matrix: Array) -> tuple[Array, Array]:
    """The square root of a covariance and the inverse of that on the space it spans."""
    values, vectors = _eigen(matrix)
    root = np.sqrt(values)
    inverse = np.divide(1.0, root, out=np.zeros_like(root), where=values > values.max(initial=0.0) * 1e-10)
    return (vectors * root) @ vectors.T, (vectors * inverse) @ vectors.T


def _inverse(matrix: Array) -> Array:
    values, vectors = _eigen(matrix)
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values > values.max(initial=0.0) * 1e-10)
    return np.asarray((vectors * inverse) @ vectors.T)
