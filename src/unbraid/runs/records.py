"""What must stand in config.json, stage.json and environment.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unbraid.data.factor_data import Factor
from unbraid.data.held_out import HeldOutPlan
from unbraid.data.label_budget import LabelPlan
from unbraid.data.spec import DataSpec
from unbraid.errors import InputError
from unbraid.util.records import read_record


@dataclass(frozen=True)
class DataRecord:
    """The data set of a run."""

    name: str
    arguments: Mapping[str, Any] | None
    fingerprint: str
    n: int
    shape: tuple[int, ...]
    factors: tuple[Factor, ...]


@dataclass(frozen=True)
class PlannedStage:
    """One stage of config.json."""

    method: str
    options: Mapping[str, Any]
    steps: int


@dataclass(frozen=True)
class ConfigRecord:
    """config.json."""

    format: int
    data: DataRecord
    stages: tuple[PlannedStage, ...]
    seed: int
    labels: LabelPlan | None = None
    held_out: HeldOutPlan | None = None
    command: str | None = None
    budget: Mapping[str, Any] | None = None  # of runs that were asked for by their minutes


@dataclass(frozen=True)
class FileRecord:
    """A file of a stage: its SHA-256 and, for y, the weights that it was made with."""

    sha256: str
    made_from: str | None = None


@dataclass(frozen=True)
class StageRecord:
    """stage.json of a finished stage."""

    key: str
    method: str
    options: Mapping[str, Any]
    steps: int
    seconds: float
    parameters: int
    spec: DataSpec | None = None  # runs made before it was recorded have none
    labels: Mapping[str, Any] | None = None
    reused_from: str | None = None
    reconstructs: bool = True
    files: Mapping[str, Any] | None = None  # name → FileRecord; None: made before digests were recorded


@dataclass(frozen=True)
class EnvironmentRecord:
    """environment.json: a note that nothing is computed from."""

    machine: Mapping[str, Any] | None = None


def read_config(folder: Path) -> dict[str, Any]:
    """config.json, checked."""
    config = read_record(folder / "config.json", ConfigRecord, "delete it and repeat the command that made the run.")
    if not config["stages"] or not config["data"]["shape"] or min(config["data"]["shape"]) < 1:
        raise InputError(f"{str(folder / 'config.json')!r} is damaged (it names no stage or no shape); delete it.")
    return config


def read_stage(folder: Path) -> dict[str, Any]:
    """stage.json of a stage's folder, checked; empty where it is not there."""
    path, remedy = folder / "stage.json", f"delete {str(folder)!r} and repeat the command to train the stage again."
    if not path.exists():
        return {}
    record = read_record(path, StageRecord, remedy)
    for file in (record.get("files") or {}).values():
        if not isinstance(file, Mapping) or not isinstance(file.get("sha256"), str):
            raise InputError(f"{str(path)!r} is damaged (files must have their sha256); {remedy}")
    return record


def check_environment(folder: Path) -> None:
    """environment.json, where it is there, must be readable."""
    if (folder / "environment.json").exists():
        read_record(folder / "environment.json", EnvironmentRecord)
