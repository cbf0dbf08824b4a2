"""A run directory as the report sees it: files in, plain values out. No model is ever loaded."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.errors import InputError
from unbraid.label_use import label_use
from unbraid.report.content import (
    WITH,
    Array,
    ClassPrior,
    Factors,
    Floats,
    Latents,
    Metric,
    Pictures,
    RunFiles,
    Stage,
    Transfer,
    as_mapping,
)


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
        latents=_latents(codes, len(stages)),
        factors=_factors(codes),
        pictures=_pictures(_arrays(directory / "pictures.npz")),
        metrics=_metrics(metrics, reads_labels=any(stage.labels.get("test") is True for stage in stages)),
        metric_settings=as_mapping(metrics.get("_")),
    )


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
    return Stage(
        number=number,
        method=str(entry.get("method", done.get("method", "?"))),
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
    for text in path.read_text(encoding="utf-8").splitlines():
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


def _latents(arrays: Mapping[str, Array], stages: int) -> dict[int, Latents]:
    found = {}
    for number in range(1, max(stages, 1) + 1):
        prefix = "" if number == 1 else f"stage-{number}/"
        codes = arrays.get(f"{prefix}codes")
        if codes is None or codes.ndim != 2:
            continue
        names = arrays.get(f"{prefix}columns", np.array([f"z{j + 1}" for j in range(codes.shape[1])]))
        found[number] = Latents(tuple(map(str, names)), _information(arrays, prefix, codes), codes)
    return found


def _information(arrays: Mapping[str, Array], prefix: str, codes: Array) -> Floats | None:
    """Mean KL of each latent from the standard normal: as stored, or from means and log-variances.

    None for a stage that has no encoder: its codes are drawn from their prior, which is zero away from itself.
    """
    if f"{prefix}information" in arrays:
        stored = arrays[f"{prefix}information"].astype(float)
        return stored if stored.any() else None
    if f"{prefix}log_var" not in arrays:
        return None
    log_var = arrays[f"{prefix}log_var"].astype(float)
    kl: Floats = 0.5 * (codes.astype(float) ** 2 + np.exp(log_var) - 1 - log_var).mean(axis=0)
    return kl


def _factors(arrays: Mapping[str, Array]) -> Factors | None:
    table = arrays.get("factors")
    if table is None or table.ndim != 2 or table.shape[1] == 0 or np.isnan(table.astype(float)).all():
        return None
    names = arrays.get("factor_names", np.array([f"factor {k + 1}" for k in range(table.shape[1])]))
    kinds = arrays.get("factor_kinds", np.array(["ordinal"] * table.shape[1]))
    return Factors(tuple(map(str, names)), tuple(map(str, kinds)), table.astype(float))


def _pictures(arrays: Mapping[str, Array]) -> Pictures | None:
    if not arrays:
        return None
    reconstructions: dict[int, Array] = {}
    traversals: dict[tuple[int, int], Array] = {}
    values: dict[int, Array] = {}
    for key, array in arrays.items():
        match key.split("/"):
            case ["reconstruction", stage] if stage.isdigit():
                reconstructions[int(stage)] = array
            case ["traversal", stage, "values"] if stage.isdigit():
                values[int(stage)] = array
            case ["traversal", moved, shown] if moved.isdigit() and shown.isdigit():
                traversals[int(moved), int(shown)] = array
    return Pictures(
        arrays.get("originals"),
        dict(sorted(reconstructions.items())),
        dict(sorted(traversals.items())),
        values,
        _classes(arrays),
        _transfer(arrays),
        arrays.get("drawn"),
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


def _metrics(entries: Mapping[str, Any], *, reads_labels: bool) -> tuple[Metric, ...]:
    """The metrics; on a page a name by itself means that no label was read at test time, or it says «with-labels/…»."""
    found = []
    for name, entry in entries.items():
        if name == "_":
            continue
        if reads_labels:
            metric, with_labels = label_use(name)
            name = f"{WITH}{metric}" if with_labels else metric
        found.append(_metric(name, as_mapping(entry)))
    return tuple(found)


def _metric(name: str, entry: Mapping[str, Any]) -> Metric:
    value = entry.get("value")
    interval = entry.get("interval")
    return Metric(
        name,
        math.nan if value is None else float(value),
        None if interval is None or None in interval else (float(interval[0]), float(interval[1])),
        as_mapping(entry.get("details")),
    )
