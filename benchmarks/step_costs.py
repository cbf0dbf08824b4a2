"""What a step of each method costs, as a part or a multiple of a VAE's: the figures on the methods' pages.

    OMP_NUM_THREADS=1 python benchmarks/step_costs.py [--rounds 3]

Every method at its paper's setting with batches of 16 colour images of 64×64, labels for all of them. Each is measured
in turn with a VAE, so that a busy machine slows both; CPU seconds of one thread, the median of the rounds. A step is
one round of all of a method's updates. Written to docs/step-costs.json.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import torch

import unbraid as ub
from unbraid import methods
from unbraid.core import MethodConfig
from unbraid.data.factor_data import FactorData
from unbraid.data.label_budget import LabelBudget
from unbraid.methods import recipes
from unbraid.methods.recipes import Traits
from unbraid.runs.directory import RunDirectory
from unbraid.runs.plan import Plan
from unbraid.training.loop import Job
from unbraid.training.machine import Machine
from unbraid.training.pace import measure

BATCH = 16
FIRST = methods.VAE(width=0.1)  # before methods that are later stages; it costs nothing while they are trained
PAGE = Path(__file__).parents[1] / "docs" / "step-costs.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="of a measurement")
    given = parser.parse_args()
    torch.set_num_threads(1)
    data = ub.data.load("toys", objects=20)
    costs: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, config in configurations(data):
            place = Path(folder) / name
            ratios = []
            for _ in range(given.rounds):
                one, other = (step_seconds(data, c, place / c.name, given.seconds) for c in (config, methods.VAE()))
                ratios.append(one / other)
            costs[name] = float(f"{median(ratios):.2g}")
            print(f"{name}: {costs[name]:g}", flush=True)
    PAGE.write_text(json.dumps(costs, indent=1) + "\n")


def configurations(data: FactorData) -> Iterator[tuple[str, MethodConfig]]:
    """Every method at its paper's setting, and those that have a fast recipe also by that, as `NAME, fast`."""
    for method in methods.METHODS:
        yield method.name, method()
        if method in recipes.FAST:
            chosen = recipes.start(method, "fast", Traits.of(data))
            yield (
                f"{method.name}, fast",
                replace(chosen, likelihood="gaussian-optimal"),
            )  # what `auto` is for these data


def step_seconds(data: FactorData, config: MethodConfig, place: Path, seconds: float) -> float:
    """CPU seconds of one step."""
    chain = [FIRST, replace(config, batch_size=BATCH)] if config.conditional else [replace(config, batch_size=BATCH)]
    steps = [1] * len(chain)
    run = RunDirectory(place, Plan.check(data, chain, steps, 0, LabelBudget() if config.uses_labels else None), data)
    y = data.observations if config.conditional else None
    codes = np.zeros((len(data), FIRST.latents), np.float32) if config.uses_codes else None
    job = Job(chain[-1], run.training_data(len(chain), y, codes), 1, 0, "", place)
    return measure(job, Machine("cpu"), seconds, time.process_time).step


if __name__ == "__main__":
    main()
