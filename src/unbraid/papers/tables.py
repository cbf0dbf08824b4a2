"""Tables and pictures of a study's page: means over seeds with intervals, settings side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from scipy.stats import t as student

from unbraid.papers.study import Finished
from unbraid.util.files import complete_file

NOT_MEASURED = "–"
COLOURS = ("#2f6fbf", "#b3541e")  # ours, and what it is compared with


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]], *, figures: bool = True) -> str:
    """A Markdown table; the first column is text, the rest `figures` (set right) or text."""
    rule = ["---", *["---:" if figures else "---"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))


def setting(here: Mapping[str, str], paper: Mapping[str, str]) -> str:
    """What was done here beside what the paper did, a row for each point."""
    return markdown(["", "here", "paper"], [[name, here[name], paper[name]] for name in here], figures=False)


def groups(finished: Sequence[Finished]) -> dict[str, list[Finished]]:
    """The trials of each row, in the order of their first appearance."""
    found: dict[str, list[Finished]] = {}
    for one in finished:
        found.setdefault(one.trial.group, []).append(one)
    return found


def mean_and_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean over seeds and its 95 % Student interval (the mean itself, if there is one seed)."""
    mean, n = float(np.mean(values)), len(values)
    if n < 2:
        return mean, mean, mean
    half = float(student.ppf(0.975, n - 1) * np.std(values, ddof=1) / np.sqrt(n))
    return mean, mean - half, mean + half


def with_interval(values: Sequence[float], digits: int = 3) -> str:
    """`0.312 [0.280, 0.344]`; a dash for what was not measured."""
    if np.isnan(values).any():
        return NOT_MEASURED
    mean, low, high = mean_and_interval(values)
    shown = f"{mean:.{digits}f}"
    return shown if len(values) < 2 else f"{shown} [{low:.{digits}f}, {high:.{digits}f}]"


def summary(finished: Sequence[Finished], columns: Mapping[str, tuple[str, int]]) -> str:
    """A row for each group: the mean and interval of each figure. `columns`: figure → (heading, digits)."""
    rows = [
        [group, *(with_interval([r.figures[name] for r in runs], digits) for name, (_, digits) in columns.items())]
        for group, runs in groups(finished).items()
    ]
    return markdown(["", *(heading for heading, _ in columns.values())], rows)


def every_run(finished: Sequence[Finished], columns: Mapping[str, tuple[str, int]]) -> str:
    """A row for each run."""
    rows = [
        [
            one.trial.group,
            str(one.trial.seed),
            *(with_interval([one.figures[name]], digits) for name, (_, digits) in columns.items()),
            f"{one.seconds:.0f}",
        ]
        for one in finished
    ]
    return markdown(["", "seed", *(heading for heading, _ in columns.values()), "training, s"], rows)


def dots(path: Path, finished: Sequence[Finished], columns: Mapping[str, tuple[str, int]]) -> None:
    """A panel for each figure: one dot a run, a bar at the mean of its group."""
    with matplotlib.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(2.1 * len(columns) + 1.2, 0.32 * len(groups(finished)) + 0.9))
        panels = figure.subplots(1, len(columns), sharey=True, squeeze=False)[0]
        for panel, (name, (heading, _)) in zip(panels, columns.items(), strict=True):
            for row, runs in enumerate(groups(finished).values()):
                values = [run.figures[name] for run in runs]
                panel.plot(values, [row] * len(values), "o", ms=4, alpha=0.6, color=COLOURS[0], mew=0)
                panel.plot([np.mean(values)], [row], "|", ms=12, mew=2, color="#1c1d1f")
            panel.set_title(heading, fontsize=9)
            panel.grid(axis="x", alpha=0.25)
        panels[0].set_yticks(range(len(groups(finished))), list(groups(finished)))
        panels[0].invert_yaxis()
        figure.tight_layout()
        with complete_file(path) as place:
            figure.savefig(place, dpi=130, format="png", metadata={"Software": None})


def scatter(
    path: Path, finished: Sequence[Finished], across: tuple[str, str], up: tuple[str, str], *, log: bool = False
) -> None:
    """One figure against another, a colour for each group; each is (name, heading)."""
    with matplotlib.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(5.4, 3.4))
        panel = figure.subplots()
        for runs in groups(finished).values():
            x, y = ([run.figures[name] for run in runs] for name in (across[0], up[0]))
            panel.plot(x, y, "o", ms=6, alpha=0.75, mew=0, label=runs[0].trial.group)
        panel.set_xlabel(across[1])
        panel.set_ylabel(up[1])
        if log:
            panel.set_xscale("log")
        panel.grid(alpha=0.25)
        panel.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
        figure.tight_layout()
        with complete_file(path) as place:
            figure.savefig(place, dpi=130, format="png", metadata={"Software": None})
