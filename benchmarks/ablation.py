"""Which part of the fast first stage earns what: the recipe without one of its parts at a time, at equal CPU time.

    OMP_NUM_THREADS=1 python benchmarks/ablation.py

Each run is written down when it is done, and a repeated command goes on with the next; the page of
`benchmarks/time_to_quality.py` takes the table in. Seeds are none of those that other figures are reported for.
"""

import argparse
import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

import unbraid as ub
from time_to_quality import DATA, SLACK, loaded, scores
from unbraid.core import MethodConfig
from unbraid.methods import BetaTCVAE, recipes
from unbraid.methods.recipes import Traits
from unbraid.runs.chain import Chain
from unbraid.runs.directory import RunDirectory
from unbraid.runs.plan import Plan
from unbraid.training.loop import Job
from unbraid.training.machine import Machine
from unbraid.training.pace import measure

SECONDS = 40.0
NAMES = ("scenes 32×32", "sprites 32×32")
SEEDS = (100, 101, 102)
# What is changed on each data set. The recipe has a broadcast decoder, nine turns, σ from the error (binary images
# have Bernoulli) and half the units (binary images a quarter).
Changes = Mapping[str, Any]
PARTS: dict[str, dict[str, Changes]] = {
    "the recipe": {name: {} for name in NAMES},
    "codes are not turned": {name: {"turns": 0} for name in NAMES},
    "decoder of Chen et al., not broadcast": {name: {"network": "conv"} for name in NAMES},
    "σ 0.1, not from the error": {"scenes 32×32": {"likelihood": "gaussian", "scale": 0.1}},
    "Bernoulli, not σ from the error": {"scenes 32×32": {"likelihood": "bernoulli"}},
    "σ from the error, not Bernoulli": {"sprites 32×32": {"likelihood": "gaussian-optimal"}},
    "twice the width": {"scenes 32×32": {"width": 1.0}, "sprites 32×32": {"width": 0.5}},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(NAMES), choices=NAMES)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--out", type=Path, default=Path("runs/time-to-quality/ablation"), help="what was measured")
    given = parser.parse_args()
    torch.set_num_threads(1)
    data = {name: found for name in given.data if (found := loaded(name)) is not None}
    for seed in given.seeds:
        for number, (part, changes) in enumerate(PARTS.items()):
            for name in (name for name in data if name in changes):
                place = given.out / f"{DATA[name][0]}-{number}-{seed}"
                if place.with_suffix(".json").is_file():
                    continue
                shutil.rmtree(place, ignore_errors=True)
                found = run_one(data[name], changes[name], seed, place)
                found |= {"data": name, "part": part, "number": number, "seed": seed}
                place.with_suffix(".json").write_text(json.dumps(found, indent=1))
                print(found, flush=True)
                shutil.rmtree(place)


def run_one(data: ub.data.FactorData, changes: Changes, seed: int, place: Path) -> dict[str, Any]:
    """The first stage with these options changed: MIG and error after the time that all have."""
    config = replace(recipes.start(BetaTCVAE, "fast", Traits.of(data)), **changes)
    machine = Machine("cpu", precision="auto")
    steps = max(1, int(SECONDS / (step_seconds(data, config, machine, seed, place) * SLACK)))
    began = time.process_time()
    run = ub.fit(data, [config], steps=[steps], seed=seed, out=place, machine=machine, show=False)
    seconds = time.process_time() - began
    return {"seconds": seconds, "steps": steps, **scores(run, data, Chain([run.stage(1)]), seed)}


def step_seconds(data: ub.data.FactorData, config: MethodConfig, machine: Machine, seed: int, place: Path) -> float:
    """CPU seconds of a step, by the pace of a copy."""
    run = RunDirectory(place / "pace", Plan.check(data, [config], [1], seed), data)
    job = Job(run.plan.stages[0][0], run.training_data(1), 1, seed, "", place / "pace")  # planned: its σ is chosen
    return measure(job, machine, 2.0, time.process_time).step


if __name__ == "__main__":
    main()
