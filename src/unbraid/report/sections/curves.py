"""Curves of every term of every stage, grouped by update."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from unbraid.report.draw import charts, words
from unbraid.report.read.content import Floats, RunFiles, Stage

TERM = "total/"  # before terms with their weights, which add up to the total; logs of older runs have none
HELD_OUT = "held_out/"  # before the figures of held-out observations
Lines = Mapping[str, tuple[Floats, Floats]]  # (steps, values) by name


@dataclass(frozen=True)
class Curve:
    """One term: its name, its level at the end, there and for held-out observations, and the chart."""

    term: str
    last: str
    held_out: str
    log: bool
    chart: Markup


@dataclass(frozen=True)
class CurveGroup:
    """The terms of one update of one stage."""

    stage: int
    method: str
    update: str
    curves: tuple[Curve, ...]

    @property
    def shows_held_out(self) -> bool:
        """Whether some curve has a line of held-out observations."""
        return any(curve.held_out for curve in self.curves)


def curve_groups(run: RunFiles) -> tuple[CurveGroup, ...]:
    """The total first, then its terms with their weights, then figures, in the order in which they were logged."""
    return tuple(group for stage in run.stages for group in _groups(stage))


def _groups(stage: Stage) -> list[CurveGroup]:
    updates: dict[str, dict[str, tuple[Floats, Floats]]] = {}
    for key, line in stage.curves.items():
        update, _, name = key.partition("/")
        updates.setdefault(update, {})[name] = line
    groups = []
    for update, lines in updates.items():
        curves = tuple(_curve(stage.number, name, lines) for name in shown_terms(lines))
        # The name of the update says something only where a stage has more than one.
        groups.append(CurveGroup(stage.number, stage.title, update if len(updates) > 1 else "", curves))
    return groups


def shown_terms(lines: Lines) -> list[str]:
    """The names of what is drawn, in order; a term is drawn once, unless its weight changes or is nothing."""
    names = [name for name in lines if not name.startswith(HELD_OUT)]
    same = [name for name in names if TERM + name in lines and weight(lines, TERM + name)]
    alone = [name for name in names if name.startswith(TERM)]
    again = alone if len(alone) == 1 else []  # a total of one term is that term
    kept = [name for name in names if (name not in same or again == [TERM + name]) and name not in again]
    return sorted(kept, key=lambda name: (name not in ("total", "loss"), not name.startswith(TERM)))


def weight(lines: Lines, name: str) -> float | None:
    """By what a term is multiplied in the total, if that is the same at all steps."""
    plain = lines.get(name.removeprefix(TERM))
    if plain is None or len(plain[1]) != len(lines[name][1]):
        return None
    there = np.isfinite(plain[1]) & (np.abs(plain[1]) > 0)
    ratios = lines[name][1][there] / plain[1][there]
    return float(f"{ratios.mean():.4g}") if ratios.size and np.allclose(ratios, ratios.mean(), rtol=1e-3) else None


def title(name: str, lines: Lines) -> str:
    """What a curve is called: a term of the total with its weight."""
    if not name.startswith(TERM):
        return words.term(name)
    plain, factor = words.term(name.removeprefix(TERM)), weight(lines, name)
    if factor == 1:
        return plain
    return f"{plain}, weighted" if factor is None else f"{words.plain(factor)} × {plain}"


def _curve(stage: int, name: str, lines: Lines) -> Curve:
    steps, values = lines[name]
    held_out = lines.get(HELD_OUT + name)
    chart = charts.curve(steps, values, title(name, lines), stage, held_out)
    finite = values[np.isfinite(values)]
    last = words.number(float(charts.smooth(values)[-1])) if finite.size else "–"
    other = "" if held_out is None else words.number(float(held_out[1][-1]))
    return Curve(title(name, lines), last, other, "logarithmic" in chart[:300], chart)
