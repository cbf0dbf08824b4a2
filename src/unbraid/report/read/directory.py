"""A run directory as the report sees it: files in, plain values out. No model is ever loaded."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.errors import InputError
from unbraid.metrics import Table, stage_prefix
from unbraid.report.read.channels import read_channels
from unbraid.report.read.columns import Columns, read_columns
from unbraid.report.read.content import Array, ClassPrior, Floats, Pictures, RunFiles, Stage, Transfer, as_mapping
from unbraid.report.read.scores import read_scores
from unbraid.report.read.titles import readable_title
from unbraid.util.names import read_names


def read_run(directory: Path) -> RunFiles:
    """Read what is there of a run directory; only config.json must exist."""
    directory = Path(directory)
    if not (directory / "config.json").is_file():
        raise InputError(f"'{directory}' is not a run directory: it has no config.json. Make one with `unbraid fit`.")
    config = as_mapping(_json(directory / "config.json"))
    entries = config.get("stages") or []
    stages = tuple(_stage(directory, i, as_mapping(entry)) for i, entry in enumerate(entries, start=1))
    codes = _arrays(directory / "codes.npz")
    metrics = as_mapping(_json(directory / "metrics.json"))
    return RunFiles(
        directory=directory,
        config=config,
        environment=as_mapping(_json(directory / "environment.json")),
        stages=stages,
        tables=_tables(codes, len(stages)),
        pictures=_pictures(_arrays(directory / "pictures.npz")),
        metrics=read_scores(metrics, can_read_labels=any(stage.labels.get("test") is True for stage in stages)),
        metric_settings=as_mapping(metrics.get("_")),
        names=read_names(directory),
        verdict=_verdict(_json(directory / "verdict.json")),
        columns=_columns(_json(directory / "preprocessing.json"), as_mapping(config.get("data")).get("shape")),
        channels=read_channels(_json(directory / "preprocessing.json")),
    )


def _verdict(entries: Any) -> tuple[tuple[str, str], ...]:
    """Level and text of every sentence."""
    found = map(as_mapping, entries if isinstance(entries, list) else ())
    return tuple((str(entry.get("level", "note")), str(entry["text"])) for entry in found if "text" in entry)


def _columns(preprocessing: Any, shape: Any) -> Columns | None:
    """The columns of a table, if they account for all values of its vectors."""
    known = read_columns(preprocessing)
    return known if known is not None and [known.width] == list(shape or ()) else None


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise InputError(
            f"'{path}' is not valid JSON ({error}); delete it and repeat the step that wrote it."
        ) from None


def _arrays(path: Path) -> dict[str, Array]:
    if not path.is_file():
        return {}
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"'{path}' cannot be read ({error}); delete it and repeat `unbraid evaluate`.") from None


def _stage(directory: Path, number: int, entry: Mapping[str, Any]) -> Stage:
    home = directory / f"stage-{number}"
    done = as_mapping(_json(home / "stage.json"))
    method = str(entry.get("method", done.get("method", "?")))
    return Stage(
        number=number,
        method=method,
        title=str(done.get("title") or entry.get("title") or readable_title(method)),
        options=as_mapping(entry.get("options", done.get("options"))),
        steps=entry.get("steps", done.get("steps")),
        parameters=done.get("parameters"),
        seconds=done.get("seconds"),
        reused_from=done.get("reused_from"),
        paper=as_mapping(entry.get("paper")),
        labels=as_mapping(entry.get("labels", done.get("labels"))),
        reconstructs=bool(done.get("reconstructs", True)),
        curves=_curves(home / "log.jsonl"),
    )


def _curves(path: Path) -> dict[str, tuple[Floats, Floats]]:
    """Term → (steps, values). A step logged twice (before and after a resume) counts once, as last written."""
    if not path.is_file():
        return {}
    lines: dict[int, Mapping[str, Any]] = {}
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = json.loads(text)
            lines[int(line["step"])] = line
        except (ValueError, KeyError, TypeError):
            continue  # a killed run can leave half a line at the end
    points: dict[str, list[tuple[int, float]]] = {}
    for step in sorted(lines):
        for term, value in lines[step].items():
            if "/" in term and isinstance(value, (int, float)):
                points.setdefault(term, []).append((step, float(value)))
    return {
        term: (np.array([s for s, _ in p], dtype=float), np.array([v for _, v in p], dtype=float))
        for term, p in points.items()
    }


def _tables(arrays: Mapping[str, Array], stages: int) -> dict[int, Table]:
    """The codes of every stage that has some, beside the factors."""
    codes = {number: arrays.get(f"{stage_prefix(number)}codes") for number in range(1, max(stages, 1) + 1)}
    there = [number for number, array in codes.items() if array is not None and array.ndim == 2]
    return {number: Table.from_arrays(arrays, number) for number in there}


def _pictures(arrays: Mapping[str, Array]) -> Pictures | None:
    if not arrays:
        return None
    reconstructions: dict[int, Array] = {}
    traversals: dict[tuple[int, int], Array] = {}
    values: dict[int, Array] = {}
    codes: dict[int, Array] = {}
    for key, array in arrays.items():
        match key.split("/"):
            case ["reconstruction", stage] if stage.isdigit():
                reconstructions[int(stage)] = array
            case ["traversal", stage, "values"] if stage.isdigit():
                values[int(stage)] = array
            case ["traversal", stage, "codes"] if stage.isdigit():
                codes[int(stage)] = array.astype(int)
            case ["traversal", moved, shown] if moved.isdigit() and shown.isdigit():
                traversals[int(moved), int(shown)] = array
    return Pictures(
        arrays.get("originals"),
        dict(sorted(reconstructions.items())),
        dict(sorted(traversals.items())),
        values,
        codes,
        _classes(arrays),
        _transfer(arrays),
        arrays.get("drawn"),
        bool(arrays.get("held_out", False)),
    )


def _classes(arrays: Mapping[str, Array]) -> tuple[ClassPrior, ...]:
    found: list[ClassPrior] = []
    while f"classes/{len(found) + 1}/values" in arrays:
        start = f"classes/{len(found) + 1}/"
        part = {key.removeprefix(start): array for key, array in arrays.items() if key.startswith(start)}
        found.append(
            ClassPrior(
                str(part["title"]),
                str(part["code"]),
                tuple(map(str, part["names"])),
                part["values"].astype(float),
                part["densities"].astype(float),
                part["marks"].astype(float),
                part["observations"],
            )
        )
    return tuple(found)


def _transfer(arrays: Mapping[str, Array]) -> Transfer | None:
    if "transfer/made" not in arrays:
        return None
    content, style, made = (arrays[f"transfer/{part}"] for part in ("content", "style", "made"))
    return Transfer(tuple(map(str, arrays["transfer/names"])), content, style, made)
