"""What L, the pairs in a vote, makes of the β-VAE score (Chen et al. 2018, fig. S5), beside MIG, which has no L.

    python benchmarks/score_by_batch.py RUN… [--batches 1 4 16 64 200]

Prints for each L the scores' mean and spread over the runs, and how far they rank the runs as the largest L does.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.stats import spearmanr

import unbraid as ub


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", metavar="RUN")
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 4, 16, 64, 200])
    known = parser.parse_args()
    scores: dict[int, list[float]] = {batch: [] for batch in known.batches}
    mig = []
    for folder in known.runs:
        table = ub.open(folder).encode(show=False)
        rows = np.random.default_rng(0).permutation(len(table.codes))[:10_000]
        codes, factors = table.codes[rows], table.factors[rows]
        mig.append(ub.metrics.mig(codes, factors, replicates=0).value)
        for batch, found in scores.items():
            found.append(ub.metrics.beta_score(codes, factors, batch=batch, replicates=0).value)
    last = scores[known.batches[-1]]
    print(f"{len(known.runs)} runs; MIG {np.mean(mig):.3f}, spread {np.std(mig):.3f}")
    for batch, found in scores.items():
        order, with_mig = (spearmanr(found, other).statistic for other in (last, mig))
        print(
            f"L = {batch:3}: mean {np.mean(found):.3f}, spread {np.std(found):.3f}, from {min(found):.3f} to "
            f"{max(found):.3f}; rank correlation with L = {known.batches[-1]} {order:.2f}, with MIG {with_mig:.2f}"
        )


if __name__ == "__main__":
    main()
