"""Files that are either complete or not there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from unbraid.errors import InputError


@contextmanager
def complete_file(path: Path) -> Iterator[Path]:
    """A place to write what becomes `path` only when all of it is on the disk; a failure leaves nothing behind."""
    place = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield place
        with place.open("rb+") as file:
            os.fsync(file.fileno())
        place.replace(path)
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"cannot write {str(path)!r}: {reason}. Free some space or permission there, or choose another place "
            "with --out, then repeat the command: finished work is kept."
        ) from error
    finally:
        place.unlink(missing_ok=True) if place.parent.is_dir() else None


def write_text(path: Path, text: str) -> None:
    """Write text, all of it or none."""
    with complete_file(path) as place:
        place.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write JSON that people can read; NumPy numbers and arrays become plain ones."""
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


def write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write tensors as safetensors; metadata are texts."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with complete_file(path) as place:
        save_file(plain, place, dict(metadata))


def read_tensors(path: Path, device: torch.device | str = "cpu") -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and metadata of a safetensors file; a truncated or foreign file is an InputError."""
    try:
        with safe_open(path, framework="pt", device=str(device)) as file:
            return {name: file.get_tensor(name) for name in file.keys()}, dict(file.metadata() or {})  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise InputError(f"{str(path)!r} is not a complete safetensors file ({error}).") from error


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
