"""Tables in CSV or Parquet by name, and labels joined to images by file name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from unbraid.data.optional import need
from unbraid.data.own.csv_files import Sheet, read_csv
from unbraid.errors import InputError

FILE_COLUMNS = ("file", "filename", "file_name", "image", "image_id", "path", "name", "id")


def read_table(path: Path, header: str | bool = "auto") -> dict[str, list[Any]]:
    """The columns of a CSV or Parquet file, by name; a missing or unreadable file is an `InputError`."""
    return read_sheet(path, header).columns


def read_sheet(path: Path, header: str | bool = "auto") -> Sheet:
    """The columns of a CSV or Parquet file, and what there is to say of how they were read."""
    try:
        if path.suffix.lower() == ".parquet":
            return Sheet(read_parquet(path))
        return read_csv(path, header)
    except FileNotFoundError as error:
        raise InputError(f"there is no file {str(path)!r}.") from error
    except PermissionError as error:
        raise InputError(f"no permission to read {str(path)!r}; change its permissions.") from error


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
