"""Files of codes, and of the observations that are made from codes."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from unbraid.data.optional import need
from unbraid.data.own.tables import read_table
from unbraid.data.preprocessing import Preprocessing
from unbraid.errors import InputError
from unbraid.runs.codes import CodeTable
from unbraid.util.files import complete_file, write_arrays

NAMES = ("name", "row")  # the first column of a table of codes: what an observation is called, or its place
# Suffixes that no folder is called.
FILES = (".csv", ".tsv", ".parquet", ".npy", ".npz", ".h5ad", ".png", ".jpg", ".gif")


def write_codes(table: CodeTable, path: Path) -> None:
    """Write codes of all stages, and what is known of the factors, as the suffix of the file says.

    Args:
        table: the codes.
        path: .csv, .parquet, .npz (as codes.npz of a run) or .h5ad.
    """
    suffix = path.suffix.lower()
    if suffix == ".npz":
        write_arrays(path, table.arrays)
    elif suffix == ".h5ad":
        made = table.to_anndata()
        with complete_file(path) as place:
            made.write_h5ad(place)
    else:
        columns = table_columns(table)
        if suffix == ".parquet":
            pyarrow, parquet = need("pyarrow"), need("pyarrow.parquet")
            with complete_file(path) as place:
                parquet.write_table(pyarrow.table({name: list(values) for name, values in columns.items()}), place)
        else:
            write_csv(path, columns)


def table_columns(table: CodeTable) -> dict[str, Sequence[Any]]:
    """Names, codes and factors as columns."""
    columns: dict[str, Sequence[Any]] = {NAMES[0] if "names" in table.arrays else NAMES[1]: table.names}
    columns |= {name: values.tolist() for name, values in table.code_columns(all_stages=True).items()}
    known = {name: values.tolist() for name, values in table.known_columns().items()}
    return columns | {f"factor/{name}" if name in columns else name: values for name, values in known.items()}


def write_csv(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns with a header; NaN is left empty.

    Args:
        path: the file.
        columns: of equal length, by name.
    """
    with complete_file(path) as place, place.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            writer.writerow("" if isinstance(value, float) and np.isnan(value) else value for value in row)


def read_codes(path: Path) -> tuple[CodeTable | dict[str, list[Any]], tuple[str, ...]]:
    """Codes from a file, and what their observations are called.

    Args:
        path: what `write_codes` has written, or a table with a column for each code.

    Returns:
        What `Run.decode` takes, and names; their places where there are none.
    """
    if path.suffix.lower() == ".npz":
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = dict(file)
        except (OSError, ValueError) as error:
            raise InputError(f"{str(path)!r} is not a readable .npz file ({error}); copy it again.") from error
        if "codes" not in arrays:
            raise InputError(f"{str(path)!r} has no array 'codes'.")
        arrays.setdefault("rows", np.arange(len(arrays["codes"])))
        table = CodeTable(arrays)
        return table, table.names
    if path.suffix.lower() not in (".csv", ".tsv", ".parquet"):
        raise InputError(f"{str(path)!r} is of a kind that cannot be read; give .csv, .parquet or .npz.")
    columns = read_table(path)
    key = next((name for name in NAMES if name in columns), None)
    count = len(next(iter(columns.values())))
    return columns, tuple(map(str, columns[key])) if key else tuple(map(str, range(count)))


def observations_file(place: Path, is_image: bool, how: Preprocessing) -> Path:
    """Where observations go: the folder of images; the file of a table or of signals, named or in the folder.

    Args:
        place: as it was asked for.
        is_image: whether they are images.
        how: the run's preprocessing, which knows whether they are signals.

    Example:
        >>> str(observations_file(Path("made"), False, Preprocessing())), str(observations_file(
        ...     Path("made.csv"), False, Preprocessing()))
        ('made/observations.csv', 'made.csv')
    """
    suffix = "" if is_image else ".npy" if how.signal else ".csv"
    if place.suffix.lower() not in FILES:
        return place / f"observations{suffix}" if suffix else place
    if place.suffix.lower() != suffix:
        what = "images go into a folder" if is_image else f"these observations are written as {suffix}"
        raise InputError(f"--out {str(place)!r}: {what}; name a folder{f' or a {suffix} file' if suffix else ''}.")
    return place


def write_observations(made: NDArray[Any], place: Path, names: Sequence[str], how: Preprocessing) -> None:
    """Write images as PNG files under their names, vectors as a CSV and signals as an .npy file.

    Args:
        made: observations, [n, h, w, c] of bytes, or [n, value] or [n, channel, time] in their own units.
        place: the folder of images, or the file, as `observations_file` has it.
        names: of the observations; folders in them are kept, so that no two files meet.
        how: the run's preprocessing, which knows the columns of vectors, if they have names.
    """
    if made.ndim == 2:
        called = [f"value {number}" for number in range(1, made.shape[1] + 1)]
        columns = how.as_columns(made) if how.columns else dict(zip(called, made.T.tolist(), strict=True))
        write_csv(place, {"name": list(names)} | columns)
        return
    if made.ndim == 3:
        with complete_file(place) as whole, whole.open("wb") as file:
            np.save(file, made)
        return
    for pixels, name in zip(made, picture_names(names), strict=True):
        with complete_file(place / name) as file:
            Image.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels).save(file, format="PNG")


def picture_names(names: Sequence[str]) -> list[str]:
    """File names within a folder for pictures with these names; numbers, where two would be the same.

    Example:
        >>> picture_names(["cats/1.jpg", "/data/2.png", "7"]), picture_names(["a.png", "a.jpg"])
        (['cats/1.png', '2.png', '7.png'], ['1.png', '2.png'])
    """
    paths = [PurePosixPath(name) for name in names]
    within = [path.name if path.is_absolute() or ".." in path.parts else str(path) for path in paths]
    places = [str(PurePosixPath(place).with_suffix(".png")) for place in within]
    return places if len(set(places)) == len(places) else [f"{number}.png" for number in range(1, len(names) + 1)]
