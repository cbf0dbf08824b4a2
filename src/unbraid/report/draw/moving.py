"""Frames of an animation in which every latent moves at once: a cell for each, with its name and where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from unbraid.report.draw.figures import FAINT, INK, PAPER, grid

Array = NDArray[Any]
Colour = tuple[int, int, int]
LINE, ACCENT, MIDDLE = (222, 224, 228), (47, 91, 208), (150, 156, 168)
SIDE = 128  # pixels that a picture has at least
CHART = (320, 190)  # pixels of a chart
CHANNEL = 72  # pixels that the chart of a channel is high at least
GAP, HEAD, FOOT = 20, 40, 30  # pixels: between cells, for a cell's name and track, for the line at the bottom
FINE = 3  # charts are drawn this much larger, so that lines are smooth
BARS = 12  # values up to this number are bars, even without names


@dataclass(frozen=True)
class Cell:
    """One latent: its name, and what each stage makes at every step, [step, …]."""

    name: str
    outputs: tuple[Array, ...]


def frames(cells: Sequence[Cell], caption: str, original: Array | None, columns: Sequence[str]) -> list[Image.Image]:
    """A picture for every step.

    Args:
        cells: at least one.
        caption: the line at the bottom.
        original: the observation that the codes are of, drawn behind vectors.
        columns: names of the values, where they have any.
    """
    steps = len(cells[0].outputs[0])
    is_image = cells[0].outputs[0].ndim == 4
    if is_image:
        drawn = [[pictures(cell, step) for step in range(steps)] for cell in cells]
    else:
        parts = by_channel(cells, original)
        charts = [Chart.over(own, behind, columns, len(parts)) for own, behind in parts]
        drawn = [
            [
                stacked(
                    [
                        chart.draw([o[step] for o in own[k].outputs])
                        for chart, (own, _) in zip(charts, parts, strict=True)
                    ]
                )
                for step in range(steps)
            ]
            for k in range(len(cells))
        ]
    width, height = drawn[0][0].size
    across = columns_of(len(cells), width + GAP, height + HEAD + GAP)
    rows = -(-len(cells) // across)
    size = (across * (width + GAP) + GAP, rows * (height + HEAD + GAP) + GAP + FOOT)
    made = []
    for step in range(steps):
        frame = Image.new("RGB", size, PAPER)
        draw = ImageDraw.Draw(frame)
        for k, cell in enumerate(cells):
            row, column = divmod(k, across)
            left, top = GAP + column * (width + GAP), GAP + row * (height + HEAD + GAP)
            label(draw, cell.name, left, top, width, step / max(1, steps - 1))
            frame.paste(drawn[k][step], (left, top + HEAD))
        draw.text((GAP, size[1] - FOOT + 2), fitted(caption, font(15), size[0] - 2 * GAP), FAINT, font(15), anchor="lm")
        made.append(frame)
    return made


def by_channel(cells: Sequence[Cell], original: Array | None) -> list[tuple[list[Cell], Array | None]]:
    """The cells of each channel of signals [step, channel, time], with what is drawn behind; vectors as one channel.

    Example:
        >>> parts = by_channel([Cell("z1", (np.zeros((5, 3, 20)),))], np.zeros(60))
        >>> len(parts), parts[0][0][0].outputs[0].shape, parts[0][1].shape
        (3, (5, 20), (20,))
    """
    shape = cells[0].outputs[0].shape[1:]
    if len(shape) == 1:
        return [(list(cells), original)]
    behind = None if original is None else original.reshape(shape)
    return [
        (
            [Cell(cell.name, tuple(o[:, k] for o in cell.outputs)) for cell in cells],
            None if behind is None else behind[k],
        )
        for k in range(shape[0])
    ]


def stacked(charts: Sequence[Image.Image]) -> Image.Image:
    """Charts of the same width, one below another."""
    whole = Image.new("RGB", (charts[0].width, sum(chart.height for chart in charts)), PAPER)
    for k, chart in enumerate(charts):
        whole.paste(chart, (0, sum(above.height for above in charts[:k])))
    return whole


def columns_of(count: int, width: int, height: int, shape: float = 16 / 9) -> int:
    """How many cells to a row come nearest to the shape of a slide, without a row that is nearly empty.

    Example:
        >>> columns_of(6, 290, 190), columns_of(1, 290, 190)
        (3, 1)
    """
    options = range(1, count + 1)
    return min(
        options, key=lambda n: abs(np.log(n * width / (-(-count // n) * height) / shape)) + 0.8 * (-count % n) / n
    )


def pictures(cell: Cell, step: int) -> Image.Image:
    """What each stage makes, side by side, at a whole multiple of its size."""
    images = np.stack([output[step] for output in cell.outputs])
    times = max(1, -(-SIDE // max(images.shape[1:3])))
    return grid(images, len(images), 4, times, PAPER)


def label(draw: ImageDraw.ImageDraw, name: str, left: int, top: int, width: int, share: float) -> None:
    """The name of a latent above a track with a dot on it."""
    draw.text((left, top + 11), fitted(name, font(17), width), INK, font(17), anchor="lm")
    y, start, end = top + 29, left + 5, left + width - 6
    draw.rounded_rectangle((start, y - 1, end, y + 1), 1, LINE)
    dot = start + share * (end - start)
    draw.ellipse((dot - 5, y - 5, dot + 5, y + 5), ACCENT)


def fitted(text: str, with_font: ImageFont.FreeTypeFont, width: float) -> str:
    """Text that is cut to a width."""
    if with_font.getlength(text) <= width:
        return text
    while text and with_font.getlength(text + "…") > width:
        text = text[:-1]
    return text + "…"


@lru_cache
def font(size: int) -> ImageFont.FreeTypeFont:
    """Upright letters; matplotlib brings them, with all that names may hold."""
    import matplotlib

    path = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
    return ImageFont.truetype(str(path), size)


@dataclass(frozen=True)
class Chart:
    """Vectors as curves, or as a bar for each value: with names or few of them. Axes never move."""

    low: Array  # [value]
    high: Array
    original: Array | None
    columns: tuple[str, ...]
    bars: bool
    height: int = CHART[1]

    @staticmethod
    def over(cells: Sequence[Cell], original: Array | None, columns: Sequence[str], channels: int = 1) -> Chart:
        """A chart that has room for all that the cells show; one of several channels is lower, and curves."""
        flat = [output.reshape(-1, output.shape[-1]) for cell in cells for output in cell.outputs]
        everything = np.concatenate(flat if original is None else [*flat, original.reshape(1, -1)])
        count = everything.shape[1]
        bars = channels == 1 and (len(columns) == count or count <= BARS)
        names = tuple(columns) if len(columns) == count else tuple(f"value {i + 1}" for i in range(count))
        low, high = everything.min(axis=0), everything.max(axis=0)
        if not bars:
            low, high = np.full(count, low.min()), np.full(count, high.max())
        room = 0.05 * np.where(high > low, high - low, 1.0)
        return Chart(low - room, high + room, original, names, bars, max(CHANNEL, CHART[1] // channels))

    def draw(self, outputs: Sequence[Array]) -> Image.Image:
        """What each stage makes, the last one on top."""
        height = max(self.height, 24 * len(self.columns)) if self.bars else self.height
        large = Image.new("RGB", (CHART[0] * FINE, height * FINE), PAPER)
        draw = ImageDraw.Draw(large)
        series: list[tuple[Array, Colour, int]] = [] if self.original is None else [(self.original, LINE, 3)]
        series += [(output, MIDDLE, 2) for output in outputs[:-1]] + [(outputs[-1], ACCENT, 2)]
        if self.bars:
            self.draw_bars(draw, series, height)
        else:
            self.draw_curves(draw, series, height)
        return large.resize((CHART[0], height), Image.Resampling.LANCZOS)

    def share(self, values: Array) -> Array:
        """Values as parts of their ranges."""
        parts: Array = (values - self.low) / (self.high - self.low)
        return parts

    def draw_curves(self, draw: ImageDraw.ImageDraw, series: Sequence[tuple[Array, Colour, int]], height: int) -> None:
        """All values along the horizontal, in one range."""
        width, tall = CHART[0] * FINE, height * FINE
        draw.rectangle((0, 0, width - 1, tall - 1), outline=LINE, width=FINE)
        across = np.linspace(4 * FINE, width - 4 * FINE, len(self.low))
        for values, colour, thick in series:
            points = list(zip(across.tolist(), (tall * (1 - self.share(values))).tolist(), strict=True))
            draw.line(points, colour, thick * FINE, joint="curve")

    def draw_bars(self, draw: ImageDraw.ImageDraw, series: Sequence[tuple[Array, Colour, int]], height: int) -> None:
        """A row for each value: a bar for the last stage, marks for what stands before it."""
        letters, row = font(12 * FINE), height * FINE / len(self.columns)
        left = min(0.4 * CHART[0] * FINE, max(letters.getlength(name) for name in self.columns) + 8 * FINE)
        span = CHART[0] * FINE - left - 2 * FINE
        *before, (last, colour, _) = series
        for i, name in enumerate(self.columns):
            middle, half = (i + 0.5) * row, min(7 * FINE, 0.32 * row)
            text = fitted(name, letters, left - 8 * FINE)
            draw.text((left - 6 * FINE, middle), text, INK, letters, anchor="rm")
            draw.rectangle((left, middle - half, left + span, middle + half), (244, 245, 247))
            draw.rectangle((left, middle - half, left + max(FINE, self.share(last)[i] * span), middle + half), colour)
            for values, mark, _ in before:
                at = left + self.share(values)[i] * span
                shade = FAINT if mark == LINE else mark
                draw.rectangle((at - FINE, middle - half - 2 * FINE, at + FINE, middle + half + 2 * FINE), shade)
