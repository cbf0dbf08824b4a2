"""Arrays that may be larger than memory, looked at block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data import cache
from unbraid.errors import InputError

BLOCK = 1 << 26  # bytes looked at together


def row_blocks(array: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Consecutive rows of at most BLOCK bytes; memory behind those that were read is released.

    Args:
        array: in memory or memory-mapped.

    Returns:
        The number of each block's first row, and the block.
    """
    rows = max(1, BLOCK // max(1, array[:1].nbytes))
    for start in range(0, len(array), rows):
        yield start, array[start : start + rows]
        cache.release(array)


def check_finite(array: NDArray[Any], name: str) -> tuple[float, float]:
    """Refuse empty arrays and those with NaN or infinity.

    Args:
        array: of numbers.
        name: of the data set, for the message.

    Returns:
        The least and the greatest value.

    Example:
        >>> check_finite(np.array([[1.0, 3.0]]), "arrays")
        (1.0, 3.0)
    """
    if len(array) == 0 or array[:1].size == 0:
        raise InputError(f"{name}: the array of shape {array.shape} is empty; there is nothing to learn from.")
    low, high = np.inf, -np.inf
    for start, block in row_blocks(array):
        least, most = float(block.min()), float(block.max())
        if not (np.isfinite(least) and np.isfinite(most)):
            bad = ~np.isfinite(block.reshape(len(block), -1)).all(1)
            row = start + int(np.argmax(bad))
            raise InputError(f"{name}: row {row} holds NaN or infinite values; remove or fill it.")
        low, high = min(low, least), max(high, most)
    return low, high
