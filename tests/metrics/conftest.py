"""Tables whose scores theory knows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

Array = NDArray[np.float64]


def grid(*sizes: int, repeats: int = 1) -> Array:
    """Every combination of factor values, `repeats` times."""
    rows = np.array(list(itertools.product(*(range(size) for size in sizes))), dtype=np.float64)
    return np.tile(rows, (repeats, 1))


def random_table(n: int, seed: int = 0, noise: float = 0.1, spare: int = 5) -> tuple[Array, Array]:
    """Codes that follow five factors with noise, beside spare latents, in random rows."""
    draws = np.random.default_rng(seed)
    sizes = np.array([2, 3, 4, 8, 6])
    factors = draws.integers(sizes, size=(n, len(sizes))).astype(np.float64)
    codes = factors / sizes + noise * draws.normal(size=factors.shape)
    codes[:, 0] += 0.3 * codes[:, 1]
    return np.concatenate([codes, draws.normal(size=(n, spare))], axis=1), factors


@pytest.fixture
def binary_grid() -> Array:
    """Three independent factors with two values each, in balance."""
    return grid(2, 2, 2, repeats=150)
