"""A table of measurements to vectors: which columns are learned from, as which numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data.counts import Kind, is_counts
from unbraid.data.factor_data import FactorData
from unbraid.data.own.arrays import from_arrays
from unbraid.data.own.column_kinds import as_numbers_or_none, describe_columns, role_notes
from unbraid.data.own.columns import MISSING
from unbraid.data.own.tables import read_sheet
from unbraid.errors import InputError, unknown
from unbraid.util.lists import name_list
from unbraid.util.units import column_places, value_names

MOST_VALUES = 100  # of a category column that is asked for by name
DROP_OR_FILL = "pass missing='drop' to leave them out or missing='mean' to fill them (--data.missing drop)."
Floats = NDArray[np.float64]
Categories = dict[str, list[str]]


def load_table(
    path: Path,
    *,
    columns: Sequence[str] | None = None,
    factors: Sequence[str] = (),
    exclude: Sequence[str] = (),
    log1p: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    standardize: bool | Mapping[str, Sequence[float]] = True,
    missing: str = "refuse",
    header: str | bool = "auto",
    categories: Mapping[str, Sequence[str]] | None = None,
    kind: Kind = "auto",
    arguments: Mapping[str, Any] | None = None,
) -> FactorData:
    """A table of measurements or of counts.

    Args:
        path: a CSV, TSV or Parquet file.
        columns: to learn from; by default numbers and categories that are not factors, and not what looks like a label,
            an id, a time or free text, or never changes.
        factors: columns that are labels.
        exclude: columns to leave out.
        log1p: columns of which log(1 + value) is learned from; ["all"] for all numbers.
        kinds: of factors by name, as in `from_arrays`.
        standardize: bring columns to mean 0 and deviation 1. The statistics are recorded in `FactorData.arguments`, so
            that other rows can be loaded the same way.
        missing: what becomes of gaps: "refuse", "drop" the row, or "mean": fill in the column's mean.
        header: whether the first line has the names: "auto", "yes" or "no".
        categories: the values of category columns, where a data set has them already.
        kind: of all numbers: counts, which are kept as they are, or values; auto looks at them.
        arguments: what `load` records.

    Returns:
        Vectors with a value for each number and for each category.
    """
    if missing not in ("refuse", "drop", "mean"):
        raise InputError(f"missing={missing!r} is unknown; choose 'refuse', 'drop' or 'mean' (--data.missing drop).")
    sheet = read_sheet(path, header)
    table, notes = {name: read_once(values) for name, values in sheet.columns.items()}, list(sheet.notes)
    labels, without, logs = name_list(factors), name_list(exclude), name_list(log1p)
    asked = None if columns is None else name_list(columns)
    for name in [*labels, *without, *(asked or []), *(logs if logs != ["all"] else [])]:
        if name not in table:
            raise unknown(f"column in {str(path)!r}:", name, table)
    if asked is None and not isinstance(standardize, Mapping):
        found = describe_columns({name: table[name] for name in table if name not in (*labels, *without)})
        labels += [column.name for column in found.values() if column.role == "factor"]
        chosen = [column.name for column in found.values() if column.role == "learned from"]
        notes += role_notes(found.values())
    else:  # runs of before there were kinds have statistics for all that is not a factor
        chosen = asked if asked is not None else [name for name in table if name not in labels]
    chosen = [name for name in chosen if name not in without]
    if not chosen:
        raise InputError(f"{str(path)!r}: no column is left to learn from; name some in columns= (--data.columns a,b).")
    known = {name: list(values) for name, values in (categories or {}).items()}
    text = [name for name in chosen if name not in known and is_category(table[name])]
    known |= {name: category_values(path, name, table[name]) for name in text}
    values = table_values(path, table, chosen, known)
    rows = np.arange(len(values))
    if missing == "drop":
        rows = np.flatnonzero(~np.isnan(values).any(1))
        gone = len(values) - len(rows)
        notes += [f"{gone:,} row{'s' * (gone > 1)} with gaps {'are' if gone > 1 else 'is'} left out"] if gone else []
    fill = column_means(values) if missing == "mean" else ()
    values = filled(path, values[rows], column_places(chosen, known), fill)
    plain = not known and not logs
    are_counts = plain and is_counts(values, str(path), kind, standardize)
    data = from_arrays(
        values,
        {name: [sheet.columns[name][row] for row in rows] for name in labels},
        kinds=kinds,
        name=str(path),
        standardize=False if are_counts else standardize,
        kind="counts" if are_counts else "values",
        value_names=value_names(chosen, known),
        log1p=logged_places(chosen, known, logs),
        arguments={} if arguments is None else arguments,
    )
    how = replace(data.preprocessing, columns=tuple(chosen), categories=known, fill=tuple(fill))
    record = {"columns": chosen} | ({"factors": labels} if labels else {}) | ({"categories": known} if known else {})
    return replace(data, preprocessing=how, arguments=dict(data.arguments or {}) | record, notes=tuple(notes))


def read_once(values: Sequence[Any]) -> Sequence[Any]:
    """A column of numbers as an array, so that its text is read once; others as they are."""
    numbers: Any = as_numbers_or_none(values)[0]
    return values if numbers is None else numbers


def is_category(values: Sequence[Any]) -> bool:
    """Whether a column is text, and not numbers with a slip among them."""
    numbers, gaps = as_numbers_or_none(values)
    return numbers is None and not mostly_numbers([v for v, gap in zip(values, gaps, strict=True) if not gap])


def mostly_numbers(values: Sequence[Any]) -> bool:
    """Whether more than half of these are numbers: then what is not is a slip.

    Example:
        >>> mostly_numbers(["1", "2", "error"]), mostly_numbers(["a", "1"])
        (True, False)
    """
    return 2 * sum(is_float(value) for value in values) > len(values)


def is_float(value: Any) -> bool:
    """Whether a value can be read as a number."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, bool)


def category_values(path: Path, name: str, values: Sequence[Any]) -> list[str]:
    """The values of a category column in their order."""
    found = sorted({str(value).strip() for value in values if not is_missing(value)})
    if len(found) > MOST_VALUES:
        raise InputError(
            f"{str(path)!r}: column {name!r} holds text with {len(found)} different values ({found[0]!r}, …); "
            f"name it in factors= if it is a label (--factors {name}), or leave it out (--exclude {name})."
        )
    return found


def is_missing(value: Any) -> bool:
    """Whether a field is empty or says that it is."""
    return value is None or str(value).strip().lower() in MISSING


def table_values(
    path: Path, table: Mapping[str, Sequence[Any]], columns: Sequence[str], categories: Mapping[str, Sequence[str]]
) -> Floats:
    """Columns as numbers [n, value]: categories as ones and zeros, NaN for gaps; text elsewhere is an error."""
    parts = []
    for name in columns:
        if name in categories:
            parts.append(one_hot(path, name, table[name], categories[name]))
        else:
            parts.append(parse_numbers(path, name, table[name])[:, None])
    return np.concatenate(parts, 1)


def one_hot(path: Path, name: str, values: Sequence[Any], known: Sequence[str]) -> Floats:
    """A category column as ones and zeros [n, category]; NaN in all of them for a gap."""
    place = {value: k for k, value in enumerate(known)}
    made = np.zeros((len(values), len(known)))
    for row, value in enumerate(values):
        text = str(value).strip()
        if is_missing(value):
            made[row] = np.nan
        elif text in place:
            made[row, place[text]] = 1
        else:
            raise InputError(
                f"{str(path)!r}: column {name!r} has {text!r} in row {row + 1}, which the training data did not have "
                f"({', '.join(known[:8])}{' …' * (len(known) > 8)}); correct or remove the row."
            )
    return made


def parse_numbers(path: Path, name: str, values: Sequence[Any]) -> Floats:
    """A column of measurements, NaN for gaps; text is an error that names the place."""
    numbers, _ = as_numbers_or_none(values)
    if numbers is not None:
        return numbers
    row = next(k for k, value in enumerate(values) if not is_missing(value) and not is_float(value))
    raise InputError(
        f"{str(path)!r}: column {name!r} holds text ({str(values[row])!r} in row {row + 1}) among numbers; correct it, "
        f"name it in factors= if it is a label (--factors {name}), or leave it out (--exclude {name})."
    )


def column_means(values: Floats) -> tuple[float, ...]:
    """The mean of each value, gaps left out; 0 where there is nothing else."""
    there = ~np.isnan(values)
    sums = np.where(there, values, 0.0).sum(0)
    return tuple((sums / np.maximum(there.sum(0), 1)).tolist())


def filled(
    path: Path, values: Floats, places: Mapping[str, slice], fill: Sequence[float], remedy: str = DROP_OR_FILL
) -> Floats:
    """Values with gaps filled; without anything to fill them with, a gap is an error that names its place."""
    gaps = np.isnan(values)
    if not gaps.any():
        return values
    if len(fill):
        return np.where(gaps, np.asarray(fill), values)
    row, column = (int(index) for index in np.argwhere(gaps)[0])
    name = next(name for name, place in places.items() if place.start <= column < place.stop)
    raise InputError(
        f"{str(path)!r}: column {name!r} has no value in row {row + 1}, {counted(int(gaps.any(1).sum()))} gaps; "
        + remedy
    )


def counted(rows: int) -> str:
    """How many rows have something."""
    return "1 row has" if rows == 1 else f"{rows:,} rows have"


def logged_places(columns: Sequence[str], categories: Mapping[str, Sequence[str]], logs: Sequence[str]) -> list[int]:
    """Where the columns stand whose logarithm is taken.

    Example:
        >>> logged_places(["colour", "mass", "width"], {"colour": ["blue", "red"]}, ["width"])
        [3]
    """
    places = column_places(columns, categories)
    absent = [name for name in logs if name != "all" and name not in places]
    if absent:
        raise InputError(f"log1p: column {absent[0]!r} is not learned from; name one of {', '.join(places)}.")
    wanted = [name for name in places if name not in categories] if list(logs) == ["all"] else logs
    if any(name in categories for name in wanted):
        raise InputError(f"log1p: {next(n for n in wanted if n in categories)!r} is a category; name numbers only.")
    return [places[name].start for name in wanted]
