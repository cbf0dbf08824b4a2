"""The page of benchmarks/time_to_quality.py: a plot, a table and what to know of both."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
from matplotlib import pyplot as plt

TITLES = {"fast": "unbraid, fast recipe", "paper": "unbraid, --recipe paper", "pythae": "pythae, its defaults"}
COLOURS = {"fast": "#1f6fb4", "paper": "#d9822b", "pythae": "#5a9e4b"}
Results = Sequence[Mapping[str, Any]]

TEXT = """# Time to quality

What counts is not steps per second but what has been learned after so many seconds. CPU seconds of one thread against
MIG (how well single codes tell single factors; higher is better) and against the squared error of reconstructions
(lower is better), for the fast recipes that `unbraid fit` takes by itself, the papers' own settings in the same code
(`--recipe paper`), and pythae's β-TCVAE with its own trainer, networks and settings. Written by

    OMP_NUM_THREADS=1 python benchmarks/time_to_quality.py --pythae PYTHON --page docs/time-to-quality.md

![MIG and squared error against CPU seconds]({plot})

*Thick lines are means over seeds, thin ones single seeds. In the lower row the first dots of a line are the first
stage's own reconstructions, and those after the gap the second stage's.*

{table}

M1 to M4 say whether the second stage keeps to the first one's codes ([metrics.md](metrics.md)); M2 > M1 > M3 ≫ M4 is as
it should be. «of stage 1» is the squared error of x̂ as a part of y's.

{ablation}## What to know of these figures
- The time is a few minutes on one core. That is what the fast recipe is made for, and the papers' settings and
  pythae's are not: they are for hours on a GPU, where they do better than here. This is what a user with minutes gets.
- `scenes` was drawn so that its factors can be found, and the fast recipe was chosen on it and on `sprites`. Cars3D
  played a part in one thing: that x̂ is cut to [0, 1] in training (with a seed that is not reported).
- Steps are chosen beforehand by the pace of a few, so that contestants end some seconds apart: compare them at equal
  CPU seconds, not at their ends.
- Weights on the way are of the same run, whose learning rate falls to its end: a run that was made for a quarter of the
  time would be better than the line shows at its quarter.
- pythae's default β is 1 and its default networks are not convolutional; whoever sets them will do better.
- CPU seconds are of training alone (with y for the second stage), divided among steps evenly. Scores are of training
  data: MIG of up to 10,000 observations, errors and M1 to M4 of 1,000.
- {count} runs so far, seeds {seeds}. Seeds differ as much as settings do: of one seed only large differences count. The
  command above goes on with the runs that are missing here.
"""

ABLATION = """## Which part earns what
The fast first stage without one of its parts at a time, {seconds:.0f} CPU seconds each: means, with the least and the
greatest over seeds {seeds}, which are reported nowhere else. «Against the recipe» is the difference in MIG, seed by
seed; of one seed it is a direction and no result. Written by `benchmarks/ablation.py`, which goes on with what is
missing.

{table}

"""


def write_page(path: Path, results: Results, seconds: Mapping[str, Sequence[float]], parts: Results = ()) -> None:
    """Write the page, and its plot beside it.

    Args:
        path: where to.
        results: the runs of the contestants.
        seconds: CPU seconds of the stages, by data set.
        parts: the runs of the ablation.
    """
    plot = path.with_suffix(".png")
    names = [name for name in seconds if any(result["data"] == name for result in results)]
    draw(plot, results, names)
    seeds = ", ".join(map(str, sorted({result["seed"] for result in results})))
    ablation = ""
    if parts:
        known = {
            "seconds": np.mean([part["seconds"] for part in parts]),
            "seeds": ", ".join(map(str, sorted({part["seed"] for part in parts}))),
            "table": ablation_table(parts),
        }
        ablation = ABLATION.format(**known)
    text = TEXT.format(plot=plot.name, table=table(results, names), count=len(results), seeds=seeds, ablation=ablation)
    path.write_text(text, encoding="utf-8")


def chosen(results: Results, data: str, contestant: str) -> Results:
    """The runs of one contestant on one data set."""
    return [result for result in results if result["data"] == data and result["contestant"] == contestant]


def table(results: Results, names: Sequence[str]) -> str:
    """A line for every data set and contestant; means, with the least and the greatest of several seeds."""
    heads = ("data", "contestant", "CPU s", "steps", "MIG", "L2 of stage 1", "of stage 1", "M1", "M2", "M3", "M4")
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for data in names:
        for contestant, title in TITLES.items():
            runs = chosen(results, data, contestant)
            if not runs:
                continue
            first = [{"l2": run["stages"][0]["points"][-1]["l2"]} for run in runs]
            counts = np.mean([[stage["steps"] for stage in run["stages"]] for run in runs], axis=0)
            steps = [f"{count:,.0f}" for count in counts]
            cells = [data, title, f"{np.mean([run['seconds'] for run in runs]):.0f}", " + ".join(steps)]
            cells += [spread(runs, "mig", 2), spread(first, "l2", 4), spread(runs, "l2_part", 2)]
            cells += [spread(runs, name, 2, whole=False) for name in ("M1", "M2", "M3", "M4")]
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def ablation_table(results: Results) -> str:
    """A line for every part of the recipe and data set: mean and range over seeds, and the same against the recipe."""
    heads = ("data", "what is changed", "CPU s", "steps", "MIG", "against the recipe", "squared error")
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for data, number in sorted({(result["data"], result["number"]) for result in results}):
        whole = {run["seed"]: run["mig"] for run in results if run["data"] == data and not run["number"]}
        runs = [run for run in results if run["data"] == data and run["number"] == number]
        seconds, steps = (np.mean([run[name] for run in runs]) for name in ("seconds", "steps"))
        ahead = [run["mig"] - whole[run["seed"]] for run in runs if run["seed"] in whole and number]
        signs = f"{np.mean(ahead):+.2f}" if ahead else "–"
        signs += f" ({min(ahead):+.2f} to {max(ahead):+.2f})" if len(ahead) > 1 else ""
        signs = signs.replace("-", "−")
        cells = [data, runs[0]["part"], f"{seconds:.0f}", f"{steps:,.0f}", spread(runs, "mig", 2), signs]
        lines.append(f"| {' | '.join([*cells, spread(runs, 'l2', 4)])} |")
    return "\n".join(lines)


def spread(runs: Results, name: str, digits: int, *, whole: bool = True) -> str:
    """The mean of a score over runs, with its range if there are several; a dash where they have none."""
    values = [run[name] for run in runs if name in run]
    if not values:
        return "–"
    mean = f"{np.mean(values):.{digits}f}"
    return f"{mean} ({min(values):.{digits}f}–{max(values):.{digits}f})" if whole and len(values) > 1 else mean


def draw(path: Path, results: Results, names: Sequence[str]) -> None:
    """MIG above, squared error below, a column for every data set."""
    figure, axes = plt.subplots(2, len(names), figsize=(3.4 * len(names), 5.2), squeeze=False)
    for column, data in enumerate(names):
        for contestant, title in TITLES.items():
            runs = chosen(results, data, contestant)
            if not runs:
                continue
            colour = COLOURS[contestant]
            curves(axes[0, column], [run["stages"][0]["points"] for run in runs], "mig", colour, title)
            for stage in range(len(runs[0]["stages"])):
                curves(axes[1, column], [run["stages"][stage]["points"] for run in runs], "l2", colour, None)
        axes[0, column].set(title=data, ylim=(0, None))
        axes[1, column].set(xlabel="CPU seconds", ylim=(0, None))
        for axis in axes[:, column]:
            axis.set_xlim(left=0)
            axis.spines[["top", "right"]].set_visible(False)
    axes[0, 0].set_ylabel("MIG")
    axes[1, 0].set_ylabel("squared error")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="upper center", ncols=3, frameon=False, fontsize=8)
    figure.tight_layout(rect=(0, 0, 1, 0.96))
    figure.savefig(path, dpi=110)
    plt.close(figure)


def curves(axis: Any, runs: Sequence[Sequence[Mapping[str, float]]], name: str, colour: str, title: str | None) -> None:
    """A thin line for every seed and a thick one for their mean, point by point."""
    for points in runs:
        axis.plot([p["seconds"] for p in points], [p[name] for p in points], color=colour, linewidth=0.7, alpha=0.5)
    middle = [np.mean([[p["seconds"], p[name]] for p in marks], axis=0) for marks in zip(*runs, strict=True)]
    axis.plot(*np.transpose(middle), color=colour, linewidth=2, marker="o", markersize=3, label=title)
