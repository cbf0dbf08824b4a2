"""The report's charts: curves, intervals, effects and densities as inline SVG that follows the page's colours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from unbraid.report.draw import words
from unbraid.report.draw.svg import Axis, Floats, drawing, join, linear_ticks, polyline, tag, value_axis

# From low to high latent values; both ends keep their contrast on white and on black.
RAMP = ((47, 111, 191), (132, 104, 178), (205, 88, 112), (224, 142, 43))


def smooth(values: Floats, share: float = 0.08) -> Floats:
    """Moving mean over a share of the points.

    It narrows towards the start, where curves are steep, and looks back only at the end, where they are noisy.
    """
    half = max(1, round(len(values) * share / 2))
    out = np.empty_like(values)
    for i in range(len(values)):
        ahead = min(half, i)
        behind = ahead + max(0, i + half - len(values) + 1)
        window = values[max(0, i - behind) : i + ahead + 1]
        finite = window[np.isfinite(window)]
        out[i] = finite.mean() if finite.size else np.nan
    return out


def curve(
    steps: Floats, values: Floats, label: str, stage: int, held_out: tuple[Floats, Floats] | None = None
) -> Markup:
    """One term over the steps: the smoothed line in the stage's colour, the raw one faint behind it.

    The same of held-out observations, (steps, values), is dashed.
    """
    width, height, left, right, top, bottom = 320.0, 168.0, 44.0, 8.0, 10.0, 24.0
    across = Axis(0, float(max(steps.max(), 1)), left, width - right)
    up = value_axis(values if held_out is None else np.concatenate([held_out[1], values]), height - bottom, top)
    x = across.at(steps)
    smoothed = smooth(values)
    last = float(smoothed[-1])
    parts = [_axes(across, up, width, height, bottom)]
    parts.append(polyline(x, up.at(values), class_="raw"))
    parts.append(polyline(x, up.at(smoothed), class_="line"))
    if held_out is not None:
        parts.append(polyline(across.at(held_out[0]), up.at(held_out[1]), class_="held-out"))
    if np.isfinite(last):
        parts.append(tag("circle", cx=float(x[-1]), cy=up.place(last), r=2.6, class_="end"))
    parts.append(_readings(steps, values, x, top, height - bottom, left, width - right))
    scale = ", logarithmic" if up.log else ""
    return drawing(
        width, height, f"{label} over steps{scale}; last {words.number(last)}", *parts, class_=f"curve stage-{stage}"
    )


def _axes(across: Axis, up: Axis, width: float, height: float, bottom: float) -> Markup:
    parts = []
    for value in up.ticks(6):
        y = up.place(value)
        parts.append(tag("line", x1=across.start, x2=across.end, y1=y, y2=y, class_="rule"))
        parts.append(tag("text", words.tick(value), x=across.start - 7, y=y + 3.5, text_anchor="end"))
    for value in linear_ticks(across.low, across.high, 5):
        x = across.place(value)
        # Labels stay inside the drawing: the last one ends at the edge instead of being centred on it.
        anchor = "end" if x > width - 20 else "middle"
        parts.append(tag("text", words.tick(value), x=x, y=height - bottom + 16, text_anchor=anchor))
    return tag("g", *parts, class_="axes")


def _readings(steps: Floats, values: Floats, x: Floats, top: float, bottom: float, left: float, right: float) -> Markup:
    """Invisible bands that tell step and value where the pointer rests; no script needed."""
    chosen = np.unique(np.linspace(0, len(steps) - 1, min(40, len(steps))).round().astype(int))
    edges = np.concatenate([[left], (x[chosen][1:] + x[chosen][:-1]) / 2, [right]])
    bands = []
    for i, a, b in zip(chosen, edges[:-1], edges[1:], strict=True):
        text = f"step {words.count(float(steps[i]))}: {words.number(float(values[i]), 4)}"
        bands.append(tag("rect", tag("title", text), x=float(a), y=top, width=float(b - a), height=bottom - top))
    return tag("g", *bands, class_="readings")


def whisker(
    value: float,
    interval: tuple[float, float] | None,
    ends: tuple[float, float],
    label: str,
    series: int | None = None,
    *,
    standing: tuple[tuple[float, float] | None, float | None] = (None, None),
) -> Markup:
    """A dot at the value and a line over its interval, on an axis between its `ends`.

    `standing` is the chance level with its spread, a grey band, and the ceiling, a grey mark.
    """
    width, height, edge = 220.0, 26.0, 6.0
    axis = Axis(*ends, edge, width - edge)
    middle = height / 2
    parts = [tag("line", x1=edge, x2=width - edge, y1=middle, y2=middle, class_="rule")]
    for tick in np.linspace(*ends, 5):
        x = axis.place(float(tick))
        parts.append(tag("line", x1=x, x2=x, y1=middle - 3, y2=middle + 3, class_="rule"))
    text = f"{label} {words.number(value)}"
    chance, ceiling = standing
    if chance is not None:
        low, high = (float(np.clip(axis.place(chance[0] + k * chance[1]), edge, width - edge)) for k in (-2, 2))
        parts.append(tag("rect", x=low - 1, y=middle - 8, width=max(high - low, 0.0) + 2, height=16.0, class_="chance"))
        text += f", chance {words.number(chance[0])}"
    if ceiling is not None:
        x = float(np.clip(axis.place(ceiling), edge, width - edge))
        parts.append(tag("line", x1=x, x2=x, y1=middle - 8, y2=middle + 8, class_="ceiling"))
        text += f", ceiling {words.number(ceiling)}"
    if interval is not None:
        low, high = (float(np.clip(axis.place(v), edge, width - edge)) for v in interval)
        parts.append(tag("line", x1=low, x2=high, y1=middle, y2=middle, class_="span"))
        for x in (low, high):
            parts.append(tag("line", x1=x, x2=x, y1=middle - 6, y2=middle + 6, class_="cap"))
        text += f", interval {words.number(interval[0])} to {words.number(interval[1])}"
    if np.isfinite(value):
        x = float(np.clip(axis.place(value), edge, width - edge))
        parts.append(tag("circle", cx=x, cy=middle, r=3.4, class_="dot"))
    parts.append(tag("title", text))
    colour = "" if series is None else f" series-{series}"
    return drawing(width, height, text, *parts, class_=f"whisker{colour}")


def ramp(share: float) -> str:
    """The colour of a latent's value, from 0 (low) to 1 (high)."""
    place = min(max(share, 0.0), 1.0) * (len(RAMP) - 1)
    i = min(int(place), len(RAMP) - 2)
    mixed = [round(a + (b - a) * (place - i)) for a, b in zip(RAMP[i], RAMP[i + 1], strict=True)]
    return "#" + "".join(f"{c:02x}" for c in mixed)


def vertical_range(arrays: Sequence[NDArray[Any]]) -> tuple[float, float]:
    """One range for all panels, so that a latent that does nothing looks like it."""
    values = np.concatenate([np.asarray(a, dtype=float).ravel() for a in arrays])
    values = values[np.isfinite(values)]
    if not values.size:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    margin = (high - low) * 0.05 or 1.0
    return low - margin, high + margin


def effect(outputs: NDArray[Any], values: NDArray[Any] | None, limits: tuple[float, float], label: str) -> Markup:
    """What one latent does to a vector: a line for each of its values [steps, length], coloured by the value."""
    width, height = 320.0, 150.0
    across, up = _vector_axes(outputs.shape[1], limits, width, height)
    parts = [_axes(across, up, width, height, 22.0)]
    x = across.at(np.arange(outputs.shape[1], dtype=float))
    for i, line in enumerate(outputs):
        colour = ramp(i / max(1, len(outputs) - 1))
        at = "" if values is None else f"at {words.number(float(values[i]), 2)}"
        parts.append(
            tag("g", polyline(x, up.at(line.astype(float)), stroke=colour), tag("title", at), class_="effect-line")
        )
    return drawing(width, height, label, *parts, class_="effect")


def overlay(lines: Sequence[tuple[str, str, NDArray[Any]]], limits: tuple[float, float], label: str) -> Markup:
    """One observation and what the stages make of it: (class, name, values), drawn over each other."""
    width, height = 320.0, 150.0
    across, up = _vector_axes(len(lines[0][2]), limits, width, height)
    parts = [_axes(across, up, width, height, 22.0)]
    x = across.at(np.arange(len(lines[0][2]), dtype=float))
    for kind, name, values in lines:
        parts.append(tag("g", polyline(x, up.at(values.astype(float))), tag("title", name), class_=kind))
    return drawing(width, height, label, *parts, class_="overlay")


def densities(values: Floats, heights: Floats, marks: Floats, classes: Sequence[tuple[str, str]], label: str) -> Markup:
    """Filled densities [class, step] by (name, colour's class), with dotted lines at the marks.

    The axis is as wide as the drawing, so that what stands under it can be placed by shares of the width.
    """
    width, height, top, bottom = 600.0, 190.0, 8.0, 20.0
    across = Axis(float(values[0]), float(values[-1]), 0.0, width)
    up = Axis(0.0, float(heights.max()) or 1.0, height - bottom, top)
    # As many digits as tell neighbours well apart, the same for all.
    digits = max(0, 1 - math.floor(math.log10((across.high - across.low) / (len(marks) + 1))))
    parts = []
    for mark in marks:
        at = across.place(float(mark))
        parts.append(tag("line", x1=at, x2=at, y1=top, y2=up.start, class_="mark-line"))
        text = f"{round(float(mark), digits) + 0.0:.{digits}f}".replace("-", "−")  # + 0.0: no −0.0
        parts.append(tag("text", text, x=at, y=height - 5, text_anchor="middle"))
    x = across.at(values)
    for (name, colour), line in zip(classes, heights, strict=True):
        y = up.at(line)
        area = polyline(np.r_[x[0], x, x[-1]], np.r_[up.start, y, up.start], class_="area")
        # Where a class is next to impossible its line would only colour the ground.
        edge = polyline(x, np.where(line > 0.003 * up.high, y, np.nan), class_="line")
        parts.append(tag("g", area, edge, tag("title", name), class_=f"class {colour}"))
    parts.append(tag("line", x1=0, x2=width, y1=up.start, y2=up.start, class_="rule"))
    return drawing(width, height, label, *parts, class_="densities")


def lines_at(values: Floats, marks: Floats, lines: NDArray[Any], label: str) -> Markup:
    """Vectors [mark, length] as small lines, each centred at its mark on the axis of `densities`."""
    width, height = 600.0, 56.0
    across = Axis(float(values[0]), float(values[-1]), 0.0, width)
    up = Axis(*vertical_range([lines]), height - 2, 2.0)
    centres = across.at(marks)
    half = 0.42 * float(np.diff(centres).min(initial=width))
    parts = [
        polyline(np.linspace(centre - half, centre + half, len(line)), up.at(line.astype(float)))
        for centre, line in zip(centres, lines, strict=True)
    ]
    return drawing(width, height, label, *parts, class_="lines-at")


def _vector_axes(length: int, limits: tuple[float, float], width: float, height: float) -> tuple[Axis, Axis]:
    return Axis(0, max(1, length - 1), 38.0, width - 8), Axis(*limits, height - 22, 8.0)


def colour_key(values: NDArray[Any] | None) -> Markup:
    """The ramp with the lowest and the highest value of the latents at its ends."""
    # Little bars instead of a gradient: a gradient needs an id, and a page has several keys.
    bars = [tag("rect", x=46.0 + 3 * i, y=4, width=3.2, height=7, fill=ramp(i / 39)) for i in range(40)]
    low, high = ("low", "high")
    if values is not None and values.size:
        low, high = words.tick(float(values.min())), words.tick(float(values.max()))
    body = [
        tag("text", low, x=38, y=11, text_anchor="end"),
        *bars,
        tag("text", high, x=174, y=11),
    ]
    return drawing(220, 16, f"colours from {low} to {high}", join(body), class_="key")
