"""Files that are either complete or absent. Nothing here needs torch."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.errors import InputError

SECONDS_IN_A_DAY = 24 * 3600


def check_folder(folder: Path) -> None:
    """Refuse a file where a folder is needed."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--out {str(folder)!r} is a file: name a folder.")


@contextmanager
def part_file(path: Path) -> Iterator[Path]:
    """A place to write what becomes `path` only when all of it is on the disk; a failure leaves nothing behind."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for old in path.parent.glob(f".{path.name}.*.partial"):  # of a process that was killed, not of a neighbour
        with suppress(OSError):
            if time.time() - old.stat().st_mtime > SECONDS_IN_A_DAY:
                old.unlink()
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
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


@contextmanager
def complete_file(path: Path) -> Iterator[Path]:
    """`part_file` for a file of a run: a full disk or a missing permission becomes one sentence."""
    try:
        with part_file(path) as place:
            yield place
    except OSError as error:
        raise InputError(
            f"cannot write {str(path)!r}: {error.strerror or error}. Free some space or permission there, or choose "
            "another place with --out, then repeat the command: finished work is kept."
        ) from error


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
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} cannot be read as JSON ({error}); delete it and start again.") from error


def write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write named arrays as `.npz`."""
    with complete_file(path) as place, place.open("wb") as file:
        np.savez(file, **arrays)


def link(source: Path, target: Path) -> None:
    """The same file at another place, without a copy where the disk allows it."""
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:
        with complete_file(target) as place:
            shutil.copyfile(source, place)


def _umask() -> int:
    """The permissions that this process withholds; the system tells only by setting them."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
