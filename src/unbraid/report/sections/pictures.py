"""Reconstructions and traversals, ready for the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from PIL import Image

from unbraid.metrics import latent_names, stage_prefix
from unbraid.metrics.usage import in_use
from unbraid.report.draw import charts, words
from unbraid.report.draw.columns import column_limits, moved_columns, row_table
from unbraid.report.draw.figures import data_uri, grid
from unbraid.report.draw.order import by_information
from unbraid.report.read.channels import Channels
from unbraid.report.read.columns import Columns
from unbraid.report.read.content import Pictures, RunFiles
from unbraid.report.sections.heat import meanings

Array = NDArray[Any]
PAD = 2
MANY_COLUMNS, FEW_TABLES, MOST_TABLES = 8, 3, 6


@dataclass(frozen=True)
class Strip:
    """One row of pictures as a sprite sheet; `width` is what it wants on a wide screen, `colour` a class."""

    symbol: str
    who: str
    colour: str
    src: str
    width: int
    height: int
    frames: int
    crisp: bool
    note: str = ""


@dataclass(frozen=True)
class Reconstructions:
    """Rows x, y, x̂ of images; for vectors a panel for each observation, with the three as lines or as a table."""

    strips: tuple[Strip, ...]
    panels: tuple[Markup, ...]
    legend: tuple[tuple[str, str, str], ...]
    shown: int
    note: str = ""


@dataclass(frozen=True)
class LatentBlock:
    """One latent: its name, its information, and what moving it does at every stage."""

    name: str
    meaning: str  # the factors that it knows, or the name that a person gave it; may be empty
    information: float | None
    share: float
    in_use: bool
    strips: tuple[Strip, ...]
    effects: tuple[tuple[str, str, int, Markup], ...]

    @property
    def nats(self) -> str:
        """Its information as shown."""
        if self.information is None:
            return ""
        return f"{self.information:.2f} nats" if self.information >= 0.005 else "0.00 nats"


@dataclass(frozen=True)
class TraversalGroup:
    """All latents of one stage, most informative first."""

    stage: int
    method: str
    symbols: tuple[str, ...]
    span: str
    key: Markup | None
    latents: tuple[LatentBlock, ...]

    @property
    def in_use(self) -> int:
        """How many latents carry information."""
        return sum(latent.in_use for latent in self.latents)


def strip(images: Array, symbol: str, who: str, colour: str, target: int, note: str = "") -> Strip:
    """A row of images at the whole multiple of their size that comes nearest to `target` pixels a frame."""
    return sheet_strip(grid(images, len(images), PAD), images.shape[2], len(images), symbol, who, colour, target, note)


def sheet_strip(
    sheet: Image.Image, side: int, frames: int, symbol: str, who: str, colour: str, target: int, note: str = ""
) -> Strip:
    """The same for a sheet of frames that are `side` pixels wide, `frames` of them in a row."""
    factor = max(1, round(target / side))
    crisp = side <= target * 1.25
    width = sheet.width * factor if crisp else round(sheet.width * target / side)
    height = round(sheet.height * width / sheet.width)
    return Strip(symbol, who, colour, data_uri(sheet), width, height, frames, crisp, note)


def stage_names(run: RunFiles) -> tuple[list[str], list[str]]:
    """Symbol of every stage's output, and the title of the method that makes it."""
    return words.symbols(len(run.stages)), [stage.title for stage in run.stages]


def reconstructions(run: RunFiles, most: int = 8, target: int = 128) -> Reconstructions | None:
    """The first originals and what each stage makes of them, `target` pixels a frame on a wide screen."""
    pictures = run.pictures
    if pictures is None or pictures.originals is None or not pictures.reconstructions:
        return None
    symbols, methods = stage_names(run)
    originals = pictures.originals[:most]
    original = "held-out original" if pictures.held_out else "original"
    rows: list[tuple[str, str, int, Array]] = [("x", original, 0, originals)]
    for stage, made in pictures.reconstructions.items():
        if stage <= len(symbols):
            rows.append((symbols[stage - 1], methods[stage - 1], stage, made[:most]))
    if not pictures.are_images:
        return _overlays(rows, run.channels) if run.columns is None else _row_tables(run.columns, rows)
    strips = tuple(
        strip(images, symbol, who, f"stage-{stage}", target, _note(run, stage, images, originals))
        for symbol, who, stage, images in rows
    )
    if pictures.drawn is not None:
        note = "z of others with a similar y"
        strips += (strip(pictures.drawn[:most], symbols[-1], "z drawn", f"stage-{len(symbols)}", target, note),)
    return Reconstructions(strips, (), (), len(originals))


def _note(run: RunFiles, stage: int, made: Array, originals: Array) -> str:
    """Mean squared error of the pictures shown, values in [0, 1]; of what is a draw, that it is one."""
    if not stage:
        return ""
    if not run.stages[stage - 1].reconstructs:
        return "a draw"
    error = np.mean((made.astype(float) - originals.astype(float)) ** 2) / 255**2
    return f"MSE {words.number(float(error), 2)}"


def _row_tables(columns: Columns, rows: list[tuple[str, str, int, Array]]) -> Reconstructions:
    """A small table for each observation: its columns in their own units, and what the stages make of them."""
    shown = min(len(rows[0][3]), FEW_TABLES if len(columns.names) > MANY_COLUMNS else MOST_TABLES)
    panels = [
        row_table(columns, [(symbol, array[i]) for symbol, _, _, array in rows], f"observation {i + 1}")
        for i in range(shown)
    ]
    legend = tuple((symbol, who, f"stage-{stage}") for symbol, who, stage, _ in rows)
    far = "More than a standard deviation off, or another category, is bold."
    return Reconstructions((), tuple(panels), legend, shown, far)


def _overlays(rows: list[tuple[str, str, int, Array]], channels: Channels | None) -> Reconstructions:
    shown = len(rows[0][3])
    curves = [_curves(array, channels) for *_, array in rows]  # [row][channel]
    limits = _limits([array for *_, array in rows], channels)
    panels = []
    for i in range(shown):
        drawn = []
        for number, ends in enumerate(limits):
            lines = [
                (f"over stage-{stage}", f"{symbol} {who}", own[number][i])
                for (symbol, who, stage, _), own in zip(rows, curves, strict=True)
            ]
            which = f", channel {number + 1}" if len(limits) > 1 else ""
            drawn.append(charts.overlay(lines, ends, f"observation {i + 1} and its reconstructions{which}"))
        panels.append(Markup("").join(drawn))
    legend = tuple((symbol, who, f"stage-{stage}") for symbol, who, stage, _ in rows)
    return Reconstructions((), tuple(panels), legend, shown)


def _curves(array: Array, channels: Channels | None) -> list[Array]:
    """The lines that vectors are drawn as: one for all values, or one for each channel in its own units."""
    return [array] if channels is None else list(channels.split(array))


def traversals(run: RunFiles, most: int | None = None, last_only: bool = False) -> tuple[TraversalGroup, ...]:
    """For every stage its latents; for every latent the outputs of that stage and of all later ones in turn."""
    pictures = run.pictures
    if pictures is None:
        return ()
    stages = sorted({moved for moved, _ in pictures.traversals if moved <= len(run.stages)})
    return tuple(_group(run, pictures, stage, most, last_only) for stage in stages)


def _group(run: RunFiles, pictures: Pictures, moved: int, most: int | None, last_only: bool) -> TraversalGroup:
    symbols, methods = stage_names(run)
    outputs = {
        shown: array
        for (source, shown), array in pictures.traversals.items()
        if source == moved and shown <= len(run.stages)
    }
    if last_only:
        outputs = dict(list(outputs.items())[-1:])
    count = len(next(iter(outputs.values())))
    known = run.tables.get(moved)
    which = pictures.codes.get(moved, np.arange(count))
    fits = known is not None and len(which) == count and int(which.max(initial=0)) < len(known.columns)
    names = tuple(known.columns[k] for k in which) if known and fits else latent_names(count)
    information = known.information[which] if known and fits and known.information is not None else None
    largest = float(np.nanmax(information)) if information is not None else 1.0
    used = in_use(known)[which] if known and information is not None else np.ones(count, dtype=bool)
    about = (meanings(run) if moved == 1 else {}) | given_names(run, moved)
    values = pictures.values.get(moved)
    images = pictures.are_images
    limits = [] if images else _limits(list(pictures.traversals.values()), run.channels)
    ends = None if run.columns is None else column_limits(run.columns, list(pictures.traversals.values()))

    def block(j: int) -> LatentBlock:
        strips, effects = [], []
        for shown, array in outputs.items():
            symbol, who = symbols[shown - 1], methods[shown - 1]
            if images:
                strips.append(strip(array[j], symbol, who, f"stage-{shown}", 64))
            else:
                at, label = None if values is None else values[j], f"{symbol} as {names[j]} is moved"
                if run.columns is not None and ends is not None:
                    drawn = moved_columns(run.columns, array[j], ends, label)
                else:
                    curves = zip(_curves(array[j], run.channels), limits, strict=True)
                    drawn = Markup("").join(charts.effect(curve, at, span, label) for curve, span in curves)
                effects.append((symbol, who, shown, drawn))
        amount = None if information is None else float(information[j])
        share = 0.0 if amount is None or largest <= 0 else max(0.0, amount / largest)
        return LatentBlock(
            names[j], about.get(names[j], ""), amount, share, bool(used[j]), tuple(strips), tuple(effects)
        )

    order = by_information(information, count)[:most]
    return TraversalGroup(
        moved,
        methods[moved - 1],
        tuple(symbols[shown - 1] for shown in outputs),
        _span(values),
        None if images else charts.colour_key(values),
        tuple(block(j) for j in order),
    )


def _limits(arrays: list[Array], channels: Channels | None) -> list[tuple[float, float]]:
    """The vertical range of every line that vectors are drawn as, the same for all of them."""
    curves = [_curves(array, channels) for array in arrays]
    return [charts.vertical_range(list(channel)) for channel in zip(*curves, strict=True)]


def given_names(run: RunFiles, stage: int) -> dict[str, str]:
    """What people have called the latents of a stage: names.json."""
    prefix = stage_prefix(stage)
    own = {key.removeprefix(prefix): name for key, name in run.names.items() if key.startswith(prefix)}
    return {column: name for column, name in own.items() if "/" not in column}


def _span(values: Array | None) -> str:
    if values is None or not values.size:
        return ""
    low, high = values.min(axis=1), values.max(axis=1)
    if np.allclose(low, low[0]) and np.allclose(high, high[0]):
        return f"from {words.tick(float(low[0]))} to {words.tick(float(high[0]))}"
    return "over the range that each takes"
