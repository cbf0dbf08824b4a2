"""How raw values became a data set's observations: what a run must know to treat new ones alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import InputError
from unbraid.util.units import as_columns, in_raw_units, logged, value_names


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
    layout: str | None = None  # of arrays of images, where it was stated; of signals nct or ntc
    counts: bool = False  # vectors are counts, as they are
    signal: tuple[int, int] | None = None  # vectors are signals of so many channels and times, one after another
    value_range: tuple[float, float] | None = None  # what black and white were in arrays, if not 0 and 1 or 255
    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)  # values of columns that are text
    log1p: tuple[int, ...] = ()  # values of a vector, by place, of which log(1 + value) was taken first
    fill: tuple[float, ...] = ()  # what gaps of a table were filled with, for each value; refused if empty
    stretch: tuple[float, float] | None = None  # what became black and white of deeper images; beyond it is clipped
    background: str = "white"  # what transparent parts of images became

    @property
    def value_names(self) -> tuple[str, ...]:
        """A name for each value of a vector; none where it is not from a table."""
        return value_names(self.columns, self.categories)

    def as_columns(self, raw: NDArray[Any]) -> dict[str, list[Any]]:
        """Raw vectors [n, value] of a table as its columns, categories as their values."""
        return as_columns(raw, self.columns, self.categories)

    def logged(self, values: NDArray[Any]) -> NDArray[Any]:
        """Raw vectors [n, value] with the logarithms that the data set has."""
        return logged(values, self.log1p)

    def standardized(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Raw vectors [n, value] on the scale of the data set."""
        if self.mean and values.shape[1:] != (len(self.mean),):
            raise InputError(f"observations must have {len(self.mean)} values, not {list(values.shape[1:])}.")
        scaled = self.logged(values)
        if self.mean:
            scaled = (scaled - np.array(self.mean)) / np.array(self.scale)
        return scaled.astype(np.float32, copy=False)

    def raw(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Vectors [..., value] of the data set in their own units."""
        if not self.mean and not self.log1p:
            return vectors
        return in_raw_units(vectors, self.mean, self.scale, self.log1p).astype(np.float32)
