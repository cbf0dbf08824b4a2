"""How much of an object's identity changes as it is turned, and whether it is turned: read by what data taught."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from torch import Tensor

from unbraid import metrics
from unbraid.codes import choose_rows
from unbraid.data.base import FactorData
from unbraid.run import Run
from unbraid.stage_measures import traversed_features

FITTED_ROWS, COMPONENTS = 6_000, 64
IDENTITIES, POSES = 100, 16


class IdentityEmbedding:
    """Principal components of pixels, then the directions in which objects differ most for how little poses do."""

    def __init__(self, data: FactorData, factor: str) -> None:
        rows = choose_rows(len(data), FITTED_ROWS, 0)
        pixels = flat_pixels(data.observations[rows])
        objects = data.column(factor)[rows]
        self.components = PCA(min(COMPONENTS, len(rows) - 1), svd_solver="randomized", random_state=0).fit(pixels)
        shrunk = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto")
        self.directions = shrunk.fit(self.components.transform(pixels), objects)

    def __call__(self, x: Tensor) -> Tensor:
        """Embeddings [b, direction] of images [b, c, h, w] in [0, 1]."""
        pixels = x.permute(0, 2, 3, 1).flatten(1).cpu().numpy()  # the order in which data are stored
        return torch.from_numpy(self.directions.transform(self.components.transform(pixels)))


class PoseReader:
    """The value of a cyclic or ordinal factor by the nearest of the data's images, in their principal components."""

    def __init__(self, data: FactorData, factor: str) -> None:
        self.rows = choose_rows(len(data), FITTED_ROWS, 0)
        self.components = PCA(min(COMPONENTS, len(self.rows) - 1), svd_solver="randomized", random_state=0)
        known = self.components.fit_transform(flat_pixels(data.observations[self.rows]))
        self.nearest = KNeighborsClassifier(1).fit(known, data.column(factor)[self.rows].astype(int))
        self.size = data.factor_info[data.factor_names.index(factor)].size

    def share_right(self, images: NDArray[np.uint8], asked: NDArray[np.float64]) -> float:
        """The share of images in which the factor is read as asked, or as a value next to it on the circle."""
        read = self.nearest.predict(self.components.transform(flat_pixels(images)))
        distance = np.abs(read - asked)
        return float((np.minimum(distance, self.size - distance) <= 1).mean())


def flat_pixels(images: NDArray[Any]) -> NDArray[Any]:
    """Stored images as rows of values in [0, 1]."""
    return images.reshape(len(images), -1) / np.float32(255)


@cache
def embedding(name: str, arguments: tuple[tuple[str, Any], ...], factor: str) -> IdentityEmbedding:
    """Fitted once for all runs on the same data."""
    from unbraid.data import load

    return IdentityEmbedding(load(name, **dict(arguments)), factor)


def of_run(run: Run, factor: str) -> IdentityEmbedding:
    """The embedding of a run's data."""
    return embedding(run.data.name, tuple(sorted(run.plan.data["arguments"].items())), factor)


def made_by(run: Run, factor: str) -> NDArray[np.float32]:
    """Embeddings [identity, pose, direction] of what a model makes as c moves and everything else stays."""
    return traversed_features(run.chain, of_run(run, factor), identities=IDENTITIES, poses=POSES, seed=run.plan.seed)


def of_data(run: Run, factor: str) -> NDArray[np.float32]:
    """The same of the data: every object in the same poses."""
    objects = run.data.column(factor)
    order = np.lexsort((np.arange(len(objects)), objects))
    each = int((objects == objects[0]).sum())
    grid = order.reshape(-1, each)[:IDENTITIES]  # [object, pose]; rows of an object go through poses in one order
    poses = np.sort(np.random.default_rng(0).permutation(each)[:POSES])
    x = run.observations(grid[:, poses].ravel())
    return of_run(run, factor)(x).numpy().reshape(len(grid), len(poses), -1)


def change(features: NDArray[np.float32], seed: int = 0) -> float:
    """The share of the embedding's variance that comes with the pose; 0: turning leaves the identity as it is."""
    return float(metrics.identity_change(features, seed=seed, replicates=0))


def variety(features: NDArray[np.float32]) -> float:
    """The variance between identities, each over all its poses, summed over directions."""
    return float(features.mean(axis=1).var(axis=0).sum())
