"""Pictures of a study's page: one dot a run, one figure against another, rows of images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from unbraid.papers.study import Finished
from unbraid.papers.tables import groups
from unbraid.util.files import complete_file
from unbraid.util.intervals import mean_and_interval

COLOURS = ("#2f6fbf", "#b3541e")  # ours, and what it is compared with


def plain_style() -> AbstractContextManager[None]:
    """The look of all diagrams: small type, no frame at the top and on the right. Use as `with plain_style():`."""
    return matplotlib.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})


def save_figure(figure: Figure, path: Path, *, dpi: int = 130) -> None:
    """Write a figure as PNG, all of it or none; the same figure gives the same bytes.

    Args:
        figure: what was drawn.
        path: where it goes.
        dpi: dots per inch.
    """
    with complete_file(path) as place:
        figure.savefig(place, dpi=dpi, format="png", metadata={"Software": None})


def dots(path: Path, finished: Sequence[Finished], columns: Mapping[str, tuple[str, int]]) -> None:
    """Draw a panel for each figure: one dot a run, a bar at the mean of its group.

    Args:
        path: where the picture goes.
        finished: the runs.
        columns: figure → (heading, digits), as in the tables.
    """
    rows = groups(finished)
    with plain_style():
        figure = Figure(figsize=(2.1 * len(columns) + 1.2, 0.32 * len(rows) + 0.9))
        panels = figure.subplots(1, len(columns), sharey=True, squeeze=False)[0]
        for panel, (name, (heading, _)) in zip(panels, columns.items(), strict=True):
            for row, runs in enumerate(rows.values()):
                values = [run.figures[name] for run in runs]
                panel.plot(values, [row] * len(values), "o", ms=4, alpha=0.6, color=COLOURS[0], mew=0)
                panel.plot([np.mean(values)], [row], "|", ms=12, mew=2, color="#1c1d1f")
            panel.set_title(heading, fontsize=9)
            panel.grid(axis="x", alpha=0.25)
        panels[0].set_yticks(range(len(rows)), list(rows))
        panels[0].invert_yaxis()
        figure.tight_layout()
        save_figure(figure, path)


def scatter(path: Path, finished: Sequence[Finished], across: tuple[str, str], up: tuple[str, str]) -> None:
    """Draw one figure against another, a colour for each group.

    Args:
        path: where the picture goes.
        finished: the runs.
        across: (name, heading) of the horizontal axis.
        up: (name, heading) of the vertical axis.
    """
    with plain_style():
        figure = Figure(figsize=(5.4, 3.4))
        panel = figure.subplots()
        for runs in groups(finished).values():
            x, y = ([run.figures[name] for run in runs] for name in (across[0], up[0]))
            panel.plot(x, y, "o", ms=6, alpha=0.75, mew=0, label=runs[0].trial.group)
        panel.set_xlabel(across[1])
        panel.set_ylabel(up[1])
        panel.grid(alpha=0.25)
        panel.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
        figure.tight_layout()
        save_figure(figure, path)


def line_of_means(panel: Axes, points: Sequence[tuple[float, float]], colour: str, label: str) -> None:
    """Draw a dot a run and a line through the means of the dots above one another.

    Args:
        panel: what to draw on.
        points: (across, up) of each run; none: nothing is drawn.
        colour: of dots and line.
        label: for the legend.
    """
    if not points:
        return
    places = sorted({across for across, _ in points})
    panel.plot(*zip(*points, strict=True), "o", ms=3.5, alpha=0.5, mew=0, color=colour)
    means = [np.mean([up for across, up in points if across == place]) for place in places]
    panel.plot(places, means, "-" if len(places) > 1 else "_", lw=1.4, color=colour, label=label)


Series = Mapping[str, Mapping[float, Sequence[float]]]  # name → setting → a figure of each seed


def lines(path: Path, panels: Sequence[tuple[str, Series]], across: str) -> None:
    """Draw a panel for each figure: its mean over seeds as a setting grows, a line for each method, with intervals.

    Args:
        path: where the picture goes.
        panels: heading and series of each panel; the same methods in all.
        across: what the horizontal axis shows; its values stand at equal distances.
    """
    with plain_style():
        figure = Figure(figsize=(3.6 * len(panels) + 0.4, 3.0))
        for panel, (heading, series) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            places = sorted({setting for found in series.values() for setting in found})
            for number, (name, found) in enumerate(series.items()):
                x = [places.index(setting) for setting in sorted(found)]
                mean, low, high = np.transpose([mean_and_interval(found[setting]) for setting in sorted(found)])
                (line,) = panel.plot(x, mean, "o-", ms=4, color=COLOURS[number % 2], label=name)
                panel.fill_between(x, low, high, color=line.get_color(), alpha=0.15, lw=0)
            panel.set_xticks(range(len(places)), [f"{place:g}" for place in places])
            panel.set_xlabel(across)
            panel.set_title(heading, fontsize=9)
            panel.grid(alpha=0.25)
        panel.legend(frameon=False, fontsize=8)
        figure.tight_layout()
        save_figure(figure, path)


def image_rows(path: Path, rows: Sequence[tuple[str, NDArray[Any]]], *, size: float = 0.72) -> None:
    """Draw rows of images with their names at the left.

    Args:
        path: where the picture goes.
        rows: name and images of each row, [n, height, width, channel].
        size: of an image, in inches.
    """
    with matplotlib.rc_context({"font.size": 9}):
        columns = max(len(images) for _, images in rows)
        names = max(2.1, 0.07 * max(len(name) for name, _ in rows) + 0.15)  # inches
        figure = Figure(figsize=(size * columns + names, size * len(rows)))
        panels = figure.subplots(len(rows), 1, squeeze=False)[:, 0]
        for panel, (name, images) in zip(panels, rows, strict=True):
            strip = np.concatenate(list(images), axis=1)
            panel.imshow(strip if strip.shape[-1] == 3 else strip[..., 0], cmap="gray", vmin=0, vmax=255)
            panel.set_xticks([])
            panel.set_yticks([])
            panel.set_ylabel(name, rotation=0, ha="right", va="center", labelpad=6)
            panel.spines[:].set_visible(False)
        figure.subplots_adjust(left=(names - 0.05) / (size * columns + names), right=1, top=1, bottom=0, hspace=0.02)
        save_figure(figure, path, dpi=110)
