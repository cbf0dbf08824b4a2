"""Mutual information of a number and a class by nearest neighbours (Ross 2014), along one dimension."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unbraid.metrics._shared.bootstrap import Array

TINY = 1e-10  # noise that breaks ties, as a part of the column's size; without it, repeated values would say nothing
_ROUNDING = 3  # places by which an end can be wrong


class NeighbourColumn:
    """One latent, sorted once, to find its information on any factor."""

    def __init__(self, x: Array, noise: Array) -> None:
        """Numbers, one a row, and standard normal noise, which is turned with the numbers' sign."""
        deviation = float(x.std())
        x = (x - x.mean()) / deviation if deviation > 0 else x - x.mean()
        x = x + TINY * max(1.0, float(np.abs(x).mean())) * np.sign(x[np.abs(x).argmax()]) * noise
        self.order = np.argsort(x, kind="stable")
        self.x = x[self.order]

    def information(self, labels: NDArray[np.int64], neighbours: int) -> float:
        """I(x; label) in nats, at least 0; rows without a label (−1) and classes with one row take no part.

        For each row the distance to its k-th neighbour of the same class, and the number m of all rows nearer than
        that: ψ(n) + ⟨ψ(k)⟩ − ⟨ψ(rows of the class)⟩ − ⟨ψ(m)⟩. In one dimension the k neighbours lie in one of k + 1
        windows of the sorted column, and m is a difference of two places in it.

        Args:
            labels: class of each row, 0, 1, …
            neighbours: k; a class with fewer rows takes all of them.
        """
        from scipy.special import digamma  # deferred: importing the metrics should not import SciPy

        counts = np.bincount(labels[labels >= 0], minlength=1)  # none of the rows drawn may have a label
        label = labels[self.order]
        kept = (label >= 0) & (counts[label] > 1)
        x, label = self.x[kept], label[kept]
        n = len(x)
        if not n:
            return 0.0
        by_class = np.argsort(label.astype(np.int16) if len(counts) < 2**15 else label, kind="stable")
        centre, radius, used = x[by_class], np.empty(n), np.empty(n)
        start = 0
        for count in counts[counts > 1]:
            here = slice(start, start + count)
            used[here] = k = min(neighbours, int(count) - 1)
            radius[here] = kth_distance(centre[here], k)
            start += count
        near = self._nearer(x, centre, radius)
        found = digamma(n) + digamma(used).mean() - digamma(counts[label]).mean() - digamma(near).mean()
        return max(0.0, float(found))

    @staticmethod
    def _nearer(x: Array, centre: Array, radius: Array) -> NDArray[np.int64]:
        """How many of the sorted numbers are nearer to each centre than its radius."""
        low = np.searchsorted(x, centre - radius)
        high = np.searchsorted(x, centre + radius, side="right")
        for _ in range(_ROUNDING):  # centre ± radius is rounded; whether a row is nearer is decided by its distance
            low += (low < len(x)) & (centre - x[np.minimum(low, len(x) - 1)] >= radius)
            high -= (high > 0) & (x[np.maximum(high - 1, 0)] - centre >= radius)
        return np.asarray(np.maximum(high - low, 1))


def kth_distance(x: Array, k: int) -> Array:
    """The distance of each of some sorted numbers to its k-th nearest neighbour among them.

    Example:
        >>> import numpy as np
        >>> kth_distance(np.array([0.0, 1.0, 3.0, 7.0]), 2).tolist()
        [3.0, 2.0, 3.0, 6.0]
    """
    width = len(x) - k
    reach = np.full(len(x), np.inf)
    for before in range(k + 1):  # the window holds `before` rows to the left and k − before to the right
        here = slice(before, before + width)
        np.minimum(reach[here], np.maximum(x[here] - x[:width], x[k:] - x[here]), out=reach[here])
    return reach
