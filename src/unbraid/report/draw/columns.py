"""Tables as tables: a row of values beside its reconstructions, and what moving a latent does to every column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from unbraid.report.draw import words
from unbraid.report.draw.charts import ramp
from unbraid.report.draw.svg import tag
from unbraid.report.read.columns import Columns, Floats

MOST_ROWS = 24  # columns in a table of values
MOST_MOVED = 16  # columns of a traversal; of more, those that change most
STILL = 0.04  # of the shared range: a column that moves less is set faint
SERIES = 5  # colours of the page


def row_table(columns: Columns, rows: Sequence[tuple[str, NDArray[Any]]], caption: str) -> Markup:
    """One observation and what the stages make of it, a line for each column.

    Args:
        columns: their names and units.
        rows: a symbol and the vector [value] of each; the original comes first.
        caption: above the table.
    """
    raw = columns.raw(np.stack([vector for _, vector in rows]))
    far = columns.raw(np.stack([rows[0][1] + 1, rows[0][1] - 1]))  # a standard deviation to both sides
    heads = [tag("th", symbol, scope="col", style="text-align:right;padding-left:14px") for symbol, _ in rows]
    lines = [tag("tr", tag("th", " ", scope="col"), *heads)]
    for name, place in list(columns.places.items())[:MOST_ROWS]:
        if name in columns.categories:
            best = columns.likeliest(raw, name)
            texts = [str(columns.categories[name][k]) for k in best]
            off = [k != best[0] for k in best]
        else:
            values = raw[:, place.start]
            low, high = sorted(far[:, place.start])
            texts = number_texts(columns, values, place.start)
            off = [bool(columns.mean) and not low <= value <= high for value in values]
        cells = [_cell(text, bold) for text, bold in zip(texts, off, strict=True)]
        lines.append(tag("tr", tag("th", name, scope="row", style="text-align:left;font-weight:400"), *cells))
    more = len(columns.names) - MOST_ROWS
    rest = [tag("p", f"and {more:,} more columns", class_="seen")] if more > 0 else []
    table = tag("table", tag("caption", caption, style="text-align:left"), tag("tbody", *lines), class_="row-table")
    return tag("figure", table, *rest, class_="row", style="margin:0")


def number_texts(columns: Columns, values: Floats, place: int) -> list[str]:
    """Values of one number to a tenth or a hundredth of its standard deviation: what is finer nobody can compare."""
    steps = columns.steps(values, place)
    if not len(steps):
        return [words.number(float(value), 3) for value in values]
    return [words.to_step(float(value), float(step)) for value, step in zip(values, steps, strict=True)]


def _cell(text: str, bold: bool) -> Markup:
    """A value; bold where it is far from the original."""
    style = "text-align:right;padding-left:14px;font-variant-numeric:tabular-nums"
    return tag("td", tag("b", text) if bold else text, style=style)


def moved_columns(columns: Columns, outputs: NDArray[Any], limits: tuple[Floats, Floats], label: str) -> Markup:
    """What one latent does to every column: where its value goes as the latent is moved, and from where to where.

    Args:
        columns: their names and units.
        outputs: [step, value], from the latent's lowest value to its highest.
        limits: the least and the greatest of each value, [value], on the scale of the outputs.
        label: for those who cannot see it.
    """
    low, high = limits
    share = (outputs - low) / np.where(high > low, high - low, 1.0)
    raw, places = columns.raw(outputs), columns.places
    change = {name: float(np.ptp(share[:, place], axis=0).max()) for name, place in places.items()}
    names = list(places)
    if len(names) > MOST_MOVED:
        names = sorted(names, key=lambda name: -change[name])[:MOST_MOVED]
    lines = []
    for name in names:
        if name in columns.categories:
            track, text = _category_track(columns, raw, name)
            still = "→" not in text
        else:
            place = places[name].start
            track = _number_track(share[:, place])
            text = " → ".join(number_texts(columns, raw[[0, -1], place], place))
            still = change[name] < STILL
        cells = (tag("th", name, scope="row", title=name), tag("td", track), tag("td", text, class_="from-to"))
        lines.append(tag("tr", *cells, class_="still" if still else "moves"))
    chosen = f"the {MOST_MOVED} of {len(places):,} columns that change most" if len(places) > MOST_MOVED else ""
    caption = [tag("caption", chosen)] if chosen else []
    return tag("table", *caption, tag("tbody", *lines), class_="moved", aria_label=label)


def _number_track(share: Floats) -> Markup:
    """Where a value goes, between its ends: a bar over its range and a dot for every step, coloured as the latent."""
    within = np.clip(share, 0.0, 1.0)
    left, right = float(within.min()), float(within.max())
    last = max(1, len(within) - 1)
    dots = [_mark("dot", f"left:{100 * at:.1f}%;background:{ramp(k / last)}") for k, at in enumerate(within)]
    return tag("div", _mark("bar", f"left:{100 * left:.1f}%;width:{100 * (right - left):.1f}%"), *dots, class_="track")


def _mark(kind: str, style: str, title: str = "") -> Markup:
    """A mark on a track. HTML knows no empty tags but its own: an end is always written."""
    return Markup('<i class="{}" style="{}" title="{}"></i>').format(kind, style, title)


def _category_track(columns: Columns, raw: Floats, name: str) -> tuple[Markup, str]:
    """Which category comes out at every step, and those that come one after another."""
    best, values = columns.likeliest(raw, name), columns.categories[name]
    width = 100 / len(best)
    marks = [
        _mark(f"part series-{k % SERIES}", f"left:{i * width:.1f}%;width:{width:.1f}%", str(values[k]))
        for i, k in enumerate(best)
    ]
    turns = [k for i, k in enumerate(best) if i == 0 or k != best[i - 1]]
    return tag("div", *marks, class_="track"), " → ".join(str(values[k]) for k in turns)


def values_at(columns: Columns, marks: Sequence[float], vectors: NDArray[Any], label: str) -> Markup:
    """Vectors [mark, value] as columns of a table, under the values of the code that they were made at."""
    raw = columns.raw(vectors)
    head = [tag("th", " "), *(tag("th", words.tick(round(float(mark), 2)), scope="col") for mark in marks)]
    lines = [tag("tr", *head)]
    for name, place in list(columns.places.items())[:MOST_ROWS]:
        if name in columns.categories:
            texts = [str(columns.categories[name][k]) for k in columns.likeliest(raw, name)]
        else:
            texts = number_texts(columns, raw[:, place.start], place.start)
        lines.append(tag("tr", tag("th", name, scope="row"), *(tag("td", text) for text in texts)))
    return tag("table", tag("tbody", *lines), class_="values-at", aria_label=label)


def column_limits(columns: Columns, arrays: Sequence[NDArray[Any]]) -> tuple[Floats, Floats]:
    """The ends of every value's track: one for all if the columns are standardised, so that still ones look still."""
    values = np.concatenate([np.asarray(array, dtype=float).reshape(-1, columns.width) for array in arrays])
    low, high = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
    if columns.mean:
        low, high = np.full_like(low, low.min()), np.full_like(high, high.max())
    return low, high
