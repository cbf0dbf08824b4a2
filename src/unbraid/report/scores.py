"""Metrics and the map of latents and factors, ready for the page."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from unbraid.report import charts, words
from unbraid.report.order import by_information
from unbraid.report.read import Metric, RunFiles
from unbraid.report.svg import nice_step


@dataclass(frozen=True)
class ScoreRow:
    """One metric: names, value, interval and its graphic; `top` is where its axis ends."""

    key: str
    short: str
    long: str
    better: str
    value: str
    interval: str
    graphic: Markup
    top: str
    details: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class HeatCell:
    """Mutual information of one latent and one factor: nats, and as a share of the factor's largest possible."""

    nats: float
    share: float
    best: bool


@dataclass(frozen=True)
class HeatMap:
    """Latents (most informative first) by factors."""

    factors: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]
    normalised: bool


def axis_top(name: str, values: Sequence[float]) -> float:
    """Where a metric's axis ends: its own bound, or a round number above everything shown."""
    known = words.metric(name).top
    finite = [v for v in values if math.isfinite(v)]
    largest = max(finite, default=1.0)
    if known is not None and largest <= known:
        return known
    if largest <= 0:
        return 1.0
    step = nice_step(largest / 4)
    return math.ceil(largest / step + 1e-9) * step


def better(name: str) -> str:
    """Which way is better, as an arrow."""
    return {True: "↑", False: "↓", None: ""}[words.metric(name).higher_is_better]


def interval_text(interval: tuple[float, float] | None) -> str:
    """The interval as shown."""
    return "" if interval is None else f"{words.number(interval[0])} – {words.number(interval[1])}"


def score_rows(run: RunFiles) -> tuple[ScoreRow, ...]:
    """The metrics in the order in which they were written."""
    return tuple(_row(metric) for metric in run.metrics)


def _row(metric: Metric) -> ScoreRow:
    names = words.metric(metric.name)
    top = axis_top(metric.name, [metric.value, *(metric.interval or ())])
    return ScoreRow(
        metric.name,
        names.short,
        names.long,
        better(metric.name),
        words.number(metric.value),
        interval_text(metric.interval),
        charts.whisker(metric.value, metric.interval, top, names.short),
        words.tick(top),
        details(metric.details),
    )


def details(given: Mapping[str, Any], prefix: str = "") -> tuple[tuple[str, str], ...]:
    """Details as rows of text; nested ones by their path, long lists cut short."""
    rows: list[tuple[str, str]] = []
    for key, value in given.items():
        name = f"{prefix}{str(key).replace('_', ' ')}"
        if isinstance(value, Mapping):
            rows.extend(details(value, f"{name} · "))
        elif isinstance(value, (list, tuple)) and value and isinstance(value[0], (list, tuple)):
            rows.append((name, "; ".join(f"[{_listed(row)}]" for row in value[:12]) + (" …" if len(value) > 12 else "")))
        elif isinstance(value, (list, tuple)):
            rows.append((name, _listed(value)))
        else:
            rows.append((name, _one(value)))
    return tuple(rows)


def _listed(values: Sequence[Any], most: int = 24) -> str:
    return ", ".join(_one(v) for v in values[:most]) + (" …" if len(values) > most else "")


def _one(value: Any) -> str:
    return words.number(value, 4) if isinstance(value, float) else words.plain(value)


def heat_map(run: RunFiles) -> HeatMap | None:
    """Mutual information between every latent of stage 1 and every factor."""
    latents, factors = run.latents.get(1), run.factors
    if latents is None or factors is None:
        return None
    found = _information(run)
    if found is None:
        return None
    nats, entropy = found
    if nats.shape != (len(latents.names), len(factors.names)):
        return None
    # Without the factors' entropies the colours are relative to the largest cell.
    share = nats / entropy if entropy is not None else nats / max(float(np.nanmax(nats)), 1e-12)
    share = np.clip(np.nan_to_num(share), 0, 1)
    best = np.argmax(share, axis=0)
    rows = []
    for j in by_information(latents.information, len(latents.names)):
        cells = tuple(
            HeatCell(float(nats[j, k]), float(share[j, k]), bool(best[k] == j)) for k in range(len(factors.names))
        )
        rows.append((latents.names[j], cells))
    return HeatMap(factors.names, tuple(rows), entropy is not None)


def _information(run: RunFiles) -> tuple[NDArray[Any], NDArray[Any] | None] | None:
    """The matrix [latent, factor] in nats: as a metric left it in its details, or from the codes."""
    for metric in run.metrics:
        stored = metric.details.get("mutual_information")
        if stored is not None:
            entropy = metric.details.get("entropy", metric.details.get("entropies"))
            entropy = np.asarray(list(entropy.values()) if isinstance(entropy, Mapping) else entropy, dtype=float)
            matrix = np.asarray(stored, dtype=float)
            return matrix, entropy if matrix.ndim == 2 and entropy.shape == matrix.shape[1:] else None
    compute = getattr(importlib.import_module("unbraid.metrics"), "mutual_information_matrix", None)
    if compute is None or run.factors is None:
        return None
    return np.asarray(compute(run.latents[1].codes, run.factors.table), dtype=float), None
