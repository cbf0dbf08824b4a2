"""Tiny arrays for the examples in docstrings."""

from __future__ import annotations

import itertools

import numpy as np

from unbraid.metrics._shared.bootstrap import Array


def perfect_table() -> tuple[Array, Array]:
    """Codes that are the factors themselves: all combinations of 2, 3 and 4 values, thirty times each.

    Example:
        >>> codes, factors = perfect_table()
        >>> codes.shape, factors.shape
        ((720, 3), (720, 3))
    """
    factors = np.tile(np.array(list(itertools.product(range(2), range(3), range(4))), dtype=np.float64), (30, 1))
    return 2.0 * factors, factors


def mixed_table() -> tuple[Array, Array]:
    """The same factors, with codes that are turned: every latent mixes all three."""
    codes, factors = perfect_table()
    return codes @ np.array([[1.0, 1.0, 0.5], [1.0, -1.0, 0.5], [0.5, 0.5, -1.0]]), factors
