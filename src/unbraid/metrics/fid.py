"""FID, the Fréchet distance between the features of two sets of images."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics._shared.bootstrap import REPEATS, Array, interval, resampled_means
from unbraid.metrics._shared.features import GaussianStatistics, feature_matrix, same_network
from unbraid.metrics._shared.numbers import ratio
from unbraid.metrics.record import Metric, register
from unbraid.metrics.score import Score


def fid(
    features_a: ArrayLike | GaussianStatistics,
    features_b: ArrayLike | GaussianStatistics,
    *,
    seed: int = 0,
    replicates: int = REPEATS,
) -> Score:
    """Fréchet distance of two Gaussians with the features' moments.

    FID = |μ_a − μ_b|² + tr(Σ_a + Σ_b − 2(Σ_a Σ_b)^½)

    Published figures use 2048 pool features of the 2015-12-05 Inception network and 10,000 observations or more; with
    fewer rows than features the value is biased upwards.

    Args:
        features_a: features of one set of images [n, feature], or their `GaussianStatistics`.
        features_b: those of the other set, by the same network.
        seed: of the bootstrap.
        replicates: bootstrap samples of the rows that were given, to first order: a row's contribution is the
            derivative of the distance towards it, so that no matrix is decomposed again; 0 for no interval.

    Returns:
        The distance, at least 0.

    Reference:
        Heusel et al. 2017.

    Example:
        >>> import numpy as np
        >>> a = np.random.default_rng(0).normal(size=(200, 3))
        >>> round(fid(a, a).value, 6), round(fid(a, a + [3.0, 4.0, 0.0]).value, 6)
        (0.0, 25.0)
    """
    a = features_a if isinstance(features_a, GaussianStatistics) else GaussianStatistics.of(features_a)
    b = features_b if isinstance(features_b, GaussianStatistics) else GaussianStatistics.of(features_b)
    same_network(len(a.mean), len(b.mean))
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
            centred = feature_matrix(features, "features") - own.mean
            gain = 2 * centred @ (own.mean - other.mean)
            gain += np.square(centred).sum(axis=1) - np.einsum("nd,nd->n", centred @ push[name], centred)
            means = resampled_means(gain, seed=seed, replicates=replicates, purpose=f"fid {name}")
            again += means - gain.mean()
    spread = interval(value, value + again, 0.0) if replicates and given else None
    return Score(value, spread, {"seed": seed, "features": len(a.mean), "rows": [a.count, b.count]})


def _eigen(matrix: Array) -> tuple[Array, Array]:
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.maximum(values, 0.0), vectors


def _root(matrix: Array) -> tuple[Array, Array]:
    """The square root of a covariance and the inverse of that on the space it spans."""
    values, vectors = _eigen(matrix)
    root = np.sqrt(values)
    inverse = np.where(values > values.max(initial=0.0) * 1e-10, 1.0 / np.maximum(root, 1e-300), 0.0)
    return (vectors * root) @ vectors.T, (vectors * inverse) @ vectors.T


def _inverse(matrix: Array) -> Array:
    values, vectors = _eigen(matrix)
    inverse = ratio(np.ones(1), values, 0.0, least=float(values.max(initial=0.0)) * 1e-10)
    return np.asarray((vectors * inverse) @ vectors.T)


register(
    Metric(
        name="fid",
        title="FID",
        description="Fréchet Inception distance of the features of images",
        when="For sharpness of reconstructions or draws; take the same number of images throughout a table.",
        function=fid,
        needs="features of two sets of images",
        better="lower",
        range=(0.0, None),
        reference="Heusel et al. 2017",
    )
)
