"""Tensors on disk: safetensors only, so that nothing is unpickled."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from unbraid.errors import InputError
from unbraid.util.files import complete_file


def write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write tensors as safetensors; metadata are texts."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with complete_file(path) as place:
        try:
            save_file(plain, place, dict(metadata))
        except SafetensorError as error:  # how a full disk looks from there
            raise OSError(str(error)) from error


def read_tensors(path: Path, device: torch.device | str = "cpu") -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and metadata of a safetensors file; a truncated or foreign file is an InputError."""
    try:
        with safe_open(path, framework="pt", device=str(device)) as file:
            return {name: file.get_tensor(name) for name in file.keys()}, dict(file.metadata() or {})  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise InputError(f"{str(path)!r} is not a complete safetensors file ({error}).") from error
