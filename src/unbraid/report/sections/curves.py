"""Curves of every term of every stage, grouped by update."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from unbraid.report.draw import charts, words
from unbraid.report.read.content import RunFiles, Stage


@dataclass(frozen=True)
class Curve:
    """One term: its name, its level at the end, and the chart."""

    term: str
    last: str
    log: bool
    chart: Markup


@dataclass(frozen=True)
class CurveGroup:
    """The terms of one update of one stage."""

    stage: int
    method: str
    update: str
    curves: tuple[Curve, ...]


def curve_groups(run: RunFiles) -> tuple[CurveGroup, ...]:
    """The total first, then the terms in the order in which they were logged."""
    return tuple(group for stage in run.stages for group in _groups(stage))


def _groups(stage: Stage) -> list[CurveGroup]:
    updates: dict[str, list[str]] = {}
    for key in stage.curves:
        updates.setdefault(key.partition("/")[0], []).append(key)
    groups = []
    for update, keys in updates.items():
        keys.sort(key=lambda key: not key.endswith(("/total", "/loss")))
        curves = tuple(_curve(stage, key) for key in keys)
        # The name of the update says something only where a stage has more than one.
        groups.append(CurveGroup(stage.number, stage.title, update if len(updates) > 1 else "", curves))
    return groups


def _curve(stage: Stage, key: str) -> Curve:
    steps, values = stage.curves[key]
    term = words.term(key.partition("/")[2])
    chart = charts.curve(steps, values, term, stage.number)
    finite = values[np.isfinite(values)]
    last = words.number(float(charts.smooth(values)[-1])) if finite.size else "–"
    return Curve(term, last, "logarithmic" in chart[:300], chart)
