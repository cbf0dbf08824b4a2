"""Vectors of a table in the units that people know: means and scales undone, categories as their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def logged(values: NDArray[Any], places: Sequence[int]) -> NDArray[Any]:
    """Vectors [..., value] with log(1 + value) at these places.

    Example:
        >>> logged(np.array([[0.0, 7.0]]), (0,)).tolist()
        [[0.0, 7.0]]
    """
    if not len(places):
        return values
    made = np.array(values, np.float64)
    made[..., list(places)] = np.log1p(made[..., list(places)])
    return made


def in_raw_units(
    vectors: NDArray[Any], mean: Sequence[float], scale: Sequence[float], log1p: Sequence[int] = ()
) -> NDArray[np.float64]:
    """Vectors [..., value] as they were before logarithms and standardisation.

    Example:
        >>> in_raw_units(np.array([[1.0, 0.0]]), [2, 0], [4, 1], [1]).tolist()
        [[6.0, 0.0]]
    """
    made = np.array(vectors, np.float64)
    if len(mean):
        made = made * np.asarray(scale, np.float64) + np.asarray(mean, np.float64)
    if len(log1p):
        places = list(log1p)
        with np.errstate(over="ignore"):
            made[..., places] = np.expm1(made[..., places])
    return made


def column_places(columns: Sequence[str], categories: Mapping[str, Sequence[str]]) -> dict[str, slice]:
    """Where the values of each column stand in a vector: one, or one for every category.

    Example:
        >>> column_places(["colour", "mass"], {"colour": ["blue", "red"]})
        {'colour': slice(0, 2, None), 'mass': slice(2, 3, None)}
    """
    places, start = {}, 0
    for column in columns:
        end = start + (len(categories[column]) if column in categories else 1)
        places[column] = slice(start, end)
        start = end
    return places


def value_names(columns: Sequence[str], categories: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """A name for each value of a vector: the column's, or the column's with a category.

    Example:
        >>> value_names(["colour", "mass"], {"colour": ["blue", "red"]})
        ('colour=blue', 'colour=red', 'mass')
    """
    each = [[f"{name}={value}" for value in categories[name]] if name in categories else [name] for name in columns]
    return tuple(value for values in each for value in values)


def as_columns(
    raw: NDArray[Any], columns: Sequence[str], categories: Mapping[str, Sequence[str]]
) -> dict[str, list[Any]]:
    """Raw vectors [n, value] as columns: numbers, and of every category column the likeliest value.

    Example:
        >>> as_columns(np.array([[0.1, 0.9, 5.0]]), ["colour", "mass"], {"colour": ["blue", "red"]})
        {'colour': ['red'], 'mass': [5.0]}
    """
    made: dict[str, list[Any]] = {}
    for column, place in column_places(columns, categories).items():
        part = raw[:, place]
        if column in categories:
            made[column] = [categories[column][best] for best in part.argmax(1)]
        else:
            made[column] = part[:, 0].tolist()
    return made
