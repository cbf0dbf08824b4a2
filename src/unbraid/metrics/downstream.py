"""Downstream scores: how well probes predict factors from codes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.errors import InputError, unknown
from unbraid.metrics.bootstrap import REPLICATES, Array, interval, resampled_means, stream
from unbraid.metrics.intervention import TEST, TRAIN
from unbraid.metrics.probes import one_vs_rest_decisions
from unbraid.metrics.score import Score
from unbraid.metrics.table import Table, as_table

_BATCH = 200


def downstream(
    codes: ArrayLike | Table,
    factors: ArrayLike | None = None,
    *,
    probe: str = "mlp",
    latents: Sequence[int] | None = None,
    kinds: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    train: int = TRAIN,
    test: int = TEST,
    hidden: int = 100,
    epochs: int = 20,
    seed: int = 0,
    replicates: int = REPLICATES,
) -> Score:
    """Downstream accuracy: how well a probe predicts each factor from the codes in `latents` (all if left out).

    Test accuracy, averaged over factors, of an `mlp` (one hidden layer of 100 ReLUs, Adam, codes standardised;
    van Steenkiste et al. 2019, and §4 of the MS-VAE paper, which does not give its layers) or of a `linear`
    probe (one-vs-rest logistic regression). Continuous factors are predicted as 20 equally filled bins. The
    interval resamples test rows, with the probe as fitted.
    """
    if probe not in ("mlp", "linear"):
        raise unknown("probe", probe, ("mlp", "linear"))
    table = as_table(codes, factors, kinds=kinds, names=names)
    chosen = _chosen(latents, table.codes.shape[1])
    fit, held = table.split(train, test, seed)
    truth = np.stack([table.groups(f)[0][held] for f in range(len(table.names))], axis=1)
    if probe == "linear":
        decisions, seen = one_vs_rest_decisions(table, train, test, seed, chosen)
        guesses = [values[decision.argmax(axis=1)] for decision, values in zip(decisions, seen, strict=True)]
    else:
        x = table.codes if chosen is None else table.codes[:, list(chosen)]
        spread = x[fit].std(axis=0)
        x = (x - x[fit].mean(axis=0)) / np.where(spread > 1e-12, spread, 1.0)
        labels = [table.groups(f)[0][fit] for f in range(len(table.names))]
        for name, label in zip(table.names, labels, strict=True):
            if (label < 0).all():
                raise InputError(f"factor {name!r} has no known value among the rows to fit on; give more rows.")
        guesses = _mlp(x[fit], labels, x[held], hidden, epochs, seed)
    known = (truth >= 0).astype(np.float64)
    correct = known * (np.stack(guesses, axis=1) == truth)
    each = correct.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    value = float(each.mean())
    details = {
        "probe": probe,
        "latents": "all" if chosen is None else list(chosen),
        "seed": seed,
        "train": len(fit),
        "test": len(held),
        "per_factor": dict(zip(table.names, each.tolist(), strict=True)),
    }
    return Score(value, _interval(value, correct, known, seed, replicates), details)


def _interval(value: float, correct: Array, known: Array, seed: int, replicates: int) -> tuple[float, float] | None:
    """Of the mean accuracy over factors, resampling test rows; `correct` is 0 where the label is missing."""
    if not replicates:
        return None
    means = resampled_means(np.concatenate([correct, known], axis=1), seed=seed, replicates=replicates)
    right, there = np.split(means, 2, axis=1)
    return interval(value, (right / np.maximum(there, 1e-12)).mean(axis=1), 0, 1)


def _chosen(latents: Sequence[int] | None, d: int) -> tuple[int, ...] | None:
    if latents is None:
        return None
    chosen = tuple(int(j) for j in latents)
    if not chosen or any(j not in range(d) for j in chosen):
        raise InputError(f"latents {list(chosen)} are not columns of the codes; choose from 0 to {d - 1}.")
    return chosen


def _mlp(
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


def attribute_classification(
    codes: ArrayLike | Table,
    factors: ArrayLike | None = None,
    *,
    kinds: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    train: int = TRAIN,
    test: int = TEST,
    seed: int = 0,
    replicates: int = REPLICATES,
) -> Score:
    """Accuracy of attribute vectors on binary factors (Kumar et al. 2018, Table 2), averaged over the factors.

    w is the mean code of rows that have the attribute minus that of rows that do not; codes are projected on
    w, scaled so that the two means lie 2 apart, and a bias minimises the hinge loss of the projections. Factors
    with more than two values are left out. The interval resamples test rows.
    """
    table = as_table(codes, factors, kinds=kinds, names=names)
    binary = [f for f in range(len(table.names)) if table.discrete[f] and table.groups(f)[1] == 2]
    if not binary:
        raise InputError("attribute classification needs factors with two values; the table has none.")
    fit, held = table.split(train, test, seed)
    correct, known = np.zeros((len(held), len(binary))), np.zeros((len(held), len(binary)))
    for i, f in enumerate(binary):
        label = table.groups(f)[0]
        yes, no = fit[label[fit] == 1], fit[label[fit] == 0]
        if not len(yes) or not len(no):
            raise InputError(f"factor {table.names[f]!r} has one value among the rows to fit on; give more rows.")
        w = table.codes[yes].mean(axis=0) - table.codes[no].mean(axis=0)
        # The hinge loss has a margin of 1, so the scale of w matters: the classes' means are put 2 apart.
        w *= 2.0 / max(float(w @ w), 1e-300)
        bias = hinge_bias(table.codes[yes] @ w, table.codes[no] @ w)
        known[:, i] = label[held] >= 0
        correct[:, i] = known[:, i] * ((table.codes[held] @ w + bias > 0) == (label[held] == 1))
    each = correct.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    value = float(each.mean())
    per_factor = dict(zip([table.names[f] for f in binary], each.tolist(), strict=True))
    return Score(value, _interval(value, correct, known, seed, replicates), {"seed": seed, "per_factor": per_factor})


def hinge_bias(positive: Array, negative: Array) -> float:
    """The b that minimises Σ max(0, 1 − (s + b)) over positives plus Σ max(0, 1 + (s + b)) over negatives.

    The loss is convex and piecewise linear: its slope at b is minus the positives with 1 − s > b plus the
    negatives with −1 − s < b. Where it is 0 on a stretch, the middle is taken.
    """
    bends = np.sort(np.concatenate([1.0 - positive, -1.0 - negative]))
    slope = np.arange(1, len(bends) + 1) - len(positive)  # just above each bend
    flat = np.flatnonzero(slope == 0)
    at = int(flat[0]) if flat.size else int(np.argmax(slope > 0))
    return float((bends[at] + bends[at + 1]) / 2) if flat.size and at + 1 < len(bends) else float(bends[at])
