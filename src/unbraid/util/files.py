"""Files that are either complete or absent. Nothing here needs torch."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.errors import InputError
from unbraid.util.processes import HOST, is_dead

SECONDS_IN_A_DAY = 24 * 3600


def check_folder(folder: Path) -> None:
    """Refuse a file where a folder is needed."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--out {str(folder)!r} is a file: name a folder.")


@contextmanager
def part_file(path: Path) -> Iterator[Path]:
    """A place to write what becomes `path` only when all of it is on the disk; a failure leaves nothing behind."""
    path.parent.mkdir(parents=True, exist_ok=True)
    clean_partial(path.parent, path.name)
    owner = f".{path.name}.{HOST}-{os.getpid()}."
    handle, name = tempfile.mkstemp(prefix=owner, suffix=".partial", dir=path.parent)
    os.close(handle)
    place = Path(name)
    try:
        yield place
        with place.open("rb+") as file:
            os.fsync(file.fileno())
        place.chmod(0o666 & ~_umask())  # temporary files are for their owner alone
        place.replace(path)
    finally:
        place.unlink(missing_ok=True)


def clean_partial(folder: Path, name: str = "*") -> None:
    """Remove what processes that were killed have left of unfinished files; a living neighbour keeps its own."""
    for old in folder.glob(f".{name}.*.partial"):
        owner = old.name.removesuffix(".partial").rsplit(".", 2)[-2]
        host, _, process = owner.rpartition("-")
        with suppress(OSError):
            dead = host == HOST and process.isdigit() and is_dead(int(process))
            if dead or time.time() - old.stat().st_mtime > SECONDS_IN_A_DAY:
                old.unlink()


@contextmanager
def complete_file(path: Path) -> Iterator[Path]:
    """`part_file` for a file of a run: a full disk or a missing permission becomes one sentence."""
    try:
        with part_file(path) as place:
            yield place
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: Path, error: OSError) -> InputError:
    """The sentence for a disk that is full or a place that may not be written to."""
    return InputError(
        f"cannot write {str(path)!r}: {error.strerror or error}. Free some space or permission there, or choose "
        "another place with --out, then repeat the command: finished work is kept."
    )


def write_bytes(path: Path, content: bytes) -> Path:
    """Write bytes, all of them or none, and return the path."""
    with complete_file(path) as place:
        place.write_bytes(content)
    return path


def write_text(path: Path, text: str) -> None:
    """Write text, all of it or none."""
    with complete_file(path) as place:
        place.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write JSON that people can read; NumPy numbers and arrays become plain ones.

    Example:
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_json(Path(folder) / "a.json", {"x": np.arange(2)})
        ...     read_json(Path(folder) / "a.json")
        {'x': [0, 1]}
    """
    write_text(path, json.dumps(value, indent=1, ensure_ascii=False, default=_plain) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file, or say which file is broken."""
    check_regular(path)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"{str(path)!r} cannot be read as JSON ({error}); delete it and repeat the step that wrote it."
        ) from error


def check_regular(path: Path) -> None:
    """Refuse what is not a plain file: reading a pipe would wait forever, a device would never end."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error
    if not stat.S_ISREG(mode):
        raise InputError(f"{str(path)!r} is not a plain file: put one in its place.")


def file_digest(path: Path) -> str:
    """The SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write named arrays as `.npz`."""
    with complete_file(path) as place, place.open("wb") as file:
        np.savez(file, **arrays)


def copy(source: Path, target: Path) -> None:
    """A file of its own with the same content."""
    with complete_file(target) as place:
        shutil.copyfile(source, place)


def link(source: Path, target: Path) -> None:
    """The same file at another place, without a copy where the disk allows it: for files that are never rewritten."""
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:
        copy(source, target)


def _umask() -> int:
    """The permissions that this process withholds; the system tells only by setting them."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
