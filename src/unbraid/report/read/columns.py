"""The columns of a table run: what its vectors' values are called, and how they become raw units again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.util.units import column_places, in_raw_units

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Columns:
    """Names of a table's columns, values of its categories, and how numbers were scaled."""

    names: tuple[str, ...]
    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)
    mean: tuple[float, ...] = ()
    scale: tuple[float, ...] = ()
    log1p: tuple[int, ...] = ()

    @property
    def places(self) -> dict[str, slice]:
        """Where the values of each column stand in a vector."""
        return column_places(self.names, self.categories)

    @property
    def width(self) -> int:
        """How many values a vector has."""
        return max(int(place.stop) for place in self.places.values())

    def raw(self, vectors: NDArray[Any]) -> Floats:
        """Vectors [..., value] in their own units."""
        return in_raw_units(vectors, self.mean, self.scale, self.log1p)

    def steps(self, raw: Floats, place: int) -> Floats:
        """How far a standard deviation goes at each of the raw values of one number; empty if that is not known."""
        if not self.scale:
            return np.empty(0)
        step = np.full(raw.shape, float(self.scale[place]))
        return step * (1 + np.maximum(raw, 0)) if place in self.log1p else step

    def likeliest(self, raw: Floats, name: str) -> list[int]:
        """Of a category column, which value each of the raw vectors [n, value] has."""
        return [int(best) for best in raw[:, self.places[name]].argmax(1)]


def read_columns(preprocessing: Any) -> Columns | None:
    """What preprocessing.json says of columns; None if the observations have no names.

    Example:
        >>> read_columns({"columns": ["mass"], "mean": [2.0], "scale": [4.0]}).raw(np.array([[1.0]])).tolist()
        [[6.0]]
    """
    known = preprocessing if isinstance(preprocessing, Mapping) else {}
    categories = known.get("categories")
    names = tuple(map(str, known.get("columns") or ()))
    if not names:
        return None
    return Columns(
        names,
        {str(name): tuple(map(str, values)) for name, values in dict(categories or {}).items()},
        tuple(known.get("mean") or ()),
        tuple(known.get("scale") or ()),
        tuple(known.get("log1p") or ()),
    )
