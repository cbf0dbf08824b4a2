"""Metrics of a run: one encoding of the data, then every metric that was asked for."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unbraid import metrics
from unbraid.batches import as_stored
from unbraid.codes import choose_rows
from unbraid.errors import InputError, unknown
from unbraid.files import read_json, write_json

if TYPE_CHECKING:
    from unbraid.run import Run

RECONSTRUCTED_ROWS = 10_000
QUALITY = ("l1", "l2")


def evaluate(run: Run, names: Sequence[str], *, show: bool = True) -> dict[str, Any]:
    """Compute the metrics that metrics.json does not hold yet, and return all that it then holds."""
    names = [*chosen_names(names), *(QUALITY if list(names) == ["all"] else ())]
    path = run.folder / "metrics.json"
    results: dict[str, Any] = read_json(path) if path.is_file() else {}
    missing = [name for name in names if name not in results]
    began = time.monotonic()
    results |= table_scores(run, [name for name in missing if name not in QUALITY], show)
    if any(name in QUALITY for name in missing):
        results |= quality_scores(run, [name for name in missing if name in QUALITY], show)
    seconds = results.get("_", {}).get("seconds", 0.0) + time.monotonic() - began
    results["_"] = {"seed": run.plan.seed, "rows": len(run.encode(show=show).rows), "seconds": seconds}
    write_json(path, results)
    return results


def evaluate_table(path: Path, names: Sequence[str], *, seed: int = 0, show: bool = True) -> dict[str, Any]:
    """Metrics of a table of codes and factors that any model has written."""
    table = metrics.load_table(path)
    return {name: metrics.METRICS[name].function(table, seed=seed).to_json() for name in chosen_names(names)}


def chosen_names(names: Sequence[str]) -> list[str]:
    """Metrics by name; `all` are those that need nothing but codes and factors."""
    if list(names) == ["all"]:
        return [name for name, metric in metrics.METRICS.items() if metric.needs == "codes, factors"]
    for name in names:
        if name not in metrics.METRICS:
            raise unknown("metric", name, metrics.METRICS)
    return list(names)


def table_scores(run: Run, names: Sequence[str], show: bool) -> dict[str, Any]:
    """Metrics of codes and factors; data without factors have none, which is said rather than guessed."""
    if not names:
        return {}
    table = run.encode(show=show)
    if not table.factor_names:
        raise InputError(f"{run.data.name} has no factors, which {', '.join(names)} need: ask for l1 and l2 only.")
    kinds = tuple(factor.kind for factor in run.data.factor_info)
    return {
        name: metrics.METRICS[name].function(table.codes, table.factors, kinds=kinds, seed=run.plan.seed).to_json()
        for name in names
    }


def quality_scores(run: Run, names: Sequence[str], show: bool) -> dict[str, Any]:
    """Reconstruction errors of the final output, and of every stage before it as «stage-1/l2» and so on."""
    rows = choose_rows(len(run.data), RECONSTRUCTED_ROWS, run.plan.seed)
    outputs: list[list[Any]] = []
    for x, labels in run.batches(rows, "reconstructing", show=show):
        outputs.append([as_stored(output) for output in run.chain.reconstruct(x, labels)])
    originals = run.data.observations[rows]
    scores = {}
    stages = [np.concatenate(parts) for parts in zip(*outputs, strict=True)]
    for name in names:
        for number, stage in enumerate(stages, 1):
            key = name if number == len(stages) else f"stage-{number}/{name}"
            scores[key] = metrics.METRICS[name].function(originals, stage, seed=run.plan.seed).to_json()
    return scores
