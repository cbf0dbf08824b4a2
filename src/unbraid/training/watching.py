"""Losses of held-out rows, looked at while the other rows are trained on. Nothing learns from them."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from lightning_fabric import Fabric

from unbraid.core import Batch, Method, Update
from unbraid.errors import InputError
from unbraid.training.batches import BatchSource, TrainingData
from unbraid.util.seeds import mix

BATCHES = 4


class Watched:
    """A few batches of held-out rows, always the same ones.

    Args:
        source: the batches that are trained on.
        held_out: the held-out rows of the same arrays, with their labels.
    """

    def __init__(self, source: BatchSource, held_out: TrainingData) -> None:
        self.batches = source.over(held_out)
        self.some_lack_labels = len(source.rows["unlabelled"]) > 0

    def figures(self, fabric: Fabric, method: Method, step: int) -> dict[str, float]:
        """The means of all terms of every update, as «update/held_out/term»; weights and modes stay as they are."""
        modes = {module: module.training for module in method.modules()}
        method.eval()
        found: dict[str, list[float]] = {}
        for update in method.updates():
            for draw in range(self.batches.count(update.stream, update.batch_size, BATCHES)):
                try:
                    batch = self.batch(update, draw)
                except InputError:  # few rows may have no partners among them
                    break
                seed_draws(mix(self.batches.seed, "held out", update.name, draw), fabric.device)
                with fabric.autocast():
                    terms = update.loss(batch, step)
                for name, value in terms.values().items():
                    found.setdefault(f"{update.name}/held_out/{name}", []).append(value)
        for module, mode in modes.items():
            module.training = mode
        means = {name: sum(values) / len(values) for name, values in found.items()}
        return {name: value for name, value in means.items() if math.isfinite(value)}  # of one row some are not

    def batch(self, update: Update, draw: int) -> Batch:
        """A batch as this update sees them: where half of each lacks labels in training, half of it does here."""
        batch = self.batches.batch(update.name, update.stream, update.batch_size, draw, update.pairs)
        if update.stream != "half-labelled" or not self.some_lack_labels:
            return batch
        known = batch.factors.clone()
        known[len(known) // 2 :] = torch.nan
        return replace(batch, factors=known)


def seed_draws(seed: int, device: torch.device) -> None:
    """Seed what a loss draws. On a CPU `torch.manual_seed` would write down a stack trace for every other device."""
    if device.type == "cpu":
        torch.default_generator.manual_seed(seed)
    else:
        torch.manual_seed(seed)
