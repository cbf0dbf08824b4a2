"""A search of 24 small trials, in this process or as a command that can be killed."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import unbraid as ub
from unbraid.methods import BetaVAE
from unbraid.search import Search
from unbraid.training.machine import Machine

TRIALS, STEPS = 24, 150


def data() -> ub.data.FactorData:
    images = np.random.default_rng(0).integers(0, 256, (64, 16, 16, 1), dtype=np.uint8)
    return ub.data.FactorData("noise", images, np.zeros((64, 0)))


def search(folder: Path, **options: Any) -> Search:
    method = BetaVAE(width=0.05, batch_size=16, latents=3, network="mlp")
    machine = Machine("cpu", checkpoint_seconds=0.2)
    vary = {"beta": [1, 2, 3, 4, 5, 6]}
    return ub.search(
        data(), method, vary=vary, seeds=4, steps=STEPS, out=folder, machine=machine, show=False, **options
    )


def finished(folder: Path) -> dict[str, tuple[int, int]]:
    """The trials that are finished, with what tells whether their weights were ever written again."""
    found = {}
    for record in folder.glob("trials/*/trial.json"):
        weights = record.parent / "stage-1" / "weights.safetensors"
        if weights.exists():
            found[record.parent.name] = (weights.stat().st_ino, weights.stat().st_mtime_ns)
    return found


def contents(folder: Path) -> dict[str, bytes]:
    """Weights and codes of every trial."""
    files = [*folder.glob("trials/*/stage-1/weights.safetensors"), *folder.glob("trials/*/shared-codes.npz")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def wait_for(folder: Path, count: int, seconds: float = 240.0) -> dict[str, tuple[int, int]]:
    """The finished trials as soon as there are so many, and not all of them."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = finished(folder)
        if len(found) >= count:
            assert len(found) < TRIALS, "too late to disturb it"
            return found
        time.sleep(0.02)
    raise AssertionError(f"{len(finished(folder))} of {count} trials were finished in {seconds:g} s")


if __name__ == "__main__":
    search(Path(sys.argv[1]), workers=int(sys.argv[2]))
