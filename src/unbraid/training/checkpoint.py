"""Saved state of an unfinished stage, and the weights of a finished one. Safetensors only: nothing is unpickled."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor, nn

from unbraid.core import Method
from unbraid.errors import InputError
from unbraid.util.tensors import read_tensors, write_tensors

WEIGHTS = "weights.safetensors"
KEPT = 2
_log = logging.getLogger("unbraid")


class HasOptimizer(Protocol):
    """An update's optimiser with the names of its parameters, in order."""

    names: list[str]
    parameters: list[nn.Parameter]
    optimizer: torch.optim.AdamW


class HasAverage(Protocol):
    """A running average of weights, by their names; empty where none is kept."""

    weights: dict[str, Tensor]


def save(
    folder: Path,
    key: str,
    method: Method,
    optimizers: Sequence[HasOptimizer],
    step: int,
    average: HasAverage | None = None,
) -> None:
    """Write weights, their average and optimisers after `step` steps; the two newest checkpoints are kept."""
    tensors = {f"method/{name}": tensor for name, tensor in method.state_dict().items()}
    tensors |= {f"average/{name}": tensor for name, tensor in (average.weights if average else {}).items()}
    for number, optimizer in enumerate(optimizers):
        for name, parameter in zip(optimizer.names, optimizer.parameters, strict=True):
            for part, value in optimizer.optimizer.state.get(parameter, {}).items():
                tensors[f"optimizer/{number}/{part}/{name}"] = value
    write_tensors(folder / f"checkpoint-{step:09d}.safetensors", tensors, {"key": key, "step": str(step)})
    for old in newest_first(folder)[KEPT:]:
        old.unlink(missing_ok=True)


def load(
    folder: Path, key: str, method: Method, optimizers: Sequence[HasOptimizer], average: HasAverage | None = None
) -> int:
    """Load the newest complete checkpoint of this job; returns the number of steps done, or 0."""
    for path in newest_first(folder):
        try:
            tensors, metadata = read_tensors(path)
        except InputError as error:
            _log.warning("%s The one before it is used.", error)
            continue
        if metadata.get("key") != key:
            continue
        if not fits(method, _part(tensors, "method/")) or not metadata.get("step", "").isdigit():
            _log.warning("%r is not a checkpoint of this method. The one before it is used.", str(path))
            continue
        method.load_state_dict(_part(tensors, "method/"))
        for number, optimizer in enumerate(optimizers):
            _load_optimizer(optimizer, _part(tensors, f"optimizer/{number}/"))
        for name, mean in (average.weights if average else {}).items():
            mean.copy_(tensors[f"average/{name}"])
        _log.info("going on from step %s (%s)", metadata["step"], path.name)
        return int(metadata["step"])
    return 0


def finish(folder: Path, key: str, method: Method) -> None:
    """Write the finished weights, all of them finite. Checkpoints stay until the stage's record is written."""
    weights = method.state_dict()
    for name, tensor in weights.items():
        if not torch.isfinite(tensor).all():
            raise InputError(
                f"{name} of {type(method).__name__} is not finite after training: lower the learning rate (--adam.lr) "
                "and choose another --out."
            )
    write_tensors(folder / WEIGHTS, weights, {"key": key})


def discard(folder: Path) -> None:
    """Remove the checkpoints of a stage that is finished and recorded."""
    for path in newest_first(folder):
        path.unlink(missing_ok=True)


def fits(method: Method, tensors: dict[str, Tensor]) -> bool:
    """Whether these are weights for this very network: its names and shapes."""
    wanted = method.state_dict()
    return wanted.keys() == tensors.keys() and all(tensors[name].shape == wanted[name].shape for name in wanted)


def keep(folder: Path, key: str, method: Method, step: int) -> None:
    """Write a copy of the weights after `step` steps that stays when the stage is finished."""
    write_tensors(folder / f"weights-{step:09d}.safetensors", method.state_dict(), {"key": key, "step": str(step)})


def kept(folder: Path) -> dict[int, Path]:
    """The copies that were kept, by step."""
    return {int(path.stem.removeprefix("weights-")): path for path in sorted(folder.glob("weights-*.safetensors"))}


def newest_first(folder: Path) -> list[Path]:
    """The checkpoints of a folder, the newest first."""
    return sorted(folder.glob("checkpoint-*.safetensors"), reverse=True)


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _load_optimizer(optimizer: HasOptimizer, state: dict[str, Tensor]) -> None:
    for name, parameter in zip(optimizer.names, optimizer.parameters, strict=True):
        # Fused Adam walks through memory, so moments must be laid out as the weights are (channels-last, say);
        # files hold them in plain order.
        loaded = {
            part: _like(parameter, state[f"{part}/{name}"])
            for part in ("exp_avg", "exp_avg_sq", "step")
            if f"{part}/{name}" in state
        }
        if loaded:
            optimizer.optimizer.state[parameter] = loaded


def _like(parameter: nn.Parameter, value: Tensor) -> Tensor:
    if value.ndim == 0:
        return value.to(parameter.device)
    return torch.empty_like(parameter, dtype=value.dtype, requires_grad=False).copy_(value)
