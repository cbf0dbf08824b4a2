"""What each metric costs: CPU seconds of one thread, for the metrics' pages.

    OMP_NUM_THREADS=1 python docs/metric_costs.py

Each metric of the suite alone on one table of 10,000 rows, 10 latents and 5 factors with 2 to 15 values, with its
interval and without chance level and ceiling; the best of three. Writes docs/metric-costs.json.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np

from unbraid import metrics

ROWS, SIZES, LATENTS = 10_000, (2, 4, 6, 10, 15), 10
PLACE = Path(__file__).parent / "metric-costs.json"


def main() -> None:
    """Measure and write."""
    draws = np.random.default_rng(0)
    factors = np.stack([draws.integers(size, size=ROWS) for size in SIZES], axis=1)
    noise = draws.normal(size=(ROWS, LATENTS))
    codes = 0.2 * noise + np.pad((factors - factors.mean(0)) / factors.std(0), ((0, 0), (0, LATENTS - len(SIZES))))
    log_vars = np.full(codes.shape, -3.0)
    costs = {}
    for name in metrics.SUITE:
        seconds = []
        for _ in range(3):
            start = time.process_time()
            scores = metrics.suite(codes, factors, metrics=[name], calibrate=False, log_vars=log_vars)
            seconds.append(time.process_time() - start)
        if all("error" not in score.details for score in scores.values()):
            costs[name] = float(f"{min(seconds):.2g}")
            print(f"{name}: {costs[name]:g} s", flush=True)
    PLACE.write_text(json.dumps(costs, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
