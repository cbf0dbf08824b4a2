"""A run of two stages that takes a second."""

from pathlib import Path

import unbraid as ub
from unbraid.api import Run
from unbraid.methods import MSVAE, BetaTCVAE
from unbraid.training.machine import Machine

FIRST, SECOND = BetaTCVAE(width=0.1, latents=4), MSVAE(width=0.1, latents=2)


def fit_small(out: Path, seed: int = 0, *, data: Path, second: MSVAE = SECOND, machine: Machine | None = None) -> Run:
    """Two stages of a few steps on 48 images with two factors, as the command would fit them."""
    return ub.fit(ub.data.load(data), [FIRST, second], steps=[6, 4], seed=seed, out=out, machine=machine, show=False)
