"""What to train a first stage with, from the data alone: one rule, measured on one core at 32×32.

The reconstruction is a sum over an observation's values, so the weights beside it grow with their number. Two kinds of
images need two likelihoods: Bernoulli for binary ones, a Gaussian of the best width for all others. Small batches and
many steps win at this scale. With batches of 32 the total correlation acts largely as more weight on the KL and is no
measure of correlation; studies of it need large batches.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Bytes this near to black or white count as binary: halved binary images have grey edges.
NEAR, BINARY_SHARE, ROWS = 32, 0.95, 500


@dataclass(frozen=True)
class Recipe:
    """Options of β-TCVAE, its optimiser and its number of steps."""

    network: str
    width: float
    likelihood: str
    alpha: float
    beta: float
    gamma: float
    batch_size: int
    lr: float
    lr_end: float  # part of lr that is left at the last step; it falls on a straight line
    turns: int  # how often codes are rotated towards independence
    steps: int

    def options(self) -> dict[str, Any]:
        """The method's options as JSON has them, with those of Adam inside: for `config.from_json`."""
        weights = {"alpha": self.alpha, "beta": self.beta, "gamma": self.gamma, "turns": self.turns}
        stack = {"network": self.network, "width": self.width, "likelihood": self.likelihood}
        return weights | stack | {"batch_size": self.batch_size, "adam": {"lr": self.lr, "end": self.lr_end}}


def recipe_for(shape: tuple[int, ...], binary: bool) -> Recipe:
    """The recipe for images of this shape, (channel, height, width).

    Binary images have the weights of Chen et al. 2018 at 64×64, 1 : 6 : 1, for each 4,096 values; others have
    1 : 20 : 1 for each 3,072.
    """
    size, beta = (4096, 6.0) if binary else (3072, 20.0)
    weight = prod(shape) / size
    return Recipe(
        network="broadcast",
        width=0.25 if binary else 0.5,
        likelihood="bernoulli" if binary else "gaussian-optimal",
        alpha=weight,
        beta=beta * weight,
        gamma=weight,
        batch_size=32,
        lr=2e-3,
        lr_end=0.02,
        turns=9,
        steps=9_000 if binary else 6_000,
    )


def looks_binary(images: NDArray[np.uint8]) -> bool:
    """Whether images [n, height, width, channel] are black and white, from up to 500 of them spread over all."""
    rows = np.linspace(0, len(images) - 1, min(len(images), ROWS)).astype(np.int64)
    values = images[rows]
    extreme = (values < NEAR) | (values >= 256 - NEAR)
    return bool(extreme.mean() >= BINARY_SHARE)
