"""L1: the mean absolute error of reconstructions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics._shared.bootstrap import REPEATS
from unbraid.metrics._shared.errors import mean_error
from unbraid.metrics.record import Metric, register
from unbraid.metrics.score import Score


def l1(a: ArrayLike, b: ArrayLike, *, seed: int = 0, replicates: int = REPEATS) -> Score:
    """Mean absolute error per value, mean |a − b|; uint8 images count as [0, 1].

    Args:
        a: observations [n, …].
        b: their reconstructions, of the same shape.
        seed: of the bootstrap.
        replicates: bootstrap samples of the observations; 0 for no interval.

    Returns:
        The error, at least 0.

    Example:
        >>> l1([[0.0, 1.0]], [[0.5, 0.5]]).value
        0.5
    """
    return mean_error(a, b, np.abs, seed, replicates)


register(
    Metric(
        name="l1",
        title="L1",
        description="mean absolute error per value of the reconstruction",
        when="For reconstructions, where a few large errors should not decide.",
        function=l1,
        needs="observations, reconstructions",
        better="lower",
        range=(0.0, None),
    )
)
