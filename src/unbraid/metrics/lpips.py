"""LPIPS: the mean perceptual distance of pairs of images."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import REPEATS
from unbraid.metrics._shared.errors import mean_distance
from unbraid.metrics.record import Metric, register
from unbraid.metrics.score import Score


def lpips(distances: ArrayLike, *, seed: int = 0, replicates: int = REPEATS) -> Score:
    """Mean perceptual distance, of the distances that a network gave each pair of images.

    Args:
        distances: one for each pair [n], by a network of your choice.
        seed: of the bootstrap.
        replicates: bootstrap samples of the pairs; 0 for no interval.

    Returns:
        The mean, at least 0.

    Reference:
        Zhang et al. 2018.

    Example:
        >>> lpips([0.25, 0.75]).value
        0.5
    """
    each = np.asarray(distances, dtype=np.float64)
    if each.ndim != 1 or len(each) == 0 or not np.isfinite(each).all():
        raise InputError(f"distances must be finite numbers, one a pair, not an array of shape {each.shape}.")
    return mean_distance(each, seed, replicates)


register(
    Metric(
        name="lpips",
        title="LPIPS",
        description="mean perceptual distance, by a network that you give",
        when="For sharpness as an eye sees it, pair by pair, with a network of yours.",
        function=lpips,
        needs="distances of pairs of images",
        better="lower",
        range=(0.0, None),
        reference="Zhang et al. 2018",
    )
)
