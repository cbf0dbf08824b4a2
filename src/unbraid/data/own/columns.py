"""Labels of any kind to factor columns: indices for discrete ones, values for continuous ones, NaN for gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from unbraid.data.factor_data import Factor, Kind
from unbraid.errors import InputError, unknown

MISSING = {"", "na", "nan", "none", "null", "?"}


def factor_column(name: str, values: Sequence[Any] | NDArray[Any], kind: Kind | None = None) -> tuple[Factor, Any]:
    """One label column as a factor and its numbers.

    Args:
        name: of the factor.
        values: numbers or text; empty, "na", "nan", "none", "null" and "?" mean that the label is missing.
        kind: of the factor. By default text and pairs of numbers are categorical, other whole numbers ordinal, the rest
            continuous.

    Returns:
        The factor, and a column of indices (discrete) or values (continuous) with NaN for gaps.

    Example:
        >>> factor, column = factor_column("class", ["cat", "dog", "", "cat"])
        >>> factor.values, column.tolist()
        (('cat', 'dog'), [0.0, 1.0, nan, 0.0])
    """
    array = np.asarray(values)
    if array.dtype.kind in "OUS":
        text = np.array([str(value).strip() if value is not None else "" for value in array.tolist()])
        gaps = np.array([value.lower() in MISSING for value in text.tolist()], bool)
        try:
            array = np.where(gaps, np.nan, np.where(gaps, "nan", text).astype(np.float64))
        except ValueError:
            return indexed(name, text, gaps, kind or "categorical")
    numbers = array.astype(np.float64)
    gaps = np.isnan(numbers)
    present = numbers[~gaps]
    whole = bool(np.all(present == np.rint(present)))
    if kind == "continuous" or (kind is None and not whole):
        return Factor(name, 0, "continuous"), numbers
    # Of two values none lies between the others: yes and no, −1 and 1.
    return indexed(name, numbers, gaps, kind or ("ordinal" if len(np.unique(present)) > 2 else "categorical"))


def indexed(name: str, values: NDArray[Any], gaps: NDArray[np.bool_], kind: Kind) -> tuple[Factor, Any]:
    """A discrete column: distinct values in their order become 0, 1, 2, …

    Args:
        name: of the factor.
        values: of the column.
        gaps: where the label is missing.
        kind: of the factor.

    Returns:
        The factor, and its indices with NaN for gaps.
    """
    distinct, index = np.unique(values[~gaps], return_inverse=True)
    column = np.full(len(values), np.nan)
    column[~gaps] = index
    plain = distinct.dtype.kind == "f" and np.array_equal(distinct, np.arange(len(distinct)))
    names = () if plain else tuple(f"{v:g}" if distinct.dtype.kind == "f" else str(v) for v in distinct)
    return Factor(name, len(distinct), kind, names), column


def factor_table(
    columns: Mapping[str, Sequence[Any] | NDArray[Any]], rows: int, kinds: Mapping[str, str] | None = None
) -> tuple[NDArray[np.float64], tuple[Factor, ...]]:
    """Several label columns as `FactorData` holds them.

    Args:
        columns: labels by name.
        rows: how many observations there are; columns of another length are an `InputError`.
        kinds: of factors by name, where a column should not be taken for what it looks like.

    Returns:
        The table [rows, factor] and its factors.

    Example:
        >>> table, info = factor_table({"pose": [10, 20, 30]}, rows=3)
        >>> table.ravel().tolist(), info[0].kind
        ([0.0, 1.0, 2.0], 'ordinal')
    """
    chosen: dict[str, Kind] = {}
    for name, kind in (kinds or {}).items():
        if name not in columns:
            raise unknown("factor", name, columns)
        if kind not in get_args(Kind):
            raise unknown("kind of factor", kind, get_args(Kind))
        chosen[name] = kind  # type: ignore[assignment]
    made = [factor_column(name, values, chosen.get(name)) for name, values in columns.items()]
    for factor, column in made:
        if len(column) != rows:
            raise InputError(f"factor {factor.name!r} has {len(column)} values for {rows} observations.")
    table = np.stack([column for _, column in made], 1) if made else np.empty((rows, 0))
    return table.astype(np.float64), tuple(factor for factor, _ in made)
