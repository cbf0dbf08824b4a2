"""The best thresholds on one latent for telling the values of a factor apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unbraid.metrics._shared.bootstrap import Array

SEGMENTS = 512  # beyond two values, thresholds stand at no more than this many quantiles


def segments(x: Array, size: int) -> tuple[NDArray[np.int64], int]:
    """The stretch of the latent that each row lies in: thresholds may only stand between stretches."""
    distinct, segment = np.unique(x, return_inverse=True)
    if size == 2 or len(distinct) <= SEGMENTS:
        return segment, len(distinct)
    edges = np.unique(np.quantile(x, np.linspace(0, 1, SEGMENTS + 1)[1:-1]))
    return np.searchsorted(edges, x, side="right"), len(edges) + 1


def best_split(mass: Array) -> NDArray[np.int64]:
    """For two classes, each stretch's class under the best single threshold: `[latent, stretch]`."""
    lead = np.cumsum(mass[:, :, 0] - mass[:, :, 1], axis=1)  # how far class 0 leads below each threshold
    at = np.abs(lead).argmax(axis=1)[:, None]
    low = (np.take_along_axis(lead, at, axis=1) < 0).astype(np.int64)
    return np.where(np.arange(mass.shape[1]) <= at, low, 1 - low)


def best_intervals(mass: Array) -> NDArray[np.int64]:
    """Each stretch's class under the best thresholds, at most one fewer than classes: `[latent, stretch]`.

    best[j, t, c]: the most that latent j's stretches so far can gain with t thresholds if the last one is class c.
    """
    d, segments, size = mass.shape
    best = np.full((d, size, size), -np.inf)
    best[:, 0] = mass[:, 0]
    switch = np.zeros((segments, d, size, size), dtype=bool)
    before = np.zeros((segments, d, size), dtype=np.int16)  # the class that a threshold leaves, for each (j, t)
    for s in range(1, segments):
        before[s, :, 1:] = best[:, :-1].argmax(axis=2)
        gain = np.full((d, size, 1), -np.inf)
        gain[:, 1:, 0] = best[:, :-1].max(axis=2)
        np.greater(gain, best, out=switch[s])
        best = np.maximum(best, gain) + mass[:, s, None]
    guess = np.empty((d, segments), dtype=np.int64)
    latent = np.arange(d)
    t, c = np.divmod(best.reshape(d, -1).argmax(axis=1), size)
    for s in range(segments - 1, -1, -1):
        guess[:, s] = c
        turn = switch[s, latent, t, c]
        t, c = np.where(turn, t - 1, t), np.where(turn, before[s, latent, t], c)
    return guess
