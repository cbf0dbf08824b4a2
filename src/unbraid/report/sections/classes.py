"""What classes have become, ready for the page: their priors with what is made along them, and transfers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from PIL import Image

from unbraid.report.draw import charts
from unbraid.report.draw.columns import values_at
from unbraid.report.draw.figures import grid
from unbraid.report.read.columns import Columns
from unbraid.report.read.content import ClassPrior, RunFiles, Transfer
from unbraid.report.sections.pictures import PAD, Strip, sheet_strip, stage_names, strip

COLOURS = 5  # of the page, for series of any kind
GAP = 0.2  # of a frame, between what transfers are made of and what is made


@dataclass(frozen=True)
class Variable:
    """One discrete variable: its prior, and under it a strip or, for vectors, lines.

    `left` and `width` place the strip under the chart, in percent of the chart's width.
    """

    title: str
    code: str
    legend: tuple[tuple[str, str], ...]
    chart: Markup
    marks: int
    strip: Strip | None
    lines: Markup | None
    left: float
    width: float


@dataclass(frozen=True)
class TransferGrid:
    """Styles above, contents at the left with their names; `rows` are heights in the terms of a style sheet."""

    names: tuple[str, ...]
    rows: str
    sheet: Strip


@dataclass(frozen=True)
class Classes:
    """All that the page shows of classes."""

    method: str
    variables: tuple[Variable, ...]
    transfer: TransferGrid | None


def classes(run: RunFiles) -> Classes | None:
    """Every discrete variable and the transfers of a run; None without classes."""
    if run.pictures is None or not run.stages:
        return None
    # A run that has diverged has priors that are nowhere.
    priors = [prior for prior in run.pictures.classes if np.isfinite(prior.densities).all()]
    if not priors:
        return None
    symbol, who = (names[0] for names in stage_names(run))
    images, given = run.pictures.are_images, run.pictures.transfer
    variables = tuple(_variable(prior, symbol, who, images, run.columns) for prior in priors)
    return Classes(who, variables, None if given is None else _transfer(given, symbol, who))


def _variable(prior: ClassPrior, symbol: str, who: str, images: bool, columns: Columns | None) -> Variable:
    legend = tuple((name, colour(k)) for k, name in enumerate(prior.names))
    label = f"prior of {prior.code} by class: {', '.join(prior.names)}"
    chart = charts.densities(prior.values, prior.densities, prior.marks, legend, label)
    left, width = (0.0, 100.0)
    row = lines = None
    if images:
        row = strip(prior.observations, symbol, who, "stage-1", 64)
        left, width = placed(prior, prior.observations.shape[2])
    else:
        made = f"{symbol} at the dotted values"
        if columns is None:
            lines = charts.lines_at(prior.values, prior.marks, prior.observations, made)
        else:
            lines = values_at(columns, prior.marks.tolist(), prior.observations, made)
    return Variable(prior.title, prior.code, legend, chart, len(prior.marks), row, lines, left, width)


def colour(k: int) -> str:
    """The page's colours in turn; those that come again are dashed."""
    return f"series-{k % COLOURS}" + (" again" if k // COLOURS % 2 else "")


def placed(prior: ClassPrior, side: int) -> tuple[float, float]:
    """Start and width of a strip whose frames are centred under the marks, in percent of the axis."""
    span = float(prior.values[-1] - prior.values[0])
    apart = float(np.diff(prior.marks).mean()) if len(prior.marks) > 1 else span / 2
    frame = apart * side / (side + PAD)
    first, last = float(prior.marks[0]) - frame / 2, float(prior.marks[-1]) + frame / 2
    return 100 * (first - float(prior.values[0])) / span, 100 * (last - first) / span


def _transfer(given: Transfer, symbol: str, who: str) -> TransferGrid:
    columns = len(given.style)
    above, left = grid(given.style, columns, PAD), grid(given.content, 1, PAD)
    made = grid(given.made.reshape(-1, *given.made.shape[2:]), columns, PAD)
    gap = max(PAD, round(GAP * left.width))
    start = (left.width + gap, above.height + gap)
    sheet = Image.new("RGBA", (start[0] + made.width, start[1] + made.height))
    for part, place in ((above, (start[0], 0)), (left, (0, start[1])), (made, start)):
        sheet.paste(part, place)
    rows = f"{start[1]}fr" + f" {above.height + PAD}fr" * len(given.content)
    frames = columns + 1
    return TransferGrid(given.names, rows, sheet_strip(sheet, left.width, frames, symbol, who, "stage-1", 64))
