"""People's own files: one function for every kind that can be read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.data import cache
from unbraid.data.arguments import check_arguments
from unbraid.data.factor_data import FactorData
from unbraid.data.optional import need
from unbraid.data.own.arrays import from_arrays
from unbraid.data.own.image_folder import check_same_shape, load_folder, wanted_size
from unbraid.data.own.measurements import load_table
from unbraid.data.own.pixels import resize_picture, to_grey_or_rgb
from unbraid.data.own.siblings import label_file, labels_beside, labels_hint, named_factors, unused_note
from unbraid.data.own.sparse_files import load_h5ad, sparse_rows
from unbraid.errors import InputError, unknown
from unbraid.util.arrays import check_archive, open_array
from unbraid.util.files import check_regular
from unbraid.util.lists import name_list

ARRAY_NAMES = ("observations", "images", "imgs", "image", "x", "data", "traces", "signals", "arr_0")
FACTOR_NAMES = ("factors", "latents_classes", "labels", "targets", "label", "target", "y")
SMALL = 1 << 24  # bytes of an array whose shape is looked at
READABLE = "a folder of images, .npy, .npz, .h5/.hdf5, .h5ad, .csv or .parquet"


def load_path(path: Path, /, **arguments: Any) -> FactorData:
    """A data set from a file or folder.

    Args:
        path: a folder of images, .npy, .npz, .h5, .h5ad, .csv or .parquet.
        arguments: options of that kind of file (docs/data.md).

    Returns:
        The data set, named by its whole path.
    """
    try:
        if not path.exists():
            raise InputError(f"there is no file or folder {str(path)!r}.")
        folder = path.is_dir()
    except PermissionError as error:
        raise InputError(f"no permission to read {str(path)!r}; change its permissions.") from error
    if not folder:
        check_regular(path)
    loaders = loaders_of("/" if folder else path.suffix.lower())
    if not loaders:
        raise InputError(f"{str(path)!r} is of a kind that cannot be read; give {READABLE}.")
    arguments = check_arguments(str(path), arguments, *loaders)
    data: FactorData = loaders[-1](path, **arguments)
    # Whole paths, so that the call can be repeated from another folder.
    record = {key: str(value) if isinstance(value, Path) else value for key, value in arguments.items()}
    if "labels" in record:
        record["labels"] = str(label_file(path, record["labels"]).resolve())
    record |= dict(data.arguments or {})
    return replace(data, name=str(path.resolve()), arguments=record)


def loaders_of(suffix: str) -> tuple[Callable[..., FactorData], ...]:
    """The functions that read a kind of file.

    Args:
        suffix: of the file, or `/` for a folder.

    Returns:
        The last one reads the file and may pass options on to those before it; nothing for unknown kinds.

    Example:
        >>> [function.__name__ for function in loaders_of(".npy")]
        ['from_arrays', 'load_npy']
    """
    table, hdf5 = (load_table,), (from_arrays, load_hdf5)
    known: dict[str, tuple[Callable[..., FactorData], ...]] = {
        "/": (load_folder,),
        ".npy": (from_arrays, load_npy),
        ".npz": (from_arrays, load_npz),
        **dict.fromkeys((".h5", ".hdf5"), hdf5),
        ".h5ad": (load_h5ad,),
        **dict.fromkeys((".csv", ".tsv", ".parquet"), table),
    }
    return known.get(suffix, ())


def load_npy(path: Path, *, labels: str | Path | None = None, **options: Any) -> FactorData:
    """One array, bytes stay on disk, memory-mapped; its labels may lie beside it in an .npy or a table."""
    try:
        array = open_array(path).view(np.ndarray)
    except PermissionError as error:
        raise InputError(f"no permission to read {str(path)!r}; change its permissions.") from error
    except (ValueError, EOFError, OSError) as error:
        if "bject" in str(error):
            raise InputError(
                f"{str(path)!r} holds Python objects, which are never loaded; save plain numbers."
            ) from error
        raise InputError(f"{str(path)!r} is not a readable .npy file (truncated?); copy it again.") from error
    packed = pack_name(path, options.get("layout"), options.get("value_range"), options.get("stretch"))
    table = None if labels is None else labels_beside(path, labels, len(array))
    data = from_arrays(array, table, name=str(path), arguments={}, pack_as=packed, **options)
    return replace(data, notes=(*data.notes, *(labels_hint(path) if labels is None else ())))


def load_npz(
    path: Path, *, array: str | None = None, factors: Sequence[str] | None = None, **options: Any
) -> FactorData:
    """Observations, and factors if there are any, from an archive of arrays."""
    try:
        check_archive(path)
        with np.load(path, allow_pickle=False) as archive:
            names = archive.files
            if (matrix := sparse_rows(path, names)) is not None:
                return from_arrays(matrix, name=str(path), arguments={}, **options)
            key = choose_array(path, names, array, ARRAY_NAMES, alone=True)
            observations = archive[key]
            wanted = factor_arrays(path, names, key, factors)
            table = named_factors(path, {name: archive[name] for name in wanted}, wanted, len(observations), factors)
            if isinstance(table, np.ndarray) and "factor_names" in names and "names" not in options:
                options["names"] = [str(name) for name in archive["factor_names"]]
            small = [name for name in names if archive.zip.getinfo(f"{name}.npy").file_size < SMALL]
            shapes = {name: archive[name].shape for name in small}
    except PermissionError as error:
        raise InputError(f"no permission to read {str(path)!r}; change its permissions.") from error
    except Exception as error:  # broken bytes make a decoder raise anything
        if isinstance(error, InputError):
            raise
        if "bject" in str(error):
            raise InputError(
                f"{str(path)!r} holds Python objects, which are never loaded; save plain numbers."
            ) from error
        raise InputError(f"{str(path)!r} is not a readable .npz file (truncated?); copy it again.") from error
    data = from_arrays(observations, table, name=str(path), arguments={}, **options)
    return replace(data, notes=(*data.notes, *unused_note(shapes, [key, *wanted], len(data))))


def factor_arrays(path: Path, names: Sequence[str], key: str, factors: str | Sequence[str] | None) -> list[str]:
    """The arrays that are labels: those that were asked for, or one with a usual name."""
    others = [name for name in names if name != key]
    if factors is None:
        found = choose_array(path, others, None, FACTOR_NAMES, alone=False)
        return [found] if found else []
    return [choose_array(path, others, name, (), alone=False) for name in name_list(factors)]


def load_hdf5(
    path: Path, *, array: str | None = None, factors: Sequence[str] | None = None, **options: Any
) -> FactorData:
    """Observations, and factors if there are any, from the data sets of an HDF5 file."""
    h5py = need("h5py", path)
    try:
        with h5py.File(path, "r") as file:
            names: list[str] = []
            file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
            key = choose_array(path, names, array, ARRAY_NAMES, alone=True)
            wanted, rows = factor_arrays(path, names, key, factors), len(file[key])
            table = named_factors(path, {name: file[name][()] for name in wanted}, wanted, rows, factors)
            unused = unused_note({name: file[name].shape for name in names}, [key, *wanted], rows)
            observations = hdf5_rows(path, file[key], key)
            packed = pack_name(path, key, "bytes", options.get("layout"), options.get("value_range"))
    except PermissionError as error:
        raise InputError(f"no permission to read {str(path)!r}; change its permissions.") from error
    except OSError as error:
        raise InputError(f"{str(path)!r} is not a readable HDF5 file (truncated?); copy it again.") from error
    data = from_arrays(observations, table, name=str(path), arguments={}, pack_as=packed, **options)
    return replace(data, notes=(*data.notes, *unused))


def hdf5_rows(path: Path, source: Any, key: str) -> Any:
    """The rows of an HDF5 data set; large ones are packed into the cache and mapped from there."""
    if source.dtype.kind not in "biuf":
        raise InputError(f"{str(path)!r}: {key!r} holds {source.dtype}, not numbers.")
    if source.size * source.dtype.itemsize < cache.IN_MEMORY_LIMIT:
        return source[()]
    rows = max(1, (1 << 26) // (source.dtype.itemsize * int(np.prod(source.shape[1:]))))
    return cache.cached_array(
        pack_name(path, key),
        source.shape,
        source.dtype,
        lambda: (source[start : start + rows] for start in range(0, len(source), rows)),
        f"packing {path.name}",
    )


def pack_name(path: Path, *options: Any) -> str:
    """A name in the cache that belongs to this file as it is now."""
    stat = path.stat()
    identity = repr((str(path.resolve()), stat.st_size, stat.st_mtime_ns, options)).encode()
    return f"packed/{path.stem}-{hashlib.blake2b(identity, digest_size=8).hexdigest()}.npy"


def choose_array(path: Path, names: Sequence[str], wanted: str | None, usual: Sequence[str], *, alone: bool) -> str:
    """Choose an array of a file.

    Args:
        path: the file, for messages.
        names: of the arrays in it.
        wanted: the one that was asked for, if any.
        usual: names to look for otherwise, in this order.
        alone: whether an array must be found; an only one then needs no usual name.

    Returns:
        Its name; '' for none.

    Example:
        >>> choose_array(Path("a.npz"), ["Images", "notes"], None, ("images",), alone=True)
        'Images'
    """
    if wanted is not None:
        if wanted not in names:
            raise unknown(f"array in {str(path)!r}:", wanted, names)
        return wanted
    if alone and len(names) == 1:
        return names[0]
    lower = {name.lower(): name for name in names}
    for name in usual:
        if name in lower:
            return lower[name]
    if alone:
        held = ", ".join(repr(name) for name in names) or "nothing"
        raise InputError(f"{str(path)!r} holds {held}; say which array to use by array='name'.")
    return ""


def from_dataset(
    dataset: Any,
    *,
    image: str | None = None,
    factors: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    resize: int | Sequence[int] | None = None,
    crop: str = "centre",
    channels: int | None = None,
    name: str = "dataset",
) -> FactorData:
    """A data set from a Hugging Face `datasets.Dataset`.

    Args:
        dataset: with a column of images or of vectors.
        image: that column's name; found by its usual names if left out.
        factors: names of label columns.
        kinds: of factors by name, as in `from_arrays`.
        resize: as for a folder of images.
        crop: as for a folder of images.
        channels: as for a folder of images.
        name: of the data set.

    Returns:
        The data set, in memory.
    """
    columns = list(dataset.column_names)
    image = image or next((c for c in ("image", "img", "pixel_values", "x", "features") if c in columns), columns[0])
    for column in (image, *factors):
        if column not in columns:
            raise unknown("column", column, columns)
    size = wanted_size(resize)
    rows: list[Any] = []
    for value in dataset[image]:
        if hasattr(value, "convert"):  # a Pillow image
            picture = to_grey_or_rgb(value)
            picture = picture.convert({1: "L", 3: "RGB"}[channels]) if channels else picture
            picture = resize_picture(picture, size, crop) if size else picture
            value = np.asarray(picture, np.uint8).reshape(picture.height, picture.width, -1)
            if rows:
                check_same_shape(Path("row 0"), rows[0], Path(f"row {len(rows)}"), value)
        rows.append(value)
    labels = {column: list(dataset[column]) for column in factors}
    layout = "nhwc" if np.ndim(rows[0]) == 3 else None
    return from_arrays(np.stack([np.asarray(row) for row in rows]), labels, kinds=kinds, name=name, layout=layout)
