"""Tables and pictures of the page on Cars3D: every model by β, with the first stage of each MS-VAE as a row."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from unbraid.api import Run
from unbraid.papers import plots, tables
from unbraid.papers.measures import chains
from unbraid.papers.study import Finished

STAGE_1, LARGER, BIG, BIG_VAE = "β-TCVAE", "β-TCVAE-L", "Big-β-TCVAE", "Big-VAE"
JACOBIAN, OURS = "Jacobian supervision", "MS-VAE"
MIDDLE = 4.0  # the published configuration's β: of Big-β-TCVAE, and where FID is taken of everything
PARTS = {"c": "C", "z": "Z", "c+z": "C and Z"}
COLOURS = {STAGE_1: "#8a8a8a", LARGER: "#7a5ea8", OURS: plots.COLOURS[0], JACOBIAN: plots.COLOURS[1]}
COLOURS |= {BIG: "#3a8f5c", BIG_VAE: "#c09a2b"}


def parted(group: str) -> tuple[float, str]:
    """β and the model's name of a row; Big-VAE has no β."""
    beta, _, name = group.rpartition(": ")
    return (float(beta.removeprefix("β ")) if beta else 0.0), name


def with_stage_1(finished: Sequence[Finished]) -> list[Finished]:
    """All runs in order of β, with stage 1 of each MS-VAE as a row of its own."""
    found = []
    for one in finished:
        found.append(one)
        beta, name = parted(one.trial.group)
        if name == OURS:
            figures = {name: one.figures[f"first-{name}"] for name in ("fid", "kid", "l1", "l2")}
            missing = dict.fromkeys(COLUMNS | CONDITIONING, chains.NOTHING)
            trial = dataclasses.replace(one.trial, group=f"β {beta:g}: {STAGE_1}")
            found.append(Finished(trial, one.folder, missing | figures | {"mig": one.figures["mig"]}, one.seconds))
    names = (STAGE_1, LARGER, BIG, JACOBIAN, OURS, BIG_VAE)
    return sorted(found, key=lambda one: (parted(one.trial.group)[0], names.index(parted(one.trial.group)[1])))


COLUMNS = {
    "fid": ("FID", 0),
    "kid": ("KID", 3),
    "random-fid": ("FID, random z", 0),
    "random-kid": ("KID, random z", 3),
    "l1": ("L1", 4),
    "l2": ("L2", 4),
    "mig": ("MIG", 3),
    "mig-made": ("MIG of x̂", 3),
}
CONDITIONING = {name: (name, 3) for name in ("M2", "M1", "M3", "M4")}
CONDITIONING |= {"M3-other": ("M3, another's z", 3), "M4-other": ("M4, another's y", 3), "floor": ("floor", 3)}


def draw(panel: Any, runs: Sequence[Finished], name: str, colour: str, label: str) -> None:
    """A figure of these runs against their β."""
    points = [(parted(one.trial.group)[0], one.figures[name]) for one in runs if np.isfinite(one.figures[name])]
    plots.line_of_means(panel, points, colour, label)


def of(finished: Sequence[Finished], name: str) -> list[Finished]:
    """The runs of one model."""
    return [one for one in finished if parted(one.trial.group)[1] == name]


def ratios(finished: Sequence[Finished]) -> str:
    """What a second stage leaves of stage 1's distances, seed by seed; a student's teacher is MS-VAE's stage 1."""
    first = {(parted(one.trial.group)[0], one.trial.seed): one.figures for one in of(finished, OURS)}
    rows = []
    for group, runs in tables.groups([*of(finished, OURS), *of(finished, JACOBIAN)]).items():
        pairs = [(run.figures, first.get((parted(group)[0], run.trial.seed))) for run in runs]
        found = [[own[n] / base[f"first-{n}"] for own, base in pairs if base] for n in ("fid", "kid", "l1", "l2")]
        rows.append([group, *(tables.with_interval(values, 2) if values else "–" for values in found)])
    return tables.markdown(["", "FID", "KID", "L1", "L2"], rows)


def ordering(finished: Sequence[Finished]) -> str:
    """In how many runs M2 > M1 > M3 ≫ M4 holds, and by how much: all four are of one run, so that differences count."""
    ours, rows = of(finished, OURS), []
    for group, runs in [*tables.groups(ours).items(), ("all of them", ours)]:
        m = {name: np.array([run.figures[name] for run in runs]) for name in ("M1", "M2", "M3", "M4")}
        holds = (m["M2"] > m["M1"], m["M1"] > m["M3"], m["M3"] > 3 * m["M4"])
        more, less = (tables.with_interval(list(m[one] - m[two])) for one, two in (("M2", "M1"), ("M1", "M3")))
        counts = [f"{int(it.sum())} of {len(it)}" for it in holds]
        rows.append([group, counts[0], more, counts[1], less, counts[2]])
    return tables.markdown(["", "M2 > M1", "M2 − M1", "M1 > M3", "M1 − M3", "M3 > 3·M4"], rows)


def accuracies(finished: Sequence[Finished]) -> str:
    """How well factors are read off C, Z and both, by β (figure 6)."""
    rows = []
    for group, found in tables.groups(of(finished, OURS)).items():
        runs = [Run.open(one.folder) for one in found]
        for factor in [*(f.name for f in runs[0].data.factor_info), None]:
            cells = [tables.with_interval([chains.downstream(run, part, factor) for run in runs], 2) for part in PARTS]
            rows.append([group.split(":")[0], factor or "all", *cells])
    return tables.markdown(["", "factor", *PARTS.values()], rows)


def over_beta(path: Path, finished: Sequence[Finished]) -> None:
    """Figures 4, 5 and 6: distances, MIG, M1 to M4 and accuracies against β, a dot a run and a line of means."""
    panels_of = {"kid": "KID", "l2": "L2", "mig": "MIG of c"}
    with plots.plain_style():
        figure = Figure(figsize=(14, 3.1), layout="constrained")
        panels = figure.subplots(1, 5)

        for panel, (name, title) in zip(panels, panels_of.items(), strict=False):
            for model, colour in COLOURS.items():
                if model == BIG_VAE:
                    values = [one.figures[name] for one in of(finished, model)]
                    if values and name != "mig" and np.isfinite(values).all():
                        panel.axhline(np.mean(values), color=colour, lw=1, ls="--", label=model)
                else:
                    draw(panel, of(finished, model), name, colour, model)
            panel.set(title=title, xlabel="β")
        for name, colour in zip(("M1", "M2", "M3", "M4"), ("#2f6fbf", "#c0392b", "#3a8f5c", "#7a5ea8"), strict=True):
            draw(panels[3], of(finished, OURS), name, colour, name)
        draw(panels[3], of(finished, OURS), "floor", "0.6", "floor of M4")
        panels[3].set(title="what x̂ tells of c", xlabel="β")
        for (name, label), colour in zip(PARTS.items(), ("#2f6fbf", "#c0392b", "#1c1d1f"), strict=True):
            draw(panels[4], of(finished, OURS), f"downstream-{name}", colour, label)
        panels[4].set(title="accuracy, mean over factors", xlabel="β")
        for panel in panels:
            panel.grid(alpha=0.25)
            if panel.get_legend_handles_labels()[0]:
                panel.legend(frameon=False, fontsize=7)
        plots.save_figure(figure, path)


def pictures(folder: Path, stem: str, finished: Sequence[Finished]) -> None:
    """The same images through every model, and what moving the codes does to y and x̂."""
    runs = {group: Run.open(found[0].folder) for group, found in tables.groups(finished).items()}
    ours = runs.get(f"β {MIDDLE:g}: {OURS}") or next(iter(runs.values()))
    rows = np.random.default_rng(7).permutation(len(ours.data))[:12]
    shown = [("images", np.asarray(ours.data.observations[rows]))]
    for group, run in runs.items():
        shown.append((group, chains.outputs(run, rows)[0 if parted(group)[1] == STAGE_1 else -1]))
    plots.image_rows(folder / f"{stem}-reconstructions.png", shown)
    chains.traversals(folder / f"{stem}-traversals.png", ours, row=int(rows[7]), codes=5)
