"""How often 95 % intervals hold the truth, and whether p-values of permuted tables are uniform.

    python benchmarks/coverage.py [--tables 200] [--rows 2000]

The truth is the score's expected value on tables of this many rows: the mean over the tables and as many others. Scores
by bins depend on the number of rows, so the value on 200,000 rows is shown beside it. P-values are of tables whose
factors were put in a random order, with 19 draws each.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import numpy as np

from unbraid import metrics
from unbraid.metrics.score import Score

Metric = Callable[..., Score]
SIZES = np.array([3, 5])
MIXING = np.array([[1.0, 0.4, 0.1], [0.2, 0.8, 0.3]])
# Metrics whose value on ever more rows is a number of the distribution, and not of the rows or of a fitted probe.
COVERED: dict[str, dict[str, object]] = {
    "mcc": {},
    "total_correlation": {},
    "sap_dip": {},
    "mig": {"points": None},
    "mig_sup": {"points": None},
    "sufficiency": {"points": None},
    "minimality": {"points": None},
    "modularity": {"points": None},
    "omes": {},
    "edi/compactness": {"points": None, "captured": "max"},
}
PERMUTED = ("mig", "mcc", "modularity", "sufficiency", "irs", "sap_dip", "omes")


def table(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Three bounded codes that mix two factors, so that bins lie where they lie in any sample."""
    draws = np.random.default_rng(seed)
    factors = draws.integers(SIZES, size=(rows, 2))
    codes = (factors / (SIZES - 1)) @ MIXING + 0.3 * draws.uniform(-1, 1, size=(rows, 3))
    return codes, factors


def covered(name: str, tables: int, rows: int) -> tuple[float, float, float]:
    """The share of tables whose interval holds the metric's truth, that truth, and the value on very many rows."""
    options = COVERED[name]

    def function(*arrays: np.ndarray, **more: object) -> Score:
        metric, _, part = name.partition("/")
        found = metrics.METRICS[metric].function(*arrays, **more)
        return found[part] if part else found

    scores = [function(*table(rows, seed), seed=seed, **options) for seed in range(tables)]
    others = [function(*table(rows, tables + seed), replicates=0, **options) for seed in range(tables)]
    truth = float(np.mean([score.value for score in (*scores, *others)]))
    hits = sum(score.interval is not None and score.interval[0] <= truth <= score.interval[1] for score in scores)
    return hits / tables, truth, function(*table(200_000, 10**6), replicates=0, **options).value


def p_values(name: str, tables: int, rows: int, draws: int = 19) -> list[float]:
    """P-values of tables whose factors tell nothing of the codes."""
    found = []
    for seed in range(tables):
        codes, factors = table(rows, seed)
        order = np.random.default_rng(seed).permutation(rows)
        score = metrics.METRICS[name].function(codes, factors[order], seed=seed, replicates=0, calibrate=draws)
        assert score.p_value is not None
        found.append(score.p_value)
    return found


def distance_from_uniform(values: Sequence[float], outcomes: int) -> float:
    """The largest gap between the values' distribution and that of equally likely 1/outcomes, 2/outcomes, …, 1."""
    levels = np.arange(1, outcomes + 1) / outcomes
    return float(np.abs(np.searchsorted(np.sort(values), levels + 1e-9) / len(values) - levels).max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--rows", type=int, default=2000)
    options = parser.parse_args()
    for name in COVERED:
        share, truth, many = covered(name, options.tables, options.rows)
        said = f"the interval holds {truth:.4f} in {share:.1%} of {options.tables} tables; on 200,000 rows {many:.4f}"
        print(f"{name:20} {said}", flush=True)
    limit = 1.36 / np.sqrt(options.tables)  # Kolmogorov's, for 5 %
    for name in PERMUTED:
        gap = distance_from_uniform(p_values(name, options.tables, 300), 20)
        print(f"{name:20} p-values are {gap:.3f} from uniform at most (limit {limit:.3f})", flush=True)


if __name__ == "__main__":
    main()
