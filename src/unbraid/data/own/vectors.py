"""Vectors as networks take them: finite, in single precision, standardised before they are cast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data.own.blocks import check_finite, row_blocks
from unbraid.errors import InputError
from unbraid.util.units import logged

WIDE = 256  # values of a vector from which on it is taken for features of another model


def as_vectors(
    x: NDArray[Any],
    name: str,
    standardize: bool | Mapping[str, Sequence[float]] = False,
    columns: Sequence[str] | None = None,
) -> tuple[NDArray[np.float32], dict[str, list[float]] | None]:
    """Finite float32 vectors, and what they were standardised by.

    Standardised first and in double precision: seconds since 1970 or counts of photons lose their digits in float32.
    """
    check_finite(x, name)
    if standardize is False:
        return as_float32(x, name, columns), None
    if standardize is True:
        mean, scale = mean_and_deviation(x)
    else:
        mean, scale = (np.asarray(standardize[key], np.float64) for key in ("mean", "scale"))
        if mean.shape != x.shape[1:] or scale.shape != x.shape[1:]:
            raise InputError(f"{name}: the standardisation is for {mean.size} values, the data has {x.shape[1]}.")
    vectors = np.empty(x.shape, np.float32)
    for start, block in row_blocks(x):
        with np.errstate(over="ignore", invalid="ignore"):
            values = (block.astype(np.float64) - mean) / scale
        vectors[start : start + len(block)] = as_float32(values, name, columns, start)
    return vectors, {"mean": mean.tolist(), "scale": scale.tolist()}


def mean_and_deviation(x: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and standard deviation of each column in double precision; 1 in place of a deviation of 0.

    Values are divided by the column's largest before they are squared, so that no square overflows.
    """
    largest = np.maximum(np.abs(x.max(0).astype(np.float64)), np.abs(x.min(0).astype(np.float64)))
    largest = np.where(largest > 0, largest, 1.0)
    scaled = x.astype(np.float64) / largest
    mean, deviation = scaled.mean(0), scaled.std(0)
    with np.errstate(over="ignore"):
        return mean * largest, np.where(deviation > 0, deviation * largest, 1.0)


def as_float32(
    values: NDArray[Any], name: str, columns: Sequence[str] | None = None, first: int = 0
) -> NDArray[np.float32]:
    """Values in single precision; one that does not fit is an error that names its column and row."""
    with np.errstate(over="ignore", invalid="ignore"):
        vectors: NDArray[np.float32] = values.astype(np.float32, copy=False)
    bad = ~np.isfinite(vectors)
    if bad.any():
        row, column = (int(index) for index in np.argwhere(bad)[0])
        which = f"column {columns[column]!r}" if columns is not None else f"column {column + 1}"
        raise InputError(
            f"{name}: {which} holds {float(values[row, column]):g} in row {first + row + 1}, beyond what networks "
            "compute with (3e38): rescale the column or leave it out."
        )
    return vectors


def with_logarithms(
    x: NDArray[Any], log1p: str | Sequence[int], name: str, columns: Sequence[str] | None = None
) -> tuple[NDArray[Any], tuple[int, ...]]:
    """Vectors with log(1 + value) at some places, and which those are.

    Args:
        x: raw vectors [n, value].
        log1p: "all", or places.
        name: of the data set, for the message.
        columns: names of the values, for the message.

    Returns:
        The vectors, and the places. A value of −1 or less has no such logarithm and is an `InputError`.

    Example:
        >>> with_logarithms(np.array([[0.0, 3.0]]), "all", "arrays")[1]
        (0, 1)
    """
    if isinstance(log1p, str) and log1p != "all":
        raise InputError(f"log1p={log1p!r} is unknown; pass 'all', or the places of values.")
    places = tuple(range(x.shape[1])) if isinstance(log1p, str) else tuple(int(place) for place in log1p)
    for place in places:
        low = np.flatnonzero(x[:, place] <= -1)
        if len(low):
            which = f"column {columns[place]!r}" if columns is not None else f"column {place + 1}"
            raise InputError(
                f"{name}: {which} holds {x[low[0], place]:g} in row {low[0] + 1}, which has no log(1 + value); "
                "leave the column out of log1p."
            )
    return logged(x, places), places
