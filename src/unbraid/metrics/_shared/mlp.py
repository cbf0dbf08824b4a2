"""Small networks of one hidden layer, one for each factor, trained side by side in NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unbraid.metrics._shared.bootstrap import Array, stream

_BATCH = 200


def mlp_guesses(
    x: Array, labels: list[NDArray[np.int64]], test: Array, hidden: int, epochs: int, seed: int
) -> list[NDArray[np.int64]]:
    """Guesses for the test rows of one network for each factor, all trained side by side.

    The networks share no weight: their hidden layers lie next to one another so that a step is one product for
    all of them. A row without a label (−1) adds nothing to its factor's loss.
    """
    draws = stream(seed, "mlp")
    values = [np.unique(label[label >= 0]) for label in labels]
    target = np.stack([np.searchsorted(v, label) for v, label in zip(values, labels, strict=True)], axis=1)
    known = np.stack([label >= 0 for label in labels], axis=1)
    x, test = x.astype(np.float32), test.astype(np.float32)
    n, d = x.shape

    # All weights lie in one array, and their slopes in another, so that Adam is a handful of operations a step.
    shapes = [(d + 1, hidden * len(labels)), *((hidden + 1, len(v)) for v in values)]
    fans = [d + hidden, *(hidden + len(v) for v in values)]
    bounds = [np.sqrt(6.0 / fan) for fan in fans]  # Glorot & Bengio 2010
    flat = np.concatenate([draws.uniform(-c, c, r[0] * r[1]) for c, r in zip(bounds, shapes, strict=True)])
    flat = flat.astype(np.float32)
    slope = np.zeros_like(flat)
    first, *second = _views(flat, shapes)
    first_slope, *second_slope = _views(slope, shapes)
    optimiser = _Adam(flat)
    for _ in range(epochs):
        for rows in np.array_split(draws.permutation(n), max(1, n // _BATCH)):
            inputs = x[rows]
            h = np.maximum(inputs @ first[:-1] + first[-1], 0)
            back = np.empty_like(h)
            for f, (w, dw) in enumerate(zip(second, second_slope, strict=True)):
                part = slice(f * hidden, (f + 1) * hidden)
                p = h[:, part] @ w[:-1] + w[-1]
                p = np.exp(p - p.max(axis=1, keepdims=True))
                p /= p.sum(axis=1, keepdims=True)
                there = known[rows, f]
                p[np.flatnonzero(there), target[rows[there], f]] -= 1.0
                p *= there[:, None] / np.float32(max(1, there.sum()))
                np.matmul(h[:, part].T, p, out=dw[:-1])
                np.sum(p, axis=0, out=dw[-1])
                np.matmul(p, w[:-1].T, out=back[:, part])
            back *= h > 0
            np.matmul(inputs.T, back, out=first_slope[:-1])
            np.sum(back, axis=0, out=first_slope[-1])
            optimiser.step(slope)
    h = np.maximum(test @ first[:-1] + first[-1], 0)
    return [
        v[(h[:, f * hidden : (f + 1) * hidden] @ w[:-1] + w[-1]).argmax(axis=1)]
        for f, (v, w) in enumerate(zip(values, second, strict=True))
    ]


def _views(flat: NDArray[np.float32], shapes: list[tuple[int, int]]) -> list[NDArray[np.float32]]:
    """One array seen as matrices that follow each other in it."""
    ends = np.cumsum([rows * columns for rows, columns in shapes])[:-1]
    return [part.reshape(shape) for part, shape in zip(np.split(flat, ends), shapes, strict=True)]


class _Adam:
    """Kingma & Ba 2015 with the usual constants, on one array in place."""

    def __init__(self, weights: NDArray[np.float32]) -> None:
        self.weights, self.steps = weights, 0
        self.mean, self.square = np.zeros_like(weights), np.zeros_like(weights)

    def step(self, gradient: NDArray[np.float32]) -> None:
        """One update."""
        self.steps += 1
        rate = np.float32(1e-3 * np.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps))
        self.mean += np.float32(0.1) * (gradient - self.mean)
        self.square += np.float32(0.001) * (np.square(gradient) - self.square)
        self.weights -= rate * self.mean / (np.sqrt(self.square) + np.float32(1e-8))
