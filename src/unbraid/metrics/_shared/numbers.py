"""Arrays of numbers, checked, and cut into bins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import Array

LARGEST = 1e150
LARGEST_DENSE = 30_000_000  # numbers that a sparse matrix may be made


def as_float(values: Any, name: str) -> Array:
    """The values as float64; rows of different lengths and text are refused by name."""
    if hasattr(values, "detach"):  # a tensor of torch, which this package does not import
        values = values.detach().cpu().double().numpy()
    elif hasattr(values, "toarray") and hasattr(values, "nnz"):  # a sparse matrix
        if values.shape[0] * values.shape[1] > LARGEST_DENSE:
            raise InputError(
                f"{name} are sparse with {values.shape[1]:,} columns, too many to be made plain numbers; "
                "give them to suite, which computes what can be had, or choose some columns."
            )
        values = values.toarray()
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{name} are rows of different lengths; give a rectangular array.") from None
    if array.dtype.kind not in "buif":
        raise InputError(f"{name} hold {array.dtype} values; numbers are needed: replace text by value indices.")
    return array.astype(np.float64)


def numbers(values: ArrayLike, name: str, missing: bool = False) -> Array:
    """The values as float64, or an error that says what is wrong with them; `missing` lets NaN through."""
    array = as_float(values, name)
    bad = np.isinf(array) if missing else ~np.isfinite(array)
    if bad.any():
        what = "infinite values" if missing or not np.isnan(array).any() else "NaN"
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise InputError(f"{name} hold {what} (first at {where}); drop those rows or repair the model.")
    if array.size and np.nanmax(np.abs(array), initial=0.0) > LARGEST:
        raise InputError(f"{name} hold values beyond {LARGEST:g}, whose squares are too large; scale them.")
    return array


def equal_width(values: Array, bins: int) -> NDArray[np.int64]:
    """The bin of every value of each column: `bins` of equal width between the column's least and greatest."""
    out = np.empty(values.shape, dtype=np.int64)
    for j, column in enumerate(values.T):
        edges = np.linspace(column.min(), column.max(), bins + 1)
        out[:, j] = np.searchsorted(edges[1:-1], column, side="right")
    return out


def ratio(numerator: Array, denominator: Array, otherwise: float, least: float = 0.0) -> Array:
    """The quotient where the denominator exceeds `least`, and `otherwise` elsewhere."""
    empty = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), otherwise)
    return np.asarray(np.divide(numerator, denominator, out=empty, where=denominator > least))
