"""Arrays and files beside the observations: labels that were named, and those that nobody has asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data.own.tables import read_table
from unbraid.errors import InputError
from unbraid.util.arrays import open_array

TABLES = (".csv", ".tsv", ".parquet")
ONE_LABEL = ("label", "target")  # arrays whose name can be the factor's
USUAL_LABELS = ("labels", "targets", "factors", "y", "classes")


def named_factors(
    path: Path, arrays: Mapping[str, NDArray[Any]], wanted: Sequence[str], rows: int, asked: Any = None
) -> Any:
    """Label arrays of a file.

    Args:
        path: the file, for messages.
        arrays: them, by name.
        wanted: their names, in order.
        rows: how many observations there are.
        asked: what was asked for by name; None if they were found by a usual name.

    Returns:
        An array that was found, or that has several columns, as it is; else a column for each name; None for none.
    """
    if not wanted:
        return None
    for name in wanted:
        if asked is None:
            return {name: arrays[name]} if name in ONE_LABEL and arrays[name].ndim == 1 else arrays[name]
        if arrays[name].ndim not in (1, 2) or len(arrays[name]) != rows:
            raise InputError(
                f"{str(path)!r}: {name!r} has the shape {arrays[name].shape}, and labels of {rows:,} observations "
                f"need [{rows}] or [{rows}, factor]."
            )
    if len(wanted) == 1 and arrays[wanted[0]].ndim == 2 and arrays[wanted[0]].shape[1] > 1:
        return arrays[wanted[0]]
    columns: dict[str, NDArray[Any]] = {}
    for name in wanted:
        table = arrays[name].reshape(rows, -1)
        single = table.shape[1] == 1
        columns |= {name if single else f"{name} {k + 1}": column for k, column in enumerate(table.T)}
    return columns


def unused_note(shapes: Mapping[str, tuple[int, ...]], used: Sequence[str], rows: int) -> list[str]:
    """One line on arrays of as many rows that were not used.

    Args:
        shapes: of all arrays of the file, by name.
        used: names of those that were.
        rows: how many observations there are.

    Returns:
        The line, or nothing.

    Example:
        >>> unused_note({"x": (9, 4), "freq": (9,), "dt": ()}, ["x"], 9)
        ['not used: freq; --factors freq makes labels of it']
    """
    left = [
        name for name, shape in shapes.items() if name not in used and shape[:1] == (rows,) and len(shape) in (1, 2)
    ]
    if not left:
        return []
    labels = ",".join(left[:3])
    return [f"not used: {', '.join(left)}; --factors {labels} makes labels of {'it' if len(left) == 1 else 'them'}"]


def labels_beside(path: Path, labels: str | Path, rows: int) -> dict[str, Any] | NDArray[Any]:
    """Labels of an array's rows from another file: an .npy, or a table with a row for each.

    Args:
        path: the array's file; a relative path of the labels may start at its folder.
        labels: their file.
        rows: how many observations there are.
    """
    file = label_file(path, labels)
    if file.suffix.lower() in TABLES:
        columns: dict[str, Any] = dict(read_table(file))
        count = len(next(iter(columns.values())))
    elif file.suffix.lower() == ".npy":
        try:
            found = np.asarray(open_array(file))
        except FileNotFoundError:
            raise InputError(f"there is no file {str(file)!r}.") from None
        except (ValueError, EOFError, OSError) as error:
            raise InputError(f"{str(file)!r} is not a readable .npy file of numbers; copy it again.") from error
        columns, count = {file.stem: found} if found.ndim == 1 else {"": found}, len(found)
    else:
        raise InputError(f"labels={str(labels)!r} is of a kind that cannot be read; give .npy, .csv or .parquet.")
    if count != rows:
        raise InputError(f"{str(file)!r} has {count:,} rows of labels for {rows:,} observations of {str(path)!r}.")
    table: NDArray[Any] | dict[str, Any] = columns.get("", columns)
    return table


def label_file(path: Path, labels: str | Path) -> Path:
    """Where the labels of an array are: as written, or beside the array."""
    file = Path(labels).expanduser()
    beside = path.parent / file
    return beside if not file.exists() and path.is_file() and beside.exists() else file


def labels_hint(path: Path) -> list[str]:
    """One line on a file beside an array that may well hold its labels."""
    names = [f"{path.stem}_{name}" for name in USUAL_LABELS] + list(USUAL_LABELS)
    places = [path.with_name(f"{name}{suffix}") for name in names for suffix in (".npy", ".csv")]
    found = next((place for place in places if place.is_file() and place != path), None)
    return [] if found is None else [f"not used: {found.name} beside it; --data.labels {found.name} makes labels of it"]
