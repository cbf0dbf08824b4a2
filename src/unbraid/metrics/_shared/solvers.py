"""Linear probes solved jointly: all one-vs-rest problems of a metric in one Newton iteration."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from unbraid.metrics._shared.bootstrap import Array

# (weights of some problems, which problems) → their gradients and Hessians; (score, target) → slope, curvature.
Derivatives = Callable[[Array, NDArray[np.int64]], tuple[Array, Array]]
Loss = Callable[[Array, Array], tuple[Array, Array]]

_ROUNDS = 100
_PRODUCTS = 1 << 22


def logistic_one_vs_rest(x: Array, targets: Array, known: Array | None = None, penalty: float = 1.0) -> Array:
    """Weights and intercepts `[d + 1, problems]` of binary logistic regressions on the same rows.

    Each minimises ½|w|² + C Σ_n log(1 + exp(−y_n(w·x_n + b))) with `penalty` = C and a free intercept;
    `targets` `[n, problems]` are 0 or 1 and `known` weighs the rows of each problem.
    """
    from scipy.special import expit  # deferred: importing the metrics should not import SciPy

    ridge = np.full(x.shape[1] + 1, 1.0 / penalty)
    ridge[-1] = 0.0
    start = np.zeros((len(ridge), targets.shape[1]))
    share = targets.mean(axis=0) if known is None else (targets * known).sum(axis=0) / known.sum(axis=0)
    share = np.clip(share, 1e-6, 1 - 1e-6)
    start[-1] = np.log(share / (1 - share))  # what the intercept is when nothing can be learned

    def loss(score: Array, target: Array) -> tuple[Array, Array]:
        p = expit(score)
        return p - target, p * (1.0 - p)

    return _newton(start, _derivatives(x, targets, known, ridge, loss))


def _derivatives(x: Array, targets: Array, known: Array | None, ridge: Array, loss: Loss) -> Derivatives:
    """Gradients and Hessians of ½ Σ ridge·w² + Σ_n loss(w·x_n + b, target_n), for any of the problems at once.

    The Hessians of all problems are one product of the rows' pairwise products with their curvatures.
    """
    design = np.column_stack([x, np.ones(len(x))])
    size = design.shape[1]
    upper = np.triu_indices(size)
    count = max(1, len(x) * len(upper[0]) // _PRODUCTS)
    edges = np.linspace(0, len(x), count + 1).astype(np.int64)
    blocks = [slice(int(a), int(b)) for a, b in itertools.pairwise(edges)]
    # Kept where there is one block only: beyond that, the products are cheaper to make again than to hold.
    kept = design[:, upper[0]] * design[:, upper[1]] if count == 1 else None

    def derivatives(weights: Array, problems: NDArray[np.int64]) -> tuple[Array, Array]:
        everything = len(problems) == targets.shape[1]
        target = targets if everything else targets[:, problems]
        weight = known if known is None or everything else known[:, problems]
        gradient = ridge[:, None] * weights
        packed = np.zeros((len(upper[0]), len(problems)))
        for rows in blocks:
            part = design[rows]
            residual, curvature = loss(part @ weights, target[rows])
            if weight is not None:
                residual, curvature = residual * weight[rows], curvature * weight[rows]
            gradient += part.T @ residual
            products = kept if kept is not None else part[:, upper[0]] * part[:, upper[1]]
            packed += products.T @ curvature
        hessian = np.zeros((len(problems), size, size))
        hessian[:, upper[0], upper[1]] = packed.T
        hessian[:, upper[1], upper[0]] = packed.T
        hessian[:, np.arange(size), np.arange(size)] += ridge + 1e-10
        return gradient, hessian

    return derivatives


def _newton(weights: Array, derivatives: Derivatives) -> Array:
    """Minimise many convex functions at once, each by Newton steps that are halved when they overshoot.

    A step overshoots when the slope along it turns positive and stays large: that needs the gradient at the
    new point only, which the next round needs anyway.
    """
    open_ = np.arange(weights.shape[1])
    gradient, hessian = derivatives(weights, open_)
    for _ in range(_ROUNDS):
        step = -np.linalg.solve(hessian, gradient.T[:, :, None])[:, :, 0].T
        slope = (gradient * step).sum(axis=0)  # minus the squared Newton decrement
        going = -slope > 1e-10
        open_, step, slope = open_[going], step[:, going], slope[going]
        if not open_.size:
            break
        weights[:, open_] += step
        gradient, hessian = derivatives(weights[:, open_], open_)
        for _ in range(30):
            over = (gradient * step).sum(axis=0) > -0.5 * slope
            if not over.any():
                break
            step[:, over] /= 2
            slope[over] /= 2
            weights[:, open_[over]] -= step[:, over]
            gradient[:, over], hessian[over] = derivatives(weights[:, open_[over]], open_[over])
    return weights


class SortedColumn:
    """One latent, sorted once, to fit threshold-like probes of any factor on."""

    def __init__(self, x: Array) -> None:
        self.order = np.argsort(x, kind="stable")
        self.x = x[self.order]

    def svm_one_vs_rest(self, labels: NDArray[np.int64], size: int, penalty: float = 0.01) -> tuple[Array, Array]:
        """Slopes and intercepts of class-balanced linear SVMs of every value against the rest, on this latent.

        Each minimises ½(w² + b²) + Σ_n C_n max(0, 1 − y_n(wx_n + b))², as liblinear does: `penalty` times
        n/(size·n_c) for rows of the value itself, `penalty` for the rest (with two values, each side by its
        own share). In one dimension the rows inside the margin are a half-line of the sorted latent, so every
        sum is a difference of prefix sums and a Newton step costs O(log n). Two values: one problem, for the
        second value.
        """
        n = len(self.x)
        label = labels[self.order]
        counts = np.bincount(label, minlength=size)
        balance = n / (np.count_nonzero(counts) * np.maximum(counts, 1))
        values = np.arange(size) if size > 2 else np.array([1])
        c_pos = penalty * balance[values]
        c_neg = np.full(len(values), penalty) if size > 2 else np.array([penalty * balance[0]])

        by_value = np.argsort(label.astype(np.int16) if size < 2**15 else label, kind="stable")
        key = label[by_value] * (n + 1) + by_value
        all_sums = _prefix_sums(self.x)
        value_sums = _prefix_sums(self.x[by_value])
        ends = np.concatenate([[0], np.cumsum(counts)])
        first, last = ends[values], ends[values + 1]
        total, total_pos = all_sums[:, -1:], value_sums[:, last] - value_sums[:, first]

        def below(threshold: Array) -> tuple[Array, Array]:
            """Sums of 1, x, x² over all rows and over the value's rows that lie below the threshold."""
            place = np.searchsorted(self.x, threshold)
            inside = np.searchsorted(key, values * (n + 1) + place)
            return all_sums[:, place], value_sums[:, inside] - value_sums[:, first]

        def derivatives(weights: Array, problems: NDArray[np.int64]) -> tuple[Array, Array]:
            full = np.zeros((2, len(values)))
            full[:, problems] = weights
            w, b = full
            safe = np.where(w == 0, 1e-300, w)
            with np.errstate(over="ignore"):
                _, pos = below((1 - b) / safe)
                every, own = below((-1 - b) / safe)
            neg = every - own
            pos = np.where(safe > 0, pos, total_pos - pos)
            neg = np.where(safe > 0, (total - total_pos) - neg, neg)
            s0, s1, s2 = 2 * (c_pos * pos + c_neg * neg)
            y0, y1 = 2 * (c_pos * pos - c_neg * neg)[:2]
            gradient = np.stack([w + w * s2 + b * s1 - y1, b + w * s1 + b * s0 - y0])
            hessian = np.empty((len(values), 2, 2))
            hessian[:, 0, 0], hessian[:, 1, 1] = 1 + s2, 1 + s0
            hessian[:, 0, 1] = hessian[:, 1, 0] = s1
            return gradient[:, problems], hessian[problems]

        slope, intercept = _newton(np.zeros((2, len(values))), derivatives)
        return slope, intercept


def _prefix_sums(x: Array) -> Array:
    """Sums of 1, x and x² over the first i values, `[3, n + 1]`."""
    out = np.zeros((3, len(x) + 1))
    out[0] = np.arange(len(x) + 1)
    np.cumsum(x, out=out[1, 1:])
    np.cumsum(np.square(x), out=out[2, 1:])
    return out
