"""The cache folder: arrays are made once, stored whole or not at all, and opened memory-mapped."""

from __future__ import annotations

import contextlib
import mmap
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from unbraid.errors import InputError
from unbraid.util.files import part_file

IN_MEMORY_LIMIT = 1 << 29  # what is kept in memory when the folder cannot be written
WRITABLE = 0o222  # the permission to write, of anybody


def folder() -> Path:
    """The folder where data is kept: `UNBRAID_DATA`, else `unbraid` in the user's cache folder."""
    if named := os.environ.get("UNBRAID_DATA"):
        return Path(named).expanduser()
    return user_folder()


def user_folder() -> Path:
    """`unbraid` in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "unbraid"


def place(file: str) -> Path:
    """Where a file of the cache is, or will be.

    What is made from a data folder that many share and nobody may write goes to the user's own cache folder.

    Args:
        file: its name within the cache folder.

    Returns:
        Its path in the data folder, unless it is not there and cannot be made there.
    """
    path = folder() / file
    return path if path.exists() or not is_read_only(path) else user_folder() / file


def is_read_only(path: Path) -> bool:
    """Whether the folder that a file would be made in is marked read-only, which root's rights would not notice."""
    there = next(above for above in path.parents if above.exists())
    return there.is_dir() and not (os.access(there, os.W_OK) and there.stat().st_mode & WRITABLE)


def readable_size(count: float) -> str:
    """A number of bytes as people read it.

    Args:
        count: of bytes.

    Returns:
        The number with a unit.

    Example:
        >>> readable_size(1_234_567)
        '1.2 MB'
    """
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def write_error(path: Path, error: OSError) -> InputError:
    """The error for a folder that is full or read-only."""
    why = error.strerror or str(error)
    return InputError(
        f"cannot write to the data folder {str(path)!r} ({why}); "
        "make room there, or set UNBRAID_DATA to another folder."
    )


def open_array(path: Path) -> NDArray[Any] | None:
    """Open a stored array.

    Args:
        path: of an .npy file.

    Returns:
        The array, memory-mapped; None if there is none or it is damaged.
    """
    try:
        # Copy-on-write: the file stays as it is, and torch.from_numpy has no reason to warn.
        array: NDArray[Any] = np.load(path, mmap_mode="c", allow_pickle=False)
        return array.view(np.ndarray)  # indexing the memmap class itself is slower
    except (FileNotFoundError, NotADirectoryError, ValueError, EOFError):
        return None


def release(array: NDArray[Any]) -> None:
    """Give back the memory behind a mapped array; its pages come back from the file when they are next read.

    What is read through a map counts as resident until then. Observations are never written to, so nothing is lost.
    """
    base: Any = array
    while base is not None and not isinstance(base, mmap.mmap):
        base = getattr(base, "base", None)
    if base is not None and hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)


def cached_array(
    file: str,
    shape: tuple[int, ...],
    dtype: DTypeLike,
    blocks: Callable[[], Iterable[NDArray[Any]]],
    label: str,
) -> NDArray[Any]:
    """The array of that name in the cache; made the first time.

    Where the folder cannot be written, small arrays are made in memory with a warning; large ones are an `InputError`.

    Args:
        file: its name within the cache folder.
        shape: of the whole array.
        dtype: of its values.
        blocks: makes consecutive rows, which may be more than memory holds.
        label: what is being done, for the progress bar.

    Returns:
        The array, memory-mapped.
    """
    path = place(file)
    array = open_array(path)
    if array is not None and array.shape == shape and array.dtype == np.dtype(dtype):
        return array
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    try:
        write_blocks(path, shape, dtype, blocks(), label)
    except OSError as error:
        problem = write_error(path.parent, error)
        if size > IN_MEMORY_LIMIT:
            raise problem from error
        warnings.warn(f"{problem} {label} is kept in memory this time.", stacklevel=3)
        return np.concatenate(list(blocks()))
    array = open_array(path)
    if array is None:
        raise InputError(f"{str(path)!r} was written but cannot be read back; check the disk.")
    return array


def write_blocks(
    path: Path, shape: tuple[int, ...], dtype: DTypeLike, blocks: Iterable[NDArray[Any]], label: str
) -> None:
    """Write consecutive rows as one .npy file, all of it or none.

    Args:
        path: of the file.
        shape: of the whole array.
        dtype: of its values.
        blocks: consecutive rows; together they may be larger than memory.
        label: what is being done, for the progress bar.
    """
    dtype = np.dtype(dtype)
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    path.parent.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(path.parent).free < size:
        raise OSError(28, f"{readable_size(size)} are needed and not free")
    with part_file(path) as partial, partial.open("wb") as out, progress(label, shape[0]) as advance:
        header = {"descr": dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_2_0(out, header)
        rows = 0
        for block in blocks:
            # Plain writes, not a writable map: a full disk is then an error and not a crash.
            out.write(np.ascontiguousarray(block, dtype).data)
            rows += len(block)
            advance(len(block))
        if rows != shape[0]:
            raise InputError(f"{label}: {rows} rows arrived where {shape[0]} were announced.")


@contextlib.contextmanager
def progress(label: str, total: float | None, unit: str = "rows") -> Iterator[Callable[[float], None]]:
    """A progress bar on the terminal's error stream; one plain line where that is not a terminal."""
    if not sys.stderr.isatty():
        if total is None or total >= 5000:
            print(f"unbraid: {label} …", file=sys.stderr)
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    amount = DownloadColumn() if unit == "bytes" else TextColumn("{task.percentage:3.0f} %")
    columns = (TextColumn("{task.description}"), BarColumn(), amount, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda count: bar.advance(task, count)


def cores() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1
