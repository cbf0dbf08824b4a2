"""Features of images, and their mean and covariance. Which network made them is not decided here."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import Array
from unbraid.metrics._shared.numbers import numbers


@dataclass(frozen=True, eq=False)
class GaussianStatistics:
    """Mean and covariance of features, which a data set needs to have computed once.

    Example:
        >>> GaussianStatistics.of([[0.0, 1.0], [2.0, 3.0]]).mean.tolist()
        [1.0, 2.0]
    """

    mean: Array
    covariance: Array
    count: int

    @classmethod
    def of(cls, features: ArrayLike) -> GaussianStatistics:
        """The statistics of features `[n, d]`, with the unbiased covariance."""
        x = feature_matrix(features, "features")
        mean = x.mean(axis=0)
        centred = x - mean
        return cls(mean, centred.T @ centred / (len(x) - 1), len(x))


def feature_matrix(features: ArrayLike, name: str) -> Array:
    """Features [n, feature] of at least two images, checked."""
    x = numbers(features, name)
    if x.ndim != 2 or len(x) < 2:
        raise InputError(f"{name} have shape {x.shape}; give at least two rows, [n, features].")
    return x


def same_network(a: int, b: int) -> None:
    """Refuse features of two different lengths."""
    if a != b:
        raise InputError(f"one side has {a} features and the other {b}; use the same network.")
