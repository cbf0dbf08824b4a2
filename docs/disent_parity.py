"""Our scores and disent's on one table, for docs/guides/coming-from.md.

    pip install disent && OMP_NUM_THREADS=1 python docs/disent_parity.py

disent 0.8.0 is not part of this project; its functions run as they are. 10,000 rows to fit, 5,000 to test, 10 latents
(5 hold a factor each, 5 a fainter copy, all with noise), 5 factors with 2 to 15 values. DCI takes minutes.
"""

from __future__ import annotations

import importlib

import numpy as np

from unbraid import metrics

ROWS, TRAIN, TEST, SIZES, LATENTS = 15_000, 10_000, 5_000, (2, 4, 6, 10, 15), 10


def main() -> None:
    """Print the table."""
    draws = np.random.default_rng(0)
    factors = np.stack([draws.integers(size, size=ROWS) for size in SIZES], axis=1)
    scaled = (factors - factors.mean(0)) / factors.std(0)
    codes = 0.5 * draws.normal(size=(ROWS, LATENTS))
    codes[:, : len(SIZES)] += scaled
    codes[:, len(SIZES) :] += 0.5 * scaled  # a second, fainter copy of each
    mig, sap, dci = (importlib.import_module(f"disent.metrics.{name}") for name in ("_mig", "_sap", "_dci"))
    table = metrics.as_table(codes, factors)
    fit, test = table.split(TRAIN, TEST, 0)
    drawn = np.sort(table.sample(10_000, 0))
    halves = codes[fit].T, factors[fit].T, codes[test].T, factors[test].T
    print("| score | disent | unbraid |\n|---|---|---|")
    theirs = mig._compute_mig(codes[drawn].T, factors[drawn].T)["mig.discrete_score"]
    print(f"| `mig` | {theirs:.4f} | {metrics.mig(table).value:.4f} |", flush=True)
    theirs = sap._compute_sap(*halves, False)["sap.score"]
    print(f"| `sap` | {theirs:.4f} | {metrics.sap(table).value:.4f} |", flush=True)
    theirs, ours = dci._compute_dci(*halves), metrics.dci(table, mode="boosting")
    print(f"| `dci`, mode boosting | {theirs['dci.disentanglement']:.4f} | {ours.value:.4f} |")
    print(f"| its completeness | {theirs['dci.completeness']:.4f} | {ours.details['completeness']:.4f} |")
    print(f"| `dci`, the default | | {metrics.dci(table).value:.4f} |")


if __name__ == "__main__":
    main()
