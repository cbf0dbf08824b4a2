"""Charts of many runs: seeds as dots with their mean, two figures against each other, shares as bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from unbraid.report.draw import words
from unbraid.report.draw.svg import Axis, drawing, tag


@dataclass(frozen=True)
class Dot:
    """One run in a chart: where it is, its colour's number, and what it is called."""

    x: float
    y: float
    series: int
    name: str


def ends_of(values: Sequence[float]) -> tuple[float, float]:
    """Where an axis begins and ends, with a margin around everything that is shown.

    Example:
        >>> ends_of([0.0, 1.0])
        (-0.05, 1.05)
    """
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return 0.0, 1.0
    low, high = min(finite), max(finite)
    margin = (high - low) * 0.05 or abs(high) * 0.05 or 1.0
    return low - margin, high + margin


def seed_dots(
    values: Sequence[float],
    mean: float,
    interval: tuple[float, float] | None,
    ends: tuple[float, float],
    label: str,
    series: int | None = None,
) -> Markup:
    """A dot for each seed, a bar at their mean and a band over its interval, on an axis between its `ends`."""
    width, height, edge = 220.0, 26.0, 6.0
    axis, middle = Axis(*ends, edge, width - edge), height / 2
    parts = [tag("line", x1=edge, x2=width - edge, y1=middle, y2=middle, class_="rule")]
    text = f"{label} {words.number(mean)}"
    if interval is not None:
        low, high = (float(np.clip(axis.place(v), edge, width - edge)) for v in interval)
        parts.append(tag("rect", x=low, y=middle - 5, width=max(high - low, 0.5), height=10, class_="band"))
        text += f", interval {words.number(interval[0])} to {words.number(interval[1])}"
    finite = [value for value in values if math.isfinite(value)]
    parts += [tag("circle", cx=axis.place(value), cy=middle, r=2.6, class_="seed") for value in finite]
    if math.isfinite(mean):
        x = axis.place(mean)
        parts.append(tag("line", x1=x, x2=x, y1=middle - 8, y2=middle + 8, class_="mean"))
    parts.append(tag("title", text))
    return drawing(width, height, text, *parts, class_="dots" if series is None else f"dots series-{series}")


def scatter(dots: Sequence[Dot], across: str, up: str) -> Markup:
    """Two figures of every run against each other."""
    width, height, left, bottom, top = 440.0, 280.0, 56.0, 40.0, 10.0
    x = Axis(*ends_of([dot.x for dot in dots]), left, width - 10)
    y = Axis(*ends_of([dot.y for dot in dots]), height - bottom, top)
    parts = []
    for value in y.ticks(5):
        at = y.place(value)
        parts.append(tag("line", x1=left, x2=width - 10, y1=at, y2=at, class_="rule"))
        parts.append(tag("text", words.tick(value), x=left - 7, y=at + 3.5, text_anchor="end"))
    for value in x.ticks(5):
        parts.append(tag("text", words.tick(value), x=x.place(value), y=height - bottom + 16, text_anchor="middle"))
    parts.append(tag("text", across, x=(left + width) / 2, y=height - 6, text_anchor="middle", class_="axis-name"))
    parts.append(tag("text", up, x=left, y=top + 2, class_="axis-name"))
    parts += [
        tag(
            "circle",
            tag("title", dot.name),
            cx=x.place(dot.x),
            cy=y.place(dot.y),
            r=4,
            class_=f"run series-{dot.series}",
        )
        for dot in dots
        if math.isfinite(dot.x) and math.isfinite(dot.y)
    ]
    return drawing(width, height, f"{up} against {across}", *parts, class_="scatter")


def share_bar(share: float, label: str) -> Markup:
    """A bar as long as a share of the whole."""
    width, height = 220.0, 14.0
    full = tag("rect", x=0, y=3, width=width, height=8, class_="whole")
    part = tag(
        "rect", tag("title", label), x=0, y=3, width=float(width * min(max(share, 0.0), 1.0)), height=8, class_="part"
    )
    return drawing(width, height, label, full, part, class_="share")
