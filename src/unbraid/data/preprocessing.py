"""How raw values became a data set's observations: what a run must know to treat new ones alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import InputError


@dataclass(frozen=True)
class Preprocessing:
    """What was done to the raw values of a data set. Empty or None: nothing.

    Example:
        >>> how = Preprocessing(columns=("mass",), mean=(2.0,), scale=(4.0,))
        >>> how.standardized(np.float32([[10]])).item(), how.raw(np.float32([[2]])).item()
        (2.0, 10.0)
    """

    columns: tuple[str, ...] = ()  # of a table, in the order of the vectors' values
    mean: tuple[float, ...] = ()  # taken from each value of a vector
    scale: tuple[float, ...] = ()  # and what it was then divided by
    resize: tuple[int, int] | None = None  # images were brought to this height and width
    crop: str = "centre"  # what became of other proportions
    channels: int | None = None  # images were made grey (1) or coloured (3)
    depth: int = 8  # 16: deeper images were rescaled
    layout: str | None = None  # of arrays of images, where it was stated
    counts: bool = False  # vectors are counts, as they are
    value_range: tuple[float, float] | None = None  # what black and white were in arrays, if not 0 and 1 or 255

    def standardized(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Raw vectors [n, value] on the scale of the data set."""
        if not self.mean:
            return values
        if values.shape[1:] != (len(self.mean),):
            raise InputError(f"observations must have {len(self.mean)} values, not {list(values.shape[1:])}.")
        scaled: NDArray[np.float32] = ((values - np.array(self.mean)) / np.array(self.scale)).astype(np.float32)
        return scaled

    def raw(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Vectors [..., value] of the data set in their own units."""
        if not self.mean:
            return vectors
        restored: NDArray[np.float32] = (vectors * np.array(self.scale) + np.array(self.mean)).astype(np.float32)
        return restored
