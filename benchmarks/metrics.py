"""Time every metric against the straightforward published algorithm, alternating in one run.

    python benchmarks/metrics.py [--repeats 3] [--no-boosting] [--growth]

The straightforward side is written here, the way the algorithms were published: each metric draws its own factors
and encodes them again, in small batches, and fits one classifier for each cell, value or factor. Encoding is a
stand-in that costs next to nothing, so the comparison is about the algorithms alone; with a real encoder the
straightforward side also encodes some two million images more. Both sides use 10,000 points to fit and 5,000 to
test, 10 latents and 5 factors. Times are CPU seconds of one thread: set OMP_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import mutual_info_score, roc_auc_score
from sklearn.neural_network import MLPClassifier
from sklearn.svm import LinearSVC

from unbraid import metrics

SIZES = np.array([4, 6, 8, 10, 15])
LATENTS, TRAIN, TEST, BATCH = 10, 10_000, 5_000, 64
LOG_VAR = -4.0


class World:
    """Ground truth to draw from and an encoder that costs next to nothing."""

    def __init__(self, seed: int = 0) -> None:
        self.draws = np.random.default_rng(seed)
        self.weights = np.eye(len(SIZES), LATENTS) + 0.15 * self.draws.normal(size=(len(SIZES), LATENTS))

    def factors(self, n: int) -> np.ndarray:
        return self.draws.integers(SIZES, size=(n, len(SIZES)))

    def encode(self, factors: np.ndarray) -> np.ndarray:
        clean = (2.0 * factors / (SIZES - 1) - 1.0) @ self.weights
        return clean + 0.1 * self.draws.normal(size=clean.shape)

    def points(self, n: int, batch: int = 16) -> tuple[np.ndarray, np.ndarray]:
        """Codes and factors, drawn and encoded batch by batch."""
        codes, factors = [], []
        for start in range(0, n, batch):
            factors.append(self.factors(min(batch, n - start)))
            codes.append(self.encode(factors[-1]))
        return np.concatenate(codes), np.concatenate(factors)


def information(codes: np.ndarray, factors: np.ndarray) -> np.ndarray:
    out = np.zeros((codes.shape[1], factors.shape[1]))
    for j in range(codes.shape[1]):
        binned = np.digitize(codes[:, j], np.histogram(codes[:, j], 20)[1][:-1])
        for k in range(factors.shape[1]):
            out[j, k] = mutual_info_score(binned, factors[:, k])
    return out


def gap(scores: np.ndarray) -> float:
    ranked = np.sort(scores, axis=0)
    return float((ranked[-1] - ranked[-2]).mean())


def plain_mig(world: World) -> float:
    codes, factors = world.points(TRAIN)
    entropy = [mutual_info_score(column, column) for column in factors.T]
    return gap(information(codes, factors) / entropy)


def plain_mig_chen(world: World) -> float:
    """As in the paper's appendix: samples of every row, log q(z_j) over all rows, value by value."""
    codes, factors = world.points(TRAIN + TEST)
    deviation = np.exp(0.5 * LOG_VAR)
    mutual = np.zeros((LATENTS, len(SIZES)))

    def log_density(z: np.ndarray, means: np.ndarray) -> np.ndarray:
        out = []
        for part in np.array_split(z, max(1, len(z) * len(means) // 4_000_000)):
            away = (part[:, None] - means) / deviation
            out.append(np.log(np.exp(-0.5 * away**2).mean(axis=1)))
        return np.concatenate(out)

    samples = 1000  # of the paper's 10,000 a value: the paper's own count takes ten times as long
    for j in range(LATENTS):
        rows = world.draws.integers(len(codes), size=samples)
        z = codes[rows, j] + deviation * world.draws.normal(size=samples)
        entropy = -log_density(z, codes[:, j]).mean()
        for k, size in enumerate(SIZES):
            for value in range(size):
                means = codes[factors[:, k] == value, j]
                z = world.draws.choice(means, samples) + deviation * world.draws.normal(size=samples)
                mutual[j, k] += log_density(z, means).mean() * len(means) / len(codes)
            mutual[j, k] += entropy
    return gap(mutual / np.log(SIZES))


def plain_modularity(world: World) -> float:
    squared = information(*world.points(TRAIN)) ** 2
    best = squared.max(axis=1)
    return float((1 - (squared.sum(axis=1) - best) / best / (len(SIZES) - 1)).mean())


def plain_sap(world: World) -> float:
    (x, y), (x_test, y_test) = world.points(TRAIN), world.points(TEST)
    scores = np.zeros((LATENTS, len(SIZES)))
    for j in range(LATENTS):
        for k in range(len(SIZES)):
            svm = LinearSVC(C=0.01, class_weight="balanced").fit(x[:, [j]], y[:, k])
            scores[j, k] = np.mean(svm.predict(x_test[:, [j]]) == y_test[:, k])
    return gap(scores)


def plain_sap_threshold(world: World) -> float:
    """One latent, one value at a time: the best interval cannot be had greedily, so thresholds by full search."""
    x, y = world.points(TEST)
    scores = np.zeros((LATENTS, len(SIZES)))
    for j in range(LATENTS):
        for k, size in enumerate(SIZES):
            cuts = np.unique(np.quantile(x[:, j], np.linspace(0, 1, 513)[1:-1]))
            segment = np.searchsorted(cuts, x[:, j], side="right")
            mass = np.zeros((len(cuts) + 1, size))
            np.add.at(mass, (segment, y[:, k]), 1.0 / (size * np.bincount(y[:, k])[y[:, k]]))
            best = np.full((size, size), -np.inf)
            best[0] = mass[0]
            for row in mass[1:]:
                after = best.copy()
                for t in range(1, size):
                    after[t] = np.maximum(best[t], best[t - 1].max())
                best = after + row
            scores[j, k] = best.max()
    return gap(scores)


def difference_points(world: World, n: int) -> tuple[np.ndarray, np.ndarray]:
    points, labels = np.zeros((n, LATENTS)), np.zeros(n, dtype=int)
    for i in range(n):
        k = world.draws.integers(len(SIZES))
        first, second = world.factors(BATCH), world.factors(BATCH)
        second[:, k] = first[:, k]
        points[i], labels[i] = np.abs(world.encode(first) - world.encode(second)).mean(axis=0), k
    return points, labels


def plain_beta_score(world: World) -> float:
    (x, y), (x_test, y_test) = difference_points(world, TRAIN), difference_points(world, TEST)
    return float(LogisticRegression().fit(x, y).score(x_test, y_test))


def plain_z_diff(world: World) -> float:
    (x, y), (x_test, y_test) = difference_points(world, TRAIN), difference_points(world, TEST)
    return float(LinearSVC(C=0.01, loss="hinge").fit(x, y).score(x_test, y_test))


def plain_factor_score(world: World) -> float:
    spread = np.var(world.points(TRAIN)[0], axis=0, ddof=1)

    def votes(n: int) -> np.ndarray:
        table = np.zeros((LATENTS, len(SIZES)))
        for _ in range(n):
            k = world.draws.integers(len(SIZES))
            factors = world.factors(BATCH)
            factors[:, k] = factors[0, k]
            table[np.argmin(np.var(world.encode(factors), axis=0, ddof=1) / spread), k] += 1
        return table

    winner, test = votes(TRAIN).argmax(axis=1), votes(TEST)
    return float(test[np.arange(LATENTS), winner].sum() / TEST)


def plain_explicitness(world: World) -> float:
    (x, y), (x_test, y_test) = world.points(TRAIN), world.points(TEST)
    areas = []
    for k, size in enumerate(SIZES):
        probes = [LogisticRegression().fit(x, y[:, k] == value) for value in range(size)]
        each = [roc_auc_score(y_test[:, k] == v, p.decision_function(x_test)) for v, p in enumerate(probes)]
        areas.append(np.mean(each))
    return float(2 * np.mean(areas) - 1)


def plain_dci(world: World) -> float:
    x, y = world.points(TRAIN)
    x_test, y_test = world.points(TEST)
    importance = np.zeros((LATENTS, len(SIZES)))
    for k in range(len(SIZES)):
        model = GradientBoostingClassifier().fit(x, y[:, k])
        importance[:, k] = model.feature_importances_
        model.score(x_test, y_test[:, k])
    p = importance / importance.sum(axis=1, keepdims=True)
    entropy = -(p * np.log(np.maximum(p, 1e-300))).sum(axis=1) / np.log(len(SIZES))
    return float((importance.sum(axis=1) / importance.sum()) @ (1 - entropy))


def plain_irs(world: World) -> float:
    codes, factors = world.points(TRAIN)
    reach = np.abs(codes - codes.mean(axis=0)).max(axis=0)
    robust = np.zeros((LATENTS, len(SIZES)))
    for j in range(LATENTS):
        for k, size in enumerate(SIZES):
            groups = [codes[factors[:, k] == value, j] for value in range(size)]
            robust[j, k] = 1 - np.mean([np.percentile(np.abs(z - z.mean()), 99) for z in groups]) / reach[j]
    return float(np.average(robust.max(axis=1), weights=reach))


def plain_mcc(world: World) -> float:
    from scipy.optimize import linear_sum_assignment

    codes, factors = world.points(TRAIN)
    strength = np.array([[abs(np.corrcoef(z, v)[0, 1]) for v in factors.T] for z in codes.T])
    return float(strength[linear_sum_assignment(-strength)].mean())


def plain_total_correlation(world: World) -> float:
    covariance = np.cov(world.points(TRAIN)[0].T)
    return float(0.5 * (np.log(np.diag(covariance)).sum() - np.linalg.slogdet(covariance)[1]))


def plain_downstream(world: World) -> float:
    (x, y), (x_test, y_test) = world.points(TRAIN), world.points(TEST)
    return float(
        np.mean([MLPClassifier(max_iter=20).fit(x, y[:, k]).score(x_test, y_test[:, k]) for k in range(len(SIZES))])
    )


def plain_downstream_linear(world: World) -> float:
    (x, y), (x_test, y_test) = world.points(TRAIN), world.points(TEST)
    right = []
    for k, size in enumerate(SIZES):
        odds = [LogisticRegression().fit(x, y[:, k] == v).decision_function(x_test) for v in range(size)]
        right.append(np.mean(np.argmax(odds, axis=0) == y_test[:, k]))
    return float(np.mean(right))


PLAIN: dict[str, Callable[[World], float]] = {
    name: function for name in metrics.SUITE if (function := globals().get(f"plain_{name}")) is not None
}


def seconds(function: Callable[..., Any], *arguments: Any) -> tuple[float, float]:
    """CPU seconds of this process, which other work on the machine does not lengthen, and the value."""
    start = time.process_time()
    value = float(function(*arguments))
    return time.process_time() - start, value


def compare(repeats: int, boosting: bool) -> None:
    plain: dict[str, list[float]] = {name: [] for name in PLAIN}
    ours: dict[str, list[float]] = {name: [] for name in PLAIN}
    values: dict[str, tuple[float, float]] = {}
    encode: list[float] = []
    for repeat in range(repeats):
        world = World(repeat)
        start = time.process_time()
        codes, factors = world.points(TRAIN + TEST, batch=256)
        encode.append(time.process_time() - start)
        # One table for all of ours, as in the suite: what the first metric prepares, the next ones find.
        table = metrics.as_table(codes, factors, log_vars=np.full(codes.shape, LOG_VAR))
        for name, straightforward in PLAIN.items():
            taken, value = seconds(metrics.METRICS[name].function, table)
            ours[name].append(taken)
            if name == "dci" and (not boosting or repeat):
                continue  # minutes: once is enough
            other, reference = seconds(straightforward, world)
            plain[name].append(other)
            values[name] = (reference, value)
    print(f"{'metric':20} {'straightforward':>16} {'unbraid':>10} {'ratio':>8}    values")
    for name in PLAIN:
        if not plain[name]:
            continue
        a, b = float(np.median(plain[name])), float(np.median(ours[name]))
        print(f"{name:20} {a:14.3f} s {b:8.3f} s {a / b:7.1f}x    {values[name][0]:.3f}  {values[name][1]:.3f}")

    def total(times: dict[str, list[float]], names: list[str]) -> float:
        return sum(float(np.median(times[name])) for name in names if times[name])

    names = [name for name in PLAIN if plain[name]]
    once = float(np.median(encode))
    for label, some in (
        ("all", names),
        ("all but dci", [n for n in names if n != "dci"]),
        ("all but dci and mig_chen", [n for n in names if n not in ("dci", "mig_chen")]),
    ):
        a, b = total(plain, some), total(ours, some) + once
        print(f"{label:25} {a:9.3f} s {b:8.3f} s {a / b:7.1f}x")


def growth() -> None:
    """The suite's metrics with every cap lifted: all rows are read, so the cost is that of the algorithms."""
    previous = None
    print(f"{'rows':>8} {'seconds':>9} {'growth':>7} {'n log n':>8}")
    for n in (15_000, 30_000, 60_000):
        codes, factors = World().points(n, batch=256)
        table = metrics.as_table(codes, factors, log_vars=np.full(codes.shape, LOG_VAR))
        split = {"train": 2 * n // 3, "test": n // 3}
        start = time.process_time()
        for name in PLAIN:
            caps: dict[str, Any] = {"points": None} if name in ("mig", "mig_chen", "modularity") else split
            caps = {} if name in ("irs", "mcc", "total_correlation") else caps
            metrics.METRICS[name].function(table, **caps)
        taken = time.process_time() - start
        if previous is None:
            print(f"{n:8} {taken:8.2f}s")
        else:
            rows, before = previous
            print(f"{n:8} {taken:8.2f}s {taken / before:7.2f} {n * np.log(n) / (rows * np.log(rows)):8.2f}")
        previous = (n, taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-boosting", action="store_true", help="leave out gradient boosting, which takes minutes")
    parser.add_argument("--growth", action="store_true", help="only show how the cost grows with the rows")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.growth:
        compare(options.repeats, not options.no_boosting)
    growth()


if __name__ == "__main__":
    main()
