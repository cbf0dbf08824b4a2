"""Tables in CSV or Parquet: measurements to learn from, and labels joined to images by file name."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from unbraid.data.counts import Kind, is_counts
from unbraid.data.factor_data import FactorData
from unbraid.data.optional import need
from unbraid.data.own.arrays import from_arrays
from unbraid.data.own.columns import MISSING
from unbraid.errors import InputError, unknown

FILE_COLUMNS = ("file", "filename", "file_name", "image", "image_id", "path", "name", "id")


def read_table(path: Path) -> dict[str, list[Any]]:
    """The columns of a CSV or Parquet file, by name; a missing or unreadable file is an `InputError`."""
    try:
        if path.suffix.lower() == ".parquet":
            return read_parquet(path)
        return read_csv(path)
    except FileNotFoundError as error:
        raise InputError(f"there is no file {str(path)!r}.") from error
    except PermissionError as error:
        raise InputError(f"no permission to read {str(path)!r}; change its permissions.") from error


def read_csv(path: Path) -> dict[str, list[Any]]:
    """A CSV file with a header; comma, semicolon or tab."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            head = stream.readline()
            delimiter = max(",;\t", key=head.count)
            stream.seek(0)
            rows = [row for row in csv.reader(stream, delimiter=delimiter) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{str(path)!r} is not a readable CSV file in UTF-8 ({error}).") from error
    if len(rows) < 2:
        raise InputError(f"{str(path)!r} needs a header line and at least one row.")
    header = [name.strip() or f"column {k + 1}" for k, name in enumerate(rows[0])]
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise InputError(f"{str(path)!r} has two columns named {twice!r}; rename one.")
    for line, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            raise InputError(f"{str(path)!r}: line {line} has {len(row)} fields where the header has {len(header)}.")
    return dict(zip(header, map(list, zip(*rows[1:], strict=True)), strict=True))


def read_parquet(path: Path) -> dict[str, list[Any]]:
    """A Parquet file, through pyarrow."""
    pyarrow, parquet = need("pyarrow", path), need("pyarrow.parquet", path)
    try:
        table = parquet.read_table(path)
    except (pyarrow.ArrowInvalid, OSError) as error:
        if isinstance(error, (FileNotFoundError, PermissionError)):
            raise
        raise InputError(f"{str(path)!r} is not a readable Parquet file.") from error
    return {name: table.column(name).to_pylist() for name in table.column_names}


def load_table(
    path: Path,
    *,
    columns: Sequence[str] | None = None,
    factors: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    standardize: bool | Mapping[str, Sequence[float]] = True,
    kind: Kind = "auto",
    arguments: Mapping[str, Any] | None = None,
) -> FactorData:
    """A table of measurements or of counts.

    Args:
        path: a CSV, TSV or Parquet file.
        columns: to learn from; all that are not factors by default.
        factors: columns that are labels.
        kinds: of factors by name, as in `from_arrays`.
        standardize: bring columns to mean 0 and deviation 1. The statistics are recorded in `FactorData.arguments`, so
            that other rows can be loaded the same way.
        kind: counts, which are kept as they are, or values; auto looks at them.
        arguments: what `load` records.

    Returns:
        Vectors with a value for each column.
    """
    table = read_table(path)
    factors = split_names(factors)
    columns = None if columns is None else split_names(columns)
    for name in [*factors, *(columns or [])]:
        if name not in table:
            raise unknown(f"column in {str(path)!r}:", name, table)
    chosen = columns if columns is not None else [name for name in table if name not in factors]
    if not chosen:
        raise InputError(f"{str(path)!r}: no column is left to learn from; name some in columns= (--data.columns a,b).")
    values = np.stack([parse_numbers(path, name, table[name]) for name in chosen], 1)
    counted = is_counts(values, str(path), kind, standardize)
    data = from_arrays(
        values,
        {name: table[name] for name in factors},
        kinds=kinds,
        name=str(path),
        standardize=False if counted else standardize,
        kind="counts" if counted else "values",
        value_names=chosen,
        arguments={} if arguments is None else arguments,
    )
    return replace(data, preprocessing=replace(data.preprocessing, columns=tuple(chosen)))


def split_names(names: str | Sequence[str]) -> list[str]:
    """Names as a list.

    Args:
        names: a sequence, or text with commas as the command line gives it.

    Returns:
        The names.

    Example:
        >>> split_names("mass, width")
        ['mass', 'width']
    """
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)


def parse_numbers(path: Path, name: str, values: list[Any]) -> Any:
    """A column of measurements; text and gaps are errors that name the place."""
    out = np.empty(len(values))
    for row, value in enumerate(values):
        try:
            out[row] = float(value)
        except (TypeError, ValueError):
            if value is None or str(value).strip().lower() in MISSING:
                out[row] = np.nan
                continue
            raise InputError(
                f"{str(path)!r}: column {name!r} holds text ({str(value)!r}); "
                f"name it in factors= if it is a label (--data.factors {name}), or leave it out by columns=."
            ) from None
    gaps = np.flatnonzero(np.isnan(out))
    if len(gaps):
        raise InputError(f"{str(path)!r}: column {name!r} has no value in row {gaps[0] + 1}; fill or remove the row.")
    return out


def join_labels(path: Path, images: Sequence[str], *, refuse_extra: bool = True) -> dict[str, list[Any]]:
    """Label columns in the order of the images; None where an image has no label.

    The table's file names may be paths within the folder or bare names, with or without suffix.
    """
    table = read_table(path)
    key = next((name for name in table if name.lower() in FILE_COLUMNS), next(iter(table)))
    place: dict[str, int | None] = {}
    for index, image in enumerate(images):
        pure = PurePosixPath(image)
        for alias in {image, pure.name, pure.stem, str(pure.with_suffix(""))}:
            place[alias] = None if alias in place else index  # None: two images share the name
    columns: dict[str, list[Any]] = {name: [None] * len(images) for name in table if name != key}
    absent, lines = [], dict[int, int]()
    for row, entry in enumerate(table[key]):
        text = str(entry).strip().replace("\\", "/").removeprefix("./")
        if text not in place:
            absent.append(text)
            continue
        found = place[text]
        if found is None:
            raise InputError(
                f"{str(path)!r}: several images are called {text!r}; give their folders, as in 'a/{text}'."
            )
        if found in lines:
            raise InputError(
                f"{str(path)!r} names {images[found]!r} twice, in rows {lines[found]} and {row + 1}; remove one."
            )
        lines[found] = row + 1
        for name, column in columns.items():
            column[found] = table[name][row]
    if len(absent) == len(table[key]):
        raise InputError(f"{str(path)!r}: no entry of column {key!r} names an image ({absent[0]!r} for example).")
    if absent and refuse_extra:
        raise InputError(
            f"{str(path)!r} names {len(absent)} image{'s' * (len(absent) > 1)} that the folder does not hold "
            f"({absent[0]!r} for example); correct it, or pass extra_labels='ignore' (--data.extra_labels ignore)."
        )
    if not columns:
        raise InputError(f"{str(path)!r} has only the column {key!r}; labels need at least one more.")
    return columns
