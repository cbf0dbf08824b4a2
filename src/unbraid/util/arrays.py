"""Arrays on disk: sizes are checked before anything is unpacked, and nothing is unpickled. Nothing here needs torch."""

from __future__ import annotations

import errno
import math
import os
import shutil
import zipfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from unbraid.errors import InputError
from unbraid.util.files import check_regular, complete_file

# An archive that would grow more than this is not one of numbers that anybody measured (dSprites grows 116 times).
MOST_GROWTH, ALWAYS_FINE = 500, 1 << 26
HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def array_names(path: Path, remedy: str) -> list[str]:
    """The names of the arrays in an `.npz` file."""
    with _archive(path, remedy) as archive:
        return [name.removesuffix(".npy") for name in archive.namelist()]


def read_arrays(path: Path, remedy: str, *, only: Collection[str] | None = None) -> dict[str, NDArray[Any]]:
    """Named arrays of an `.npz` file, or an `InputError` that names the file and ends with `remedy`.

    What the file announces is compared with what it holds and with the memory that is free, before it is unpacked.
    """
    with _archive(path, remedy) as archive:
        members = [
            (member.filename.removesuffix(".npy"), member)
            for member in archive.infolist()
            if only is None or member.filename.removesuffix(".npy") in only
        ]
        _check_growth(path, sum(member.file_size for _, member in members))
        return {name: _read(archive, member, name) for name, member in members}


@contextmanager
def _archive(path: Path, remedy: str) -> Iterator[zipfile.ZipFile]:
    check_regular(path)
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except InputError:
        raise
    except (
        Exception
    ) as error:  # broken bytes make a decoder raise anything: zlib's, struct's, zipfile's, NumPy's errors
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{str(path)!r} is not a readable .npz file ({why}); {remedy}") from error


def check_archive(path: Path) -> None:
    """Compare what an `.npz` file announces with what it holds and with the free memory; nothing is unpacked."""
    with _archive(path, "save it again with numpy.savez.") as archive:
        _check_growth(path, sum(member.file_size for member in archive.infolist()))
        for member in archive.infolist():
            _check_member(archive, member, member.filename.removesuffix(".npy"))


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> NDArray[Any]:
    _check_member(archive, member, name)
    with archive.open(member) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _check_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> None:
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        if version not in HEADERS:
            raise ValueError(f"array {name!r} has the unknown format {version}")
        shape, _, dtype = HEADERS[version](file)
        check_header(shape, dtype, member.file_size, name)


def check_header(shape: tuple[int, ...], dtype: np.dtype[Any], size: int, name: str) -> None:
    """Refuse an array that says that it is larger than the file that holds it, or that holds Python objects."""
    if dtype.hasobject:
        raise ValueError(f"array {name!r} holds Python objects, which are never loaded")
    if math.prod(shape) * dtype.itemsize > size:
        raise ValueError(f"array {name!r} announces {list(shape)} of {dtype}, more than the file holds")


def _check_growth(path: Path, announced: int) -> None:
    size, free = path.stat().st_size, available_memory()
    if announced > ALWAYS_FINE and announced > MOST_GROWTH * size:
        raise InputError(
            f"{str(path)!r} has {size:,} bytes and announces {announced:,}: it is broken or made to fill the memory; "
            "save the arrays again with numpy.savez."
        )
    if announced > free:
        raise InputError(
            f"{str(path)!r} needs {announced:,} bytes unpacked and {free:,} are free: save its arrays as .npy, which "
            "stay on the disk."
        )


def available_memory() -> int:
    """Bytes that can be had without swapping; a great number where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, ValueError, IndexError, StopIteration):
        return 1 << 62


def open_array(path: Path) -> NDArray[Any]:
    """An `.npy` file, mapped into memory; a broken one is a ValueError or an OSError."""
    with path.open("rb") as file:
        version = np.lib.format.read_magic(file)
        shape, _, dtype = HEADERS[version](file) if version in HEADERS else ((), None, np.dtype(object))
        check_header(shape, dtype, path.stat().st_size - file.tell(), path.name)
    # Copy-on-write: the file stays as it is, and torch.from_numpy has no reason to warn.
    return np.load(path, mmap_mode="c", allow_pickle=False)  # type: ignore[no-any-return]


@contextmanager
def growing_array(path: Path, shape: tuple[int, ...], dtype: DTypeLike) -> Iterator[Callable[[NDArray[Any]], None]]:
    """Write an array's consecutive rows as they are made.

    Plain writes, not a writable map: a full disk is then an error with a name, and not the end of the process.
    """
    dtype = np.dtype(dtype)
    with complete_file(path) as place:
        if shutil.disk_usage(place).free < math.prod(shape) * dtype.itemsize:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with place.open("wb") as file:
            header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
            yield _appender(file, dtype)


def _appender(file: IO[bytes], dtype: np.dtype[Any]) -> Callable[[NDArray[Any]], None]:
    def append(rows: NDArray[Any]) -> None:
        file.write(np.ascontiguousarray(rows, dtype).data)

    return append
