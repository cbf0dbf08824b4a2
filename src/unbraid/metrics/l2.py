"""L2: the mean squared error of reconstructions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unbraid.metrics._shared.bootstrap import REPEATS
from unbraid.metrics._shared.errors import mean_error
from unbraid.metrics.record import Metric, register
from unbraid.metrics.score import Score


def l2(a: ArrayLike, b: ArrayLike, *, seed: int = 0, replicates: int = REPEATS) -> Score:
    """Mean squared error per value, mean (a − b)², as `l1` for absolute errors; uint8 images count as [0, 1].

    Args:
        a, b: observations [n, …] and their reconstructions, of one shape.
        seed: of the bootstrap.
        replicates: bootstrap samples of the observations; 0 for no interval.

    Returns:
        The error, 0 for a perfect reconstruction.

    Example:
        >>> l2([[0.0, 1.0]], [[0.5, 0.5]]).value
        0.25
    """
    return mean_error(a, b, np.square, seed, replicates)


register(
    Metric(
        name="l2",
        title="L2",
        description="mean squared error per value of the reconstruction",
        when="For reconstructions; blurred pictures do well by it, so take FID or LPIPS beside it.",
        function=l2,
        needs="observations, reconstructions",
        better="lower",
        range=(0.0, None),
    )
)
