"""The file formats in which the field's data sets are published, read in blocks of rows."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from unbraid.data import cache
from unbraid.data.optional import need
from unbraid.errors import InputError

ROWS = 1024
Bytes = NDArray[np.uint8]
# The first number of a NORB matrix says what it holds.
NORB_TYPES: dict[int, np.dtype[Any]] = {0x1E3D4C55: np.dtype(np.uint8), 0x1E3D4C54: np.dtype("<i4")}


@contextmanager
def one_sentence_errors(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong while reading an archive into one sentence about the file."""
    try:
        yield
    except PermissionError as error:
        raise InputError(f"no permission to read {str(path)!r}; change its permissions.") from error
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        gzip.BadGzipFile,
        EOFError,
        zlib.error,
        struct.error,
        KeyError,
    ) as error:
        raise InputError(f"{str(path)!r} is damaged or incomplete; remove it and fetch it again.") from error
    except (ValueError, OSError) as error:
        # Pillow, h5py and NumPy report damage this way; a full disk (with errno) is another matter.
        if isinstance(error, InputError) or getattr(error, "errno", None) is not None:
            raise
        raise InputError(f"{str(path)!r} is damaged or incomplete; remove it and fetch it again.") from error


def read_idx(path: Path) -> Bytes:
    """An array in MNIST's format: two zeros, a type, the number of axes, their lengths, the values."""
    with one_sentence_errors(path), gzip.open(path) as stream:
        zeros, kind, axes = struct.unpack(">HBB", stream.read(4))
        if zeros != 0 or kind != 8:
            raise InputError(f"{str(path)!r} is not an idx file of bytes.")
        shape = struct.unpack(f">{axes}I", stream.read(4 * axes))
        return np.frombuffer(stream.read(), np.uint8).reshape(shape)


@contextmanager
def open_norb(path: Path) -> Iterator[tuple[IO[bytes], tuple[int, ...], np.dtype[Any]]]:
    """A NORB matrix (gzipped or not): its stream, placed at the values, its shape and type."""
    with one_sentence_errors(path), gzip.open(path) if path.suffix == ".gz" else path.open("rb") as opened:
        stream = cast(IO[bytes], opened)
        magic, axes = struct.unpack("<II", stream.read(8))
        if magic not in NORB_TYPES:
            raise InputError(f"{str(path)!r} is not a NORB matrix of bytes or integers.")
        lengths = struct.unpack(f"<{max(axes, 3)}I", stream.read(4 * max(axes, 3)))  # at least three are written
        yield stream, lengths[:axes], NORB_TYPES[magic]


def read_norb(path: Path) -> NDArray[Any]:
    """A whole NORB matrix."""
    with open_norb(path) as (stream, shape, dtype):
        return np.frombuffer(stream.read(), dtype).reshape(shape)


def norb_blocks(path: Path) -> Iterator[Bytes]:
    """The images of a NORB matrix in blocks, [rows, camera, height, width]."""
    with open_norb(path) as (stream, shape, dtype):
        yield from stream_rows(stream, shape, dtype)


def stream_rows(stream: IO[bytes], shape: tuple[int, ...], dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    """Rows of a C-ordered array from a stream."""
    row = int(np.prod(shape[1:])) * dtype.itemsize
    for start in range(0, shape[0], ROWS):
        rows = min(ROWS, shape[0] - start)
        data = stream.read(rows * row)
        if len(data) < rows * row:
            raise EOFError
        yield np.frombuffer(data, dtype).reshape(rows, *shape[1:])


def npz_header(path: Path, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of an array in an .npz archive, without reading it."""
    with one_sentence_errors(path), zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as stream:
        return _npy_header(stream, path)


def npz_blocks(path: Path, name: str) -> Iterator[NDArray[Any]]:
    """Rows of one array of an .npz archive that may be larger than memory; nothing is unpickled."""
    with one_sentence_errors(path), zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as stream:
        shape, dtype = _npy_header(stream, path)
        yield from stream_rows(stream, shape, dtype)


def _npy_header(stream: IO[bytes], path: Path) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = read(stream)
    if fortran or dtype.hasobject:
        raise InputError(f"{str(path)!r} holds an array of an unexpected kind.")
    return shape, dtype


def hdf5_blocks(path: Path, name: str) -> Iterator[NDArray[Any]]:
    """Rows of one data set of an HDF5 file."""
    h5py = need("h5py", path)
    with one_sentence_errors(path), h5py.File(path, "r") as file:
        source = file[name]
        for start in range(0, len(source), ROWS):
            yield source[start : start + ROWS]


def archive_members(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """(name, content) of the wanted files in a folder, a zip or a tar, in the order in which they are stored."""
    with one_sentence_errors(path):
        if path.is_dir():
            for file in sorted(path.rglob("*")):
                name = file.relative_to(path).as_posix()
                if file.is_file() and wanted(name):
                    yield name, file.read_bytes()
        elif path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                for name in sorted(archive.namelist()):
                    if wanted(name):
                        yield name, archive.read(name)
        else:
            with tarfile.open(path, "r|*") as tar:
                for member in tar:
                    source = tar.extractfile(member) if member.isfile() and wanted(member.name) else None
                    if source is not None:
                        yield member.name, source.read()


def picture_blocks(
    path: Path, wanted: Callable[[str], bool], small: Callable[[Image.Image], Image.Image]
) -> Iterator[Bytes]:
    """The wanted pictures of an archive, decoded and made small by threads, in blocks."""

    def decoded(member: tuple[str, bytes]) -> Bytes:
        with one_sentence_errors(path), Image.open(io.BytesIO(member[1])) as opened:
            return np.asarray(small(opened.convert("RGB")), np.uint8)

    members = archive_members(path, wanted)
    with ThreadPoolExecutor(min(cache.cores(), 8)) as pool:
        while batch := list(islice(members, 256)):
            yield np.stack(list(pool.map(decoded, batch)))


def resize_images(images: Bytes, size: int) -> Bytes:
    """Bring images to a square by Pillow's antialiased bilinear filter.

    Args:
        images: [n, h, w, c].
        size: the side.

    Returns:
        Images [n, size, size, c].

    Example:
        >>> resize_images(np.zeros((1, 8, 8, 3), np.uint8), 4).shape
        (1, 4, 4, 3)
    """
    if images.shape[1:3] == (size, size):
        return images
    out = np.empty((len(images), size, size, images.shape[3]), np.uint8)
    for row, image in enumerate(images):
        picture = Image.fromarray(image[..., 0] if image.shape[2] == 1 else image)
        out[row] = np.asarray(picture.resize((size, size), Image.Resampling.BILINEAR)).reshape(size, size, -1)
    return out
