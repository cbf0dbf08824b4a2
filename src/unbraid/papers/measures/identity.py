"""How much of an object's identity changes as it is turned, and whether it is turned at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier
from torch import Tensor, nn

from unbraid import metrics
from unbraid.api import Run, fit
from unbraid.data.factor_data import FactorData
from unbraid.data.label_budget import LabelBudget
from unbraid.evaluation.identity import BATCH, traversed_features
from unbraid.methods.labelled.probe import FactorProbe, FactorProbeModel
from unbraid.papers.measures import chains
from unbraid.runs.chain import Chain
from unbraid.runs.codes import choose_rows
from unbraid.training.machine import Machine

FITTED_ROWS, COMPONENTS = 6_000, 64
IDENTITIES, POSES = 200, 32
PROBE_STEPS, PROBE_WIDTH = 3_000, 0.5
SMALL = 1_000  # observations; for fewer (smoke scale) a few steps must do


def counts(run: Run) -> tuple[int, int]:
    """How many identities are turned into how many poses."""
    return (IDENTITIES, POSES) if len(run.data) > SMALL else (8, 4)


def probe_steps(run: Run) -> int:
    """How many steps the network that recognises objects is trained for."""
    return PROBE_STEPS if len(run.data) > SMALL else 3


def identity_network(run: Run, factor: str) -> FactorProbeModel:
    """A network trained on the data to recognise objects in any pose; the same for all runs on them, kept in the run.

    Args:
        run: whose data it is trained on.
        factor: the one that says which object it is.
    """
    steps = probe_steps(run)
    probe, budget = FactorProbe(factor=factor, width=PROBE_WIDTH), LabelBudget("all", (factor,))
    out, machine = run.folder / f"probe-{steps}", Machine(run.device.type)
    made = fit(run.data, probe, steps=steps, labels=budget, held_out=0.0, out=out, machine=machine, show=False)
    trained = made.stage(1)
    assert isinstance(trained, FactorProbeModel)
    return trained


def features_of_model(run: Run, factor: str, part: float = 1.0) -> NDArray[np.float32]:
    """Features [identity, pose, feature] of what a model makes as c moves and everything else stays.

    The model is as it was after this part of its last stage's training.
    """
    return features_over_poses(run, factor, chains.chain_at(run, part), BATCH)


def features_as_one_batch(run: Run, factor: str) -> NDArray[np.float32]:
    """The same with all poses of an identity as one batch, on whose own statistics batch norm runs."""
    chain, (_, poses) = run.chain, counts(run)
    with batch_statistics(chain.stages[-1]):
        return features_over_poses(run, factor, chain, poses)


def features_over_poses(run: Run, factor: str, chain: Chain, batch: int) -> NDArray[np.float32]:
    """Features of what a chain makes of the run's identities and poses, so many images at a time."""
    features, (identities, poses) = identity_network(run, factor).features, counts(run)
    return traversed_features(chain, features, identities=identities, poses=poses, seed=run.plan.seed, batch=batch)


@contextmanager
def batch_statistics(model: nn.Module) -> Iterator[None]:
    """Batch norm on the statistics of what it is given; the averages that it kept of training stay."""
    norms = [part for part in model.modules() if isinstance(part, nn.BatchNorm1d | nn.BatchNorm2d)]
    before = [(norm.training, norm.track_running_stats) for norm in norms]
    for norm in norms:
        norm.train()
        norm.track_running_stats = False
    try:
        yield
    finally:
        for norm, (training, track) in zip(norms, before, strict=True):
            norm.train(training)
            norm.track_running_stats = track


def features_of_data(run: Run, factor: str) -> NDArray[np.float32]:
    """The same features of the data: every object in the same poses."""
    objects = run.data.column(factor)
    order = np.lexsort((np.arange(len(objects)), objects))
    each = int((objects == objects[0]).sum())
    identities, count = counts(run)
    grid = order.reshape(-1, each)[:identities]  # [object, pose]; rows of an object go through poses in one order
    poses = np.sort(np.random.default_rng(0).permutation(each)[:count])
    features = identity_network(run, factor).features
    with torch.inference_mode():
        parts: list[Tensor] = [features(run.observations(rows)).cpu() for rows in grid[:, poses]]
    return torch.stack(parts).numpy()


def change(features: NDArray[np.float32]) -> float:
    """The share of the features' variance that comes with the pose; 0: turning leaves the identity as it is."""
    return float(metrics.identity_change(features, replicates=0))


def variety(features: NDArray[np.float32]) -> float:
    """The variance between identities, each over all its poses, summed over features."""
    return float(features.mean(axis=1).var(axis=0).sum())


class PoseReader:
    """The value of a cyclic or ordinal factor by the nearest of the data's images, in their principal components."""

    def __init__(self, data: FactorData, factor: str) -> None:
        self.rows = choose_rows(len(data), FITTED_ROWS, 0)
        self.components = PCA(min(COMPONENTS, len(self.rows) - 1), svd_solver="randomized", random_state=0)
        known = self.components.fit_transform(flat_pixels(data.observations[self.rows]))
        self.nearest = KNeighborsClassifier(1).fit(known, data.column(factor)[self.rows].astype(int))
        self.size = data.factor_info[data.factor_names.index(factor)].size

    def read(self, images: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Of each image the value of its nearest neighbour."""
        found: NDArray[np.int64] = self.nearest.predict(self.components.transform(flat_pixels(images)))
        return found

    def right(self, images: NDArray[np.uint8], asked: NDArray[Any], sides: int = 1) -> NDArray[np.bool_]:
        """Of each image whether the factor is read as asked, or as a value next to it on the circle.

        With `sides` 2, front and back count as the same.
        """
        read = self.read(images)
        circle = self.size // sides
        distance = np.abs(read - asked) % circle
        near: NDArray[np.bool_] = np.minimum(distance, circle - distance) <= 1
        return near

    def share_right(self, images: NDArray[np.uint8], asked: NDArray[Any], sides: int = 1) -> float:
        """The share of images in which it is."""
        return float(self.right(images, asked, sides).mean())


def flat_pixels(images: NDArray[Any]) -> NDArray[Any]:
    """Stored images as rows of values in [0, 1]."""
    return images.reshape(len(images), -1) / np.float32(255)
