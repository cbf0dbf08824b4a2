"""Our scores and disentanglement_lib's on one table, with the CPU seconds of both.

    python benchmarks/parity.py --reference FOLDER [--no-dci]

FOLDER is a checkout of disentanglement_lib, which is not part of this project; its functions run as they are, with
stand-ins for gin, absl and six, which only hand arguments on. 10,000 rows to fit and 5,000 to test, 10 latents, 5
factors, one thread: set OMP_NUM_THREADS=1. Where the folder is not there, nothing is compared, and it says so.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from unbraid import metrics

sys.path.insert(0, str(Path(__file__).parent))
from metrics import SIZES, TEST, TRAIN, World

REASONS = {
    "mig": "",
    "modularity": "",
    "explicitness": "theirs: AUC of a softmax regression (one-vs-rest when published); ours: 2·AUC − 1, one-vs-rest",
    "sap": "latents with variance below 0.05 score 0 here (theirs: below 1e-12); liblinear's tolerance",
    "beta_score": "other draws",
    "factor_score": "other draws",
    "irs": "",
    "dci": "gradient boosting against lightgbm",
}


def stand_ins() -> None:
    """Modules that the reference imports and only passes arguments through."""
    gin = types.ModuleType("gin")
    gin.configurable = lambda *_, **__: lambda function: function  # type: ignore[attr-defined]
    gin.REQUIRED = None  # type: ignore[attr-defined]
    absl, logging = types.ModuleType("absl"), types.ModuleType("absl.logging")
    logging.info = lambda *_: None  # type: ignore[attr-defined]
    absl.logging = logging  # type: ignore[attr-defined]
    six, moves = types.ModuleType("six"), types.ModuleType("six.moves")
    moves.range = range  # type: ignore[attr-defined]
    gin_tf = types.ModuleType("gin.tf")
    gin.tf = gin_tf  # type: ignore[attr-defined]
    names = ("gin", "gin.tf", "absl", "absl.logging", "six", "six.moves")
    sys.modules.update(zip(names, (gin, gin_tf, absl, logging, six, moves), strict=True))


class GroundTruth:
    """The benchmark's world as the reference draws from one: observations are the factors themselves."""

    num_factors = len(SIZES)

    def __init__(self, world: World) -> None:
        self.world = world

    def sample_factors(self, count: int, _: Any) -> np.ndarray:
        return self.world.factors(count)

    def sample_observations_from_factors(self, factors: np.ndarray, _: Any) -> np.ndarray:
        return factors

    def sample_observations(self, count: int, _: Any) -> np.ndarray:
        return self.world.factors(count)

    def sample(self, count: int, _: Any) -> tuple[np.ndarray, np.ndarray]:
        factors = self.world.factors(count)
        return factors, factors


def theirs(codes: np.ndarray, factors: np.ndarray, world: World) -> dict[str, Callable[[], float]]:
    """Their functions, on the rows of this table where they take rows, and on the world where they draw themselves."""
    where = "disentanglement_lib.evaluation.metrics."
    utils = importlib.import_module(where + "utils")
    utils.make_discretizer.__defaults__ = (20, utils._histogram_discretize)
    mig, sap, dci, both, beta, factor, irs = (
        importlib.import_module(where + name)
        for name in ("mig", "sap_score", "dci", "modularity_explicitness", "beta_vae", "factor_vae", "irs")
    )
    fit, test = metrics.as_table(codes, factors).split(TRAIN, TEST, 0)
    z, v, z_test, v_test = codes[fit].T, factors[fit].T, codes[test].T, factors[test].T
    drawn = np.sort(metrics.as_table(codes, factors).sample(10_000, 0))
    truth, random = GroundTruth(world), np.random.RandomState(0)

    def modularity() -> float:
        information = utils.discrete_mutual_info(utils.make_discretizer(codes[drawn].T), factors[drawn].T)
        return float(both.modularity(information))

    def explicitness() -> float:
        each = [both.explicitness_per_factor(z, v[k], z_test, v_test[k]) for k in range(len(SIZES))]
        return float(np.mean([test_area for _, test_area in each]))

    draws = {"ground_truth_data": truth, "representation_function": world.encode, "random_state": random}
    return {
        "mig": lambda: mig._compute_mig(codes[drawn].T, factors[drawn].T)["discrete_mig"],
        "modularity": modularity,
        "explicitness": explicitness,
        "sap": lambda: sap._compute_sap(z, v, z_test, v_test, False)["SAP_score"],
        "beta_score": lambda: beta.compute_beta_vae_sklearn(**draws, batch_size=64, num_train=TRAIN, num_eval=TEST)[
            "eval_accuracy"
        ],
        "factor_score": lambda: factor.compute_factor_vae(
            **draws, batch_size=64, num_train=TRAIN, num_eval=TEST, num_variance_estimate=TRAIN
        )["eval_accuracy"],
        "irs": lambda: irs.scalable_disentanglement_score(factors, codes)["avg_score"],
        "dci": lambda: dci._compute_dci(z, v, z_test, v_test)["disentanglement"],
    }


def timed(function: Callable[[], Any]) -> tuple[float, float]:
    start = time.process_time()
    value = float(function())
    return value, time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--no-dci", action="store_true", help="leave out gradient boosting, which takes minutes")
    options = parser.parse_args()
    if not (options.reference / "disentanglement_lib" / "evaluation" / "metrics").is_dir():
        print(f"{options.reference} is no checkout of disentanglement_lib: nothing is compared.")
        return
    warnings.simplefilter("ignore")
    stand_ins()
    sys.path.insert(0, str(options.reference))
    world = World(0)
    codes, factors = world.points(TRAIN + TEST, batch=256)
    table = metrics.as_table(codes, factors)
    metrics.suite(codes[:500], factors[:500], calibrate=False)  # imports are not what is timed
    reference = theirs(codes, factors, world)
    seconds = np.zeros((0, 2))
    print(
        "| metric | disentanglement_lib | unbraid | seconds, theirs | ours | why they differ |\n"
        "|---|---|---|---|---|---|"
    )
    for name in [name for name in reference if not (options.no_dci and name == "dci")]:
        try:
            (their, slow) = timed(reference[name])
        except Exception as error:  # it was written for other versions of its libraries
            print(f"| `{name}` | fails: {type(error).__name__} | | | | |", flush=True)
            continue
        ours, fast = timed(lambda name=name: metrics.METRICS[name].function(table).value)  # type: ignore[misc]
        seconds = np.vstack([seconds, [slow, fast]])
        print(f"| `{name}` | {their:.4f} | {ours:.4f} | {slow:.2f} | {fast:.2f} | {REASONS[name]} |", flush=True)
        if name == "irs":
            print(f"\nwithout dci: {seconds[:, 0].sum() / seconds[:, 1].sum():.1f} times faster\n", flush=True)
    if not options.no_dci:
        print(f"\nwith dci: {seconds[:, 0].sum() / seconds[:, 1].sum():.1f} times faster", flush=True)


if __name__ == "__main__":
    main()
