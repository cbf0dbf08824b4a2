"""Tensors on disk: safetensors only, so that nothing is unpickled."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from unbraid.errors import InputError
from unbraid.util.files import check_regular, complete_file


def write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write tensors as safetensors with a digest of their content; metadata are texts."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    content = save(plain, {**metadata, "sha256": content_digest(plain)})
    length = int.from_bytes(content[:8], "little")
    # The library writes metadata in any order; sorted, equal content makes equal files.
    header = json.loads(content[8 : 8 + length])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)  # values are to begin at a multiple of eight
    with complete_file(path) as place, place.open("wb") as file:
        file.writelines((len(text).to_bytes(8, "little"), text, memoryview(content)[8 + length :]))


def read_tensors(path: Path, device: torch.device | str = "cpu") -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and metadata of a safetensors file; a truncated, changed or foreign file is an InputError."""
    check_regular(path)
    try:
        with safe_open(path, framework="pt", device=str(device)) as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            metadata = dict(file.metadata() or {})
    except (OSError, SafetensorError, ValueError, RuntimeError) as error:
        raise InputError(f"{str(path)!r} is not a complete safetensors file ({error}).") from error
    if "sha256" in metadata and metadata["sha256"] != content_digest(tensors):
        raise InputError(f"{str(path)!r} is damaged: its content is not what was written.")
    return tensors, metadata


def content_digest(tensors: Mapping[str, Tensor]) -> str:
    """The SHA-256 of names, types, shapes and values."""
    state = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name].detach().cpu().contiguous()
        state.update(f"{name} {tensor.dtype} {list(tensor.shape)} ".encode())
        values = tensor.as_strided((tensor.numel(),), (1,))  # a single value counts as contiguous whatever its stride
        state.update(values.view(torch.uint8).numpy().data)
    return state.hexdigest()
