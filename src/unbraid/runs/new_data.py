"""What a run makes of whatever people pass: arrays, files, folders, pictures and tables, as its networks need them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from unbraid.data.factor_data import Factor, FactorData
from unbraid.data.own.arrays import as_images, as_numbers
from unbraid.data.own.columns import MISSING
from unbraid.data.own.image_folder import SUFFIXES, image_files
from unbraid.data.own.measurements import filled, table_values
from unbraid.data.own.pixels import as_pixels, decode
from unbraid.data.own.readers import load_path
from unbraid.data.own.signals import flat_signals
from unbraid.data.own.tables import read_table
from unbraid.data.own.vectors import as_vectors
from unbraid.errors import InputError
from unbraid.runs.directory import RunDirectory
from unbraid.runs.observations import check_observations
from unbraid.util.lists import few
from unbraid.util.schema import from_json
from unbraid.util.units import column_places

TABLES = (".csv", ".tsv", ".parquet")


@dataclass(frozen=True)
class NewData:
    """Observations stored as the run's data set stores them, with what is known of them."""

    observations: NDArray[Any]
    names: tuple[str, ...] = ()  # file names, or a table's own index; empty where rows have only their places
    factors: NDArray[np.float64] | None = None  # [n, factor] of the data set's factors, NaN where unknown

    def labels_for(self, run: RunDirectory) -> NDArray[np.float64] | None:
        """The labels that the run's encoders may read, [n, factor]; None if nothing is known."""
        if self.factors is None:
            return None
        known = [factor.name for factor in factors_of(run)]
        return self.factors[:, [known.index(factor.name) for factor in run.label_factors]]


def factors_of(run: RunDirectory) -> tuple[Factor, ...]:
    """The factors of the data set that a run was trained on."""
    return tuple(from_json(Factor, factor) for factor in run.plan.data["factors"])


def read_new(run: RunDirectory, x: Any) -> NewData:
    """New observations, in raw units and of any common kind, as the run's data set would store them.

    Args:
        run: a run; its training data need not be there.
        x: one observation or several: an array (images as bytes or floats in [0, 1], vectors in their own units), the
            path of an image, a folder, an array or a table, a list of paths or of Pillow images, a DataFrame or a
            mapping from columns to values. A `FactorData` is taken as it is.
    """
    if isinstance(x, FactorData):
        known = x.factors if x.factor_info == factors_of(run) else None
        return NewData(x.observations, factors=known)
    if isinstance(x, str | Path):
        return from_path(run, Path(x).expanduser())
    if isinstance(x, Image.Image):
        return from_pictures(run, [x])
    if isinstance(x, list | tuple) and x and all(isinstance(one, str | Path) for one in x):
        return joined([from_path(run, Path(one).expanduser()) for one in x])
    if isinstance(x, list | tuple) and x and all(isinstance(one, Image.Image) for one in x):
        return from_pictures(run, x)
    if hasattr(x, "columns") and hasattr(x, "to_dict"):  # a DataFrame, of pandas or of what imitates it
        table = {str(name): list(x[name]) for name in x.columns}
        return from_table(run, table, "the table", tuple(map(str, getattr(x, "index", ()))))
    if isinstance(x, Mapping):
        return from_table(run, {str(name): list(values) for name, values in x.items()}, "the table")
    return NewData(from_array(run, as_numbers(x)))


def joined(parts: Sequence[NewData]) -> NewData:
    """Several pieces as one; names and labels only where every piece has them."""
    factors = [part.factors for part in parts if part.factors is not None]
    named = all(part.names for part in parts)
    return NewData(
        np.concatenate([part.observations for part in parts]),
        tuple(name for part in parts for name in part.names) if named else (),
        np.concatenate(factors) if len(factors) == len(parts) else None,
    )


def from_path(run: RunDirectory, path: Path) -> NewData:
    """A folder of images, an image, a table or an array."""
    if not path.exists():
        raise InputError(f"there is no file or folder {str(path)!r}.")
    suffix = path.suffix.lower()
    if path.is_dir() or suffix in SUFFIXES:
        if not run.is_image:
            raise InputError(f"{str(path)!r} holds images, and {str(run.folder)!r} was trained on vectors.")
        files = image_files(path) if path.is_dir() else [path]
        names = [file.relative_to(path).as_posix() if path.is_dir() else str(path) for file in files]
        return NewData(np.stack([picture_of(run, file) for file in files]), tuple(names))
    if suffix in TABLES:
        return from_table(run, read_table(path), str(path))
    if suffix == ".h5ad":
        return from_cells(run, path)
    how = run.preprocessing
    stated: dict[str, Any] = {}
    if run.is_image:
        stated = {"layout": how.layout, "value_range": how.value_range, "stretch": how.stretch}
    if how.signal is not None:
        stated = {"layout": how.layout, "standardize": False}
    recorded = {"array": (run.plan.data.get("arguments") or {}).get("array")} if suffix != ".npy" else {}
    options = {name: value for name, value in (stated | recorded).items() if value is not None}
    return NewData(from_array(run, load_path(path, **options).observations))


def from_cells(run: RunDirectory, path: Path) -> NewData:
    """The cells of an AnnData file, with the variables that the run was trained on in its order."""
    layer = (run.plan.data.get("arguments") or {}).get("layer")
    found = load_path(path, kind="values", **({} if layer is None else {"layer": layer}))
    place = {name: k for k, name in enumerate(found.preprocessing.columns)}
    wanted = run.preprocessing.columns or found.preprocessing.columns
    absent = [name for name in wanted if name not in place]
    if absent:
        raise InputError(f"{str(path)!r} has no variable {absent[0]!r}, which the run was trained on: add it.")
    return NewData(from_array(run, found.observations[:, [place[name] for name in wanted]]))


def checked_pixels(run: RunDirectory, pixels: NDArray[np.uint8], name: str) -> NDArray[np.uint8]:
    """One image, which must be of the size and the channels that the run was trained on."""
    channels, height, width = run.plan.data["shape"]
    if pixels.shape[:2] != (height, width):
        raise InputError(
            f"{name!r} is {pixels.shape[1]}×{pixels.shape[0]} pixels and the run was trained on {width}×{height} "
            "without resizing: bring it to that size."
        )
    if pixels.shape[2] != channels:
        kinds = {1: "grey", 3: "colour"}
        trained = kinds.get(channels, f"{channels}-channel")
        raise InputError(
            f"{name!r} is {kinds[pixels.shape[2]]} and the run was trained on {trained} images: convert it."
        )
    return pixels


def picture_of(run: RunDirectory, file: Path) -> NDArray[np.uint8]:
    """One image file, decoded and resized as the run's own were."""
    return checked_pixels(run, decode(file, run.preprocessing), str(file))


def from_pictures(run: RunDirectory, pictures: Sequence[Image.Image]) -> NewData:
    """Pillow images, treated as files of images are."""
    if not run.is_image:
        raise InputError(f"these are images, and {str(run.folder)!r} was trained on vectors.")
    how, made = run.preprocessing, []
    for number, picture in enumerate(pictures, 1):
        name = getattr(picture, "filename", "") or f"picture {number}"
        pixels = as_pixels(picture, name, how)
        made.append(checked_pixels(run, pixels, name))
    return NewData(np.stack(made))


def from_array(run: RunDirectory, x: NDArray[Any]) -> NDArray[Any]:
    """An array of one observation or several: images as bytes, vectors standardised as the run's own were."""
    shape = tuple(run.plan.data["shape"])
    if not run.is_image:
        rows = signal_rows(run, x)
        rows = rows[None] if rows.ndim == 1 and rows.shape == shape else rows
        if rows.ndim != 2 or rows.shape[1:] != shape or not len(rows):
            check_observations(run.plan, rows)
        how = run.preprocessing
        if how.counts and rows.min() < 0:
            raise InputError("the run was trained on counts, and the observations have values below 0: give counts.")
        standardize = {"mean": how.mean, "scale": how.scale} if how.mean else False
        return as_vectors(how.logged(rows), "the observations", standardize)[0]
    images = image_rows(x, shape, run.preprocessing.layout)
    if images is None or not len(images):
        check_observations(run.plan, x)
        raise InputError("there are no observations: give at least one.")
    black_and_white, ends = run.preprocessing.value_range, run.preprocessing.stretch
    if ends is not None and images.dtype != np.uint8:
        return as_images(images, "the observations", "nhwc", ends, clip=True)
    if images.dtype == np.uint8 and (black_and_white is None or images.max() > black_and_white[1]):
        return np.ascontiguousarray(images)
    return as_images(images, "the observations", "nhwc", black_and_white)


def signal_rows(run: RunDirectory, x: NDArray[Any]) -> NDArray[Any]:
    """Signals, one [channel, time] or several in the layout of the run's own, as vectors; other arrays as they are."""
    how = run.preprocessing
    if how.signal is None:
        return x
    order = how.signal if how.layout != "ntc" else how.signal[::-1]
    rows = x[None] if x.shape == order else x
    return flat_signals(rows, how.layout or "nct") if rows.shape[1:] == order else x


def image_rows(x: NDArray[Any], shape: tuple[int, ...], layout: str | None) -> NDArray[Any] | None:
    """Images [n, h, w, c] from an array of one or several in any layout; None if its shape is another.

    Example:
        >>> image_rows(np.zeros((3, 8, 9)), (3, 8, 9), None).shape
        (1, 8, 9, 3)
    """
    channels, height, width = shape
    last, first = (height, width, channels), (channels, height, width)
    for order in (first, last) if layout == "nchw" else (last, first):
        if x.ndim in (3, 4) and x.shape[-3:] == order:
            rows = x[None] if x.ndim == 3 else x
            return np.moveaxis(rows, 1, 3) if order == first else rows
    if channels == 1 and x.ndim in (2, 3) and x.shape[-2:] == (height, width):
        return (x[None] if x.ndim == 2 else x)[..., None]
    return None


def from_table(run: RunDirectory, table: Mapping[str, list[Any]], name: str, names: tuple[str, ...] = ()) -> NewData:
    """The columns of a table that the run was trained on, in its order, and the labels that it has."""
    if run.is_image:
        raise InputError(f"{name!r} is a table, and {str(run.folder)!r} was trained on images.")
    info = factors_of(run)
    wanted = run.preprocessing.columns or tuple(
        column for column in table if column not in {factor.name for factor in info}
    )
    absent = [column for column in wanted if column not in table]
    if absent:
        raise InputError(f"{name!r} has no column {absent[0]!r}; the run was trained on {few(wanted)}, in any order.")
    how, place = run.preprocessing, Path(name)
    values = table_values(place, table, wanted, how.categories)
    values = filled(place, values, column_places(wanted, how.categories), how.fill, "fill or remove these rows.")
    known = {factor.name: known_labels(factor, table[factor.name]) for factor in info if factor.name in table}
    gaps = np.full(len(values), np.nan)
    factors = np.stack([known.get(factor.name, gaps) for factor in info], 1) if known else None
    return NewData(from_array(run, values), names, factors)


def known_labels(factor: Factor, values: Sequence[Any]) -> NDArray[np.float64]:
    """Labels as the data set counts them; NaN where one is missing or is a value that the data set did not have.

    Example:
        >>> known_labels(Factor("class", 2, "categorical", ("cat", "dog")), ["dog", "", "owl"]).tolist()
        [1.0, nan, nan]
    """
    numbers = [label_number(factor, str(value).strip()) for value in values]
    return np.array(numbers, dtype=np.float64)


def label_number(factor: Factor, text: str) -> float:
    """The number that a data set has for this label; NaN if it has none."""
    if text.lower() in MISSING:
        return np.nan
    if text in factor.values:
        return float(factor.values.index(text))
    try:
        number = float(text)
    except ValueError:
        return np.nan
    if not factor.size:
        return number
    if factor.values:  # values as they were written down: 10, 20, 30
        return float(factor.values.index(f"{number:g}")) if f"{number:g}" in factor.values else np.nan
    return number if 0 <= number < factor.size and number == round(number) else np.nan
