"""What chance and ceiling cost: the calibrated suite against the plain one, in CPU seconds of one thread.

    OMP_NUM_THREADS=1 python benchmarks/calibration_cost.py [--rows 500 2000 15000]

Ten latents beside five factors with 4 to 15 values, with posteriors and without; the two are run in turn, twice, and
the faster run of each counts.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from unbraid import metrics

SIZES = (4, 6, 8, 10, 15)


def table(rows: int, posteriors: bool) -> metrics.Table:
    """Five latents with a factor each, and five that mix them all."""
    draws = np.random.default_rng(0)
    factors = draws.integers(SIZES, size=(rows, 5)).astype(float)
    mixed = 0.3 * factors @ draws.normal(size=(5, 5)) + draws.normal(size=(rows, 5))
    codes = np.column_stack([factors + 0.5 * draws.normal(size=factors.shape), mixed])
    codes /= codes.std(axis=0)
    log_vars = 0.3 * draws.normal(size=codes.shape) - 3 if posteriors else None
    return metrics.as_table(codes, factors, log_vars=log_vars)


def seconds(rows: int, posteriors: bool, calibrate: bool) -> float:
    """CPU seconds of the suite on a fresh table."""
    fresh = table(rows, posteriors)
    began = time.process_time()
    metrics.suite(fresh, calibrate=calibrate)
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 2000, 15_000])
    known = parser.parse_args()
    metrics.suite(table(300, True))  # imports are not what is timed
    print("| rows | posteriors | plain | calibrated | times |\n|---|---|---|---|---|")
    for rows in known.rows:
        for posteriors in (False, True):
            spent = [[seconds(rows, posteriors, calibrate) for calibrate in (False, True)] for _ in range(2)]
            plain, placed = np.min(spent, axis=0)
            said = "yes" if posteriors else "no"
            print(f"| {rows:,} | {said} | {plain:.2f} s | {placed:.2f} s | {placed / plain:.2f} |", flush=True)


if __name__ == "__main__":
    main()
