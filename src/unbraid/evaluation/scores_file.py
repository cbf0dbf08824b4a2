"""metrics.json: scores by name, and under «_» what they were made from."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unbraid.errors import InputError
from unbraid.runs.directory import RunDirectory
from unbraid.util.files import read_json, write_json
from unbraid.util.records import check_record

FILE = "metrics.json"
REMEDY = "delete it and repeat `unbraid evaluate`."
_log = logging.getLogger("unbraid")


@dataclass(frozen=True)
class ScoreRecord:
    """One score."""

    value: float | None = None
    interval: tuple[float | None, float | None] | None = None
    details: Mapping[str, Any] | None = None
    about: Mapping[str, Any] | None = None
    of: str | None = None  # which part of the data, where something was held out
    # Files written before scores were calibrated have none of these.
    chance: Mapping[str, Any] | None = None
    ceiling: float | None = None
    relative: float | None = None
    beyond_chance: bool | None = None


@dataclass(frozen=True)
class SettingsRecord:
    """What stands under «_»."""

    seed: int | None = None
    rows: int | None = None
    seconds: float = 0.0
    key: str | None = None  # of the weights; files written before there were keys have none
    labels_at_test: bool = False


def read_scores(path: Path) -> dict[str, Any]:
    """The scores of a file, checked; empty where it is not there."""
    if not path.exists():
        return {}
    results = read_json(path)
    if not isinstance(results, Mapping):
        raise InputError(f"{str(path)!r} is damaged (it holds no JSON object); {REMEDY}")
    for name, entry in results.items():
        check_record(entry, SettingsRecord if name == "_" else ScoreRecord, path, REMEDY)
    return dict(results)


def kept_scores(run: RunDirectory) -> dict[str, Any]:
    """The scores of a run that were made from the weights which are there now; those of others are dropped."""
    path = run.folder / FILE
    results = read_scores(path)
    if not results or run.is_current(results.get("_", {}).get("key")):
        return results
    _log.info("%s was made from other weights: scores are computed again", path)
    return {}


def write_scores(run: RunDirectory, results: Mapping[str, Any], seconds: float, rows: int) -> dict[str, Any]:
    """Write scores with what they were made from, and return what was written."""
    settings = {"seed": run.plan.seed, "rows": rows, "seconds": seconds, "key": run.key}
    settings |= {"labels_at_test": True} if run.chain.needs_labels else {}
    written = {**results, "_": settings}
    write_json(run.folder / FILE, written)
    return written
