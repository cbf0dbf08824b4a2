"""What the training loop costs over a bare loop of the same network: at most 3 %.

Both train a β-VAE from the same weights on the same images with the same optimiser, in turns of a few steps within one
run, so that a noisy machine slows both alike. Two models of each kind take turns in a random order: two equal loops
differ by some 3 % here, by where their weights lie in memory alone, and that is averaged over. Bare: index, convert,
forward, backward, step, and nothing else. Ours: the loop as `fit` runs it, with its seeds, log, progress and checks.
Both keep freed memory, as `fit` does; benchmarks/memory.py says what that gains.
"""

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from lightning_fabric import Fabric
from torch.nn import functional as F

from unbraid.data.factor_data import FactorData
from unbraid.methods import BetaVAE
from unbraid.training.batches import BatchSource, TrainingData
from unbraid.training.log import Log, log_interval
from unbraid.training.loop import Job, UpdateOptimizer, build, training_step
from unbraid.util.allocator import keep_freed_memory
from unbraid.util.progress import Steps
from unbraid.util.seeds import mix

LIMIT = 1.03


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--steps", type=int, default=5, help="steps in each turn")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    keep_freed_memory()
    images = np.random.default_rng(0).integers(0, 256, (4096, 64, 64, 3), dtype=np.uint8)
    config = BetaVAE()

    def bare():
        torch.manual_seed(mix(0, "weights"))  # as `build` does
        source = TrainingData(FactorData("noise", images, np.zeros((len(images), 0))), np.zeros((len(images), 0)))
        model = config.build(source.spec).to(memory_format=torch.channels_last)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
        data = torch.from_numpy(images)
        while True:
            x = data[torch.randint(len(data), (64,))].permute(0, 3, 1, 2).float().div_(255)
            mean, log_var = model.encoder(x).chunk(2, dim=1)
            z = mean + (0.5 * log_var).exp() * torch.randn_like(mean)
            nll = F.binary_cross_entropy_with_logits(model.decoder(z), x, reduction="none").flatten(1).sum(1).mean()
            kl = 0.5 * (mean.square() + log_var.exp() - 1 - log_var).sum(1).mean()
            optimizer.zero_grad(set_to_none=True)
            (nll + 4 * kl).backward()
            optimizer.step()
            yield

    def ours(folder: Path, total: int):
        source = TrainingData(FactorData("noise", images, np.zeros((len(images), 0))), np.zeros((len(images), 0)))
        fabric = Fabric(accelerator="cpu", devices=1)
        job = Job(config, source, total, 0, "key", folder)
        method = build(job, fabric.device)
        players = [UpdateOptimizer(update, method, fabric) for update in method.updates()]
        batches = BatchSource(source, seed=0, device=fabric.device)
        with Log(folder / "log.jsonl", 0, write=True) as log, Steps("ours", total) as bar:
            for step in range(total):
                logged = (step + 1) % log_interval(100_000) == 0
                figures = training_step(fabric, method, players, batches, 0, step, figures=logged)
                if figures:
                    log.line(step + 1, figures)
                bar.advance(step + 1, figures or None)
                yield

    with tempfile.TemporaryDirectory() as name:
        loops = [("bare", bare()), ("ours", ours(Path(name) / "1", 10**9))]
        loops += [("ours", ours(Path(name) / "2", 10**9)), ("bare", bare())]
        order = random.Random(0)
        seconds: dict[str, list[float]] = {"bare": [], "ours": []}
        for number in range(-2, arguments.rounds):
            order.shuffle(loops)
            taken = {"bare": 0.0, "ours": 0.0}
            for label, loop in loops:
                began = time.perf_counter()
                for _ in range(arguments.steps):
                    next(loop)
                taken[label] += time.perf_counter() - began
            if number >= 0:
                for label, spent in taken.items():
                    seconds[label].append(spent)
    ratios = [ours / bare for ours, bare in zip(seconds["ours"], seconds["bare"], strict=True)]
    ratio = statistics.median(ratios)
    steps = {label: 2 * arguments.steps / statistics.median(values) for label, values in seconds.items()}
    print(f"bare {steps['bare']:.1f} steps/s, ours {steps['ours']:.1f} steps/s ({arguments.threads} threads)")
    print(f"ratio of times, median over {arguments.rounds} turns: {ratio:.3f} (limit {LIMIT})")
    print(f"quartiles: {', '.join(f'{q:.3f}' for q in statistics.quantiles(ratios))}")
    raise SystemExit(ratio > LIMIT)


if __name__ == "__main__":
    main()
