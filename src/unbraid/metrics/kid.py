"""KID, the kernel distance between the features of two sets of images."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics._shared.bootstrap import REPEATS, Array, interval, resampled_means
from unbraid.metrics._shared.features import feature_matrix, same_network
from unbraid.metrics.record import Metric, register
from unbraid.metrics.score import Score

_BLOCK = 2048


def kid(features_a: ArrayLike, features_b: ArrayLike, *, seed: int = 0, replicates: int = REPEATS) -> Score:
    """Kernel distance: the unbiased squared MMD with the kernel (x·y/d + 1)³.

    Over all pairs of rows rather than a hundred subsets of them: the value then has no draws in it. It may be negative
    when the two sets are alike.

    Args:
        features_a: features of one set of images [n, feature].
        features_b: those of the other set, by the same network.
        seed: of the bootstrap.
        replicates: bootstrap samples of the rows of both sides, to first order; 0 for no interval.

    Returns:
        The squared distance.

    Reference:
        Bińkowski et al. 2018.

    Example:
        >>> round(kid([[0.0], [0.0]], [[1.0], [1.0]]).value, 6)
        7.0
    """
    a, b = feature_matrix(features_a, "the first features"), feature_matrix(features_b, "the second features")
    same_network(a.shape[1], b.shape[1])
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


register(
    Metric(
        name="kid",
        title="KID",
        description="kernel Inception distance of the features of images",
        when="For sharpness with few images: unlike FID it is unbiased.",
        function=kid,
        needs="features of two sets of images",
        better="lower",
        range=(None, None),
        reference="Bińkowski et al. 2018",
    )
)
