"""MS-VAE, appendix A: how many codes c and z. Figures 7 and 8, and the traversals of figures 9 and 10."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from unbraid.api import Run
from unbraid.evaluation.table import row_losses
from unbraid.methods import MSVAE, BetaTCVAE
from unbraid.papers import plots, tables
from unbraid.papers.measures import chains, distances, exchanged
from unbraid.papers.rows_over_beta import MIDDLE
from unbraid.papers.studies import ms_vae_cars as cars
from unbraid.papers.study import Finished, Scale, Study, Trial

BETA = MIDDLE
SMALL, USUAL = (2, 8), (10, 5)  # (c, z) of figures 9 and 10
LOST = "lost-fid"


@dataclass(frozen=True)
class Setting:
    """What the scales differ in; the stages are those of `ms-vae/cars` with other numbers of codes."""

    c: tuple[int, ...]  # beside those of SMALL and USUAL
    z: tuple[int, ...]
    seeds: int
    images: int  # that FID and KID are taken over


SETTINGS: dict[Scale, Setting] = {
    "smoke": Setting((), (5,), 1, 0),
    "desk": Setting((5, 50), (5, 10, 50, 90), 5, 100),
    "paper": Setting((1, *range(3, 10), 20, 50), (5, 10, 50, 90), 10, 10_000),
}
PAPER_SETTING = {
    "data": "Cars3D (and SmallNORB), 64×64",
    "β": "4",
    "codes c": "1 to 10, 20, 50",
    "codes z": "5, 10, 50, 90 with 10 c; traversals of 2 c and 8 z",
    "stages": "as in §4",
    "FID": "all full batches of 32 (authors' code)",
    "seeds": "not given",
}


def trials(scale: Scale) -> list[Trial]:
    """MS-VAE with each number of z behind one stage 1; then stage 1 alone with other numbers of c."""
    s, base = SETTINGS[scale], cars.SETTINGS[scale]
    first, made = cars.first_stage(base, BETA), []
    for seed in range(s.seeds):
        for c, z in (*((USUAL[0], z) for z in s.z), SMALL, *((c, 0) for c in s.c)):
            stages: tuple[BetaTCVAE | MSVAE, ...] = (dataclasses.replace(first, latents=c),)
            if z:
                stages += (dataclasses.replace(base.second, latents=z),)
            group = f"{c} c, {z} z" if z else f"{c} c"
            made.append(Trial(group, base.data, stages, base.steps[: len(stages)], seed, base.arguments))
    return made


def codes(one: Finished) -> tuple[int, int]:
    """How many c and z a run has."""
    found = [int(stage.latents) for stage in one.trial.stages]  # type: ignore[attr-defined]
    return found[0], sum(found[1:])


def elbo(run: Run) -> float:
    """Stage 1's evidence lower bound, in nats an image: β is left out of it."""
    table = run.encode(show=False)
    losses = row_losses(run, table.rows[exchanged.places(run)], False)
    assert losses is not None
    return -float(losses.mean()) - float(table.arrays["information"].sum())


def z_information(run: Run) -> float:
    """What z tells of the observation beyond y, in nats: the sum of its codes' KL."""
    if not chains.has_second_stage(run):
        return chains.NOTHING
    return float(run.encode(show=False).arrays["stage-2/information"].sum())


def images(run: Run) -> int:
    """How many images FID is taken over: of chains with the usual number of c."""
    full = run.plan.stages[0][0].latents == USUAL[0] and chains.has_second_stage(run)  # type: ignore[attr-defined]
    scale = next(name for name, s in cars.SETTINGS.items() if cars.is_of(s, run))
    return SETTINGS[scale].images if full else 0


def no_images(run: Run) -> int:
    """None of stage 1's: its FID is on the page of `ms-vae/cars`."""
    return 0


MEASURES: chains.Measures = {
    "mig": chains.mig,
    "elbo": elbo,
    "z-information": z_information,
    **chains.errors(),
    **chains.conditionings(),
    **exchanged.MEASURES,
    **distances.distances(images, no_images, images),
}
OF_C = {"mig": ("MIG", 3), "elbo": ("ELBO, nats", 1), "first-l2": ("L2 of y", 4)}
OF_Z = {
    "fid": ("FID", 0),
    "kid": ("KID", 3),
    "random-fid": ("FID, random z", 0),
    "random-kid": ("KID, random z", 3),
    "l2": ("L2", 4),
    "z-information": ("z tells, nats", 1),
    "mig": ("MIG", 3),
    "mig-made": ("MIG of x̂", 3),
    **{name: (name, 3) for name in ("M1", "M2", "M3", "M4")},
    "M3-other": ("M3, another's z", 3),
    "floor": ("floor of M4", 3),
}


def by_c(finished: Sequence[Finished]) -> list[Finished]:
    """One run for each number of c and seed, named for it: stage 1 is the same whatever z there is."""
    found: dict[tuple[int, int], Finished] = {}
    for one in finished:
        c, z = codes(one)
        figures = {**one.figures, "first-l2": one.figures["first-l2" if z else "l2"]}
        trial = dataclasses.replace(one.trial, group=f"{c} c")
        found.setdefault((c, one.trial.seed), dataclasses.replace(one, trial=trial, figures=figures))
    return [found[key] for key in sorted(found)]


def by_z(finished: Sequence[Finished]) -> list[Finished]:
    """The runs with the usual number of c, by their number of z, with what their FID loses when z is random."""
    chosen = sorted((one for one in finished if codes(one)[0] == USUAL[0] and codes(one)[1]), key=codes)
    lost = [{**one.figures, LOST: one.figures["random-fid"] - one.figures["fid"]} for one in chosen]
    return [dataclasses.replace(one, figures=figures) for one, figures in zip(chosen, lost, strict=True)]


def draw(path: Path, finished: Sequence[Finished]) -> None:
    """Figure 7 on the left, figure 8 on the right."""
    lines = {
        "MIG, by c": (by_c(finished), 0, {"mig": "MIG"}),
        "ELBO, by c": (by_c(finished), 0, {"elbo": "ELBO"}),
        "KID, by z": (by_z(finished), 1, {"kid": "reconstructions", "random-kid": "random z"}),
        "MIG, by z": (by_z(finished), 1, {"mig": "of x", "mig-made": "of x̂"}),
        "what x̂ tells of c, by z": (by_z(finished), 1, {name: name for name in ("M1", "M2", "M3", "M4")}),
    }
    colours = ("#2f6fbf", "#c0392b", "#3a8f5c", "#7a5ea8")
    with plots.plain_style():
        figure = Figure(figsize=(14, 3), layout="constrained")
        for panel, (title, (runs, which, names)) in zip(figure.subplots(1, len(lines)), lines.items(), strict=True):
            for (name, label), colour in zip(names.items(), colours, strict=False):
                points = [(float(codes(one)[which]), one.figures[name]) for one in runs]
                plots.line_of_means(panel, [p for p in points if np.isfinite(p[1])], colour, label)
            places = sorted({codes(one)[which] for one in runs})
            panel.set(title=title, xscale="log", xticks=places, xticklabels=[str(place) for place in places])
            panel.minorticks_off()
            panel.grid(alpha=0.25)
            if len(panel.get_legend_handles_labels()[0]) > 1:
                panel.legend(frameon=False, fontsize=7)
        plots.save_figure(figure, path)


def page(scale: Scale, finished: Sequence[Finished], folder: Path, stem: str) -> str:
    """The study as Markdown, with its pictures beside it."""
    s, base = SETTINGS[scale], cars.SETTINGS[scale]
    draw(folder / f"{stem}.png", finished)
    shown = []
    for pair, name in ((SMALL, "few"), (USUAL, "usual")):
        runs = [one for one in finished if codes(one) == pair]
        if runs:
            run = Run.open(runs[0].folder)
            row = int(np.random.default_rng(7).permutation(len(run.data))[7])
            chains.traversals(folder / f"{stem}-{name}.png", run, row=row, codes=min(4, pair[0]))
            shown.append(f"{pair[0]} c and {pair[1]} z; y and x̂ in alternate rows, z stays:")
            shown.append(f"![traversals with {pair[0]} c and {pair[1]} z]({stem}-{name}.png)")
    side = cars.spec(scale).shape[-1]
    ours = {
        "data": f"{base.data}, {side}×{side}",
        "β": f"{BETA:g}, all weights times {base.weight:g} for the number of values",
        "codes c": ", ".join(str(c) for c in sorted({*s.c, SMALL[0], USUAL[0]})),
        "codes z": f"{', '.join(str(z) for z in s.z)} with {USUAL[0]} c; {SMALL[1]} with {SMALL[0]} c",
        "stages": "those of [ms-vae/cars](ms-vae-cars.md)",
        "FID": f"{s.images:,} images, the same for every model",
        "seeds": str(s.seeds),
    }
    return tables.document(
        f"MS-VAE: how many codes c and z ({scale} scale)",
        "Appendix A. The paper finds that 10 c join a high MIG to a high ELBO, and that few z (5 on Cars3D) join good "
        "reconstructions, good images with random z and a hold of c; with 2 c y is blurred, factors are mixed and z "
        "has much to add.",
        tables.setting(ours, PAPER_SETTING),
        tables.section("How many c (figure 7)", "Stage 1 alone. Means over seeds with 95 % Student intervals."),
        tables.summary(by_c(finished), OF_C),
        f"![MIG and ELBO by c; KID, MIG and M1 to M4 by z]({stem}.png)",
        tables.section(
            "How many z (figure 8)",
            f"MS-VAE behind a stage 1 with {USUAL[0]} c. «Random z»: each image's own y and a z from N(0, 1).",
        ),
        tables.summary(by_z(finished), {"fid": OF_Z["fid"], LOST: ("FID lost with random z", 0), **OF_Z}),
        tables.section("Traversals (figures 9 and 10)", shown[0] if shown else "Not made yet."),
        *shown[1:],
        tables.every_run(finished, {"mig": ("MIG", 3), "elbo": ("ELBO", 1), "first-l2": OF_C["first-l2"], **OF_Z}),
    )


STUDY = Study(
    name="ms-vae/sizes",
    title="Cars3D, appendix A: how many codes c and z",
    trials=trials,
    measures=MEASURES,
    page=page,
)
