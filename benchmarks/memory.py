"""What it gains to keep freed memory: the time of a training step with `keep_freed_memory` over the time without.

Each turn is a process of its own, because the allocator cannot be set back; the two kinds take turns, so that a noisy
machine slows both alike.
"""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch
from lightning_fabric import Fabric

from unbraid.data.factor_data import FactorData
from unbraid.methods import BetaTCVAE
from unbraid.training.batches import BatchSource, TrainingData
from unbraid.training.loop import Job, UpdateOptimizer, build, training_step
from unbraid.util.allocator import keep_freed_memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--one", choices=["kept", "returned"], help="time one kind, in this process")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    if arguments.one:
        print(seconds(arguments.steps, kept=arguments.one == "kept"))
        return
    taken: dict[str, list[float]] = {"kept": [], "returned": []}
    for _ in range(arguments.turns):
        for kind, values in taken.items():
            command = [sys.executable, __file__, "--one", kind, "--steps", str(arguments.steps)]
            command += ["--threads", str(arguments.threads)]
            values.append(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    ratios = [kept / returned for kept, returned in zip(taken["kept"], taken["returned"], strict=True)]
    print(f"time of a step with freed memory kept, over without: {statistics.median(ratios):.3f}")
    print(f"quartiles of {arguments.turns} turns: {', '.join(f'{q:.3f}' for q in statistics.quantiles(ratios))}")


def seconds(steps: int, *, kept: bool) -> float:
    """The time of some steps of β-TCVAE at 64×64, after a few that are not counted."""
    if kept:
        keep_freed_memory()
    images = np.random.default_rng(0).integers(0, 256, (1024, 64, 64, 3), dtype=np.uint8)
    data = TrainingData(FactorData("noise", images, np.zeros((len(images), 0))), np.zeros((len(images), 0)))
    fabric = Fabric(accelerator="cpu", devices=1)
    method = build(Job(BetaTCVAE(), data, steps, 0, "key", Path()), fabric.device)
    players = [UpdateOptimizer(update, method, fabric) for update in method.updates()]
    source = BatchSource(data, seed=0, device=fabric.device)
    for step in range(5):
        training_step(fabric, method, players, source, 0, step)
    began = time.perf_counter()
    for step in range(5, 5 + steps):
        training_step(fabric, method, players, source, 0, step)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
