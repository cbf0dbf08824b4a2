"""MS-VAE, appendices E and F.1: MS-GAN against CGAN. Turning an object must not change which object it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from unbraid.api import Run
from unbraid.core import Adam
from unbraid.data.label_budget import LabelBudget
from unbraid.methods import CGAN, MSGAN, Controls
from unbraid.papers import plots, tables
from unbraid.papers.measures import chains, identity
from unbraid.papers.measures.turning import COLUMNS, MEASURES, POINTS, POSE, images, turned_images
from unbraid.papers.study import Finished, Scale, Study, Trial

PLACES, CHANNELS, BASELINE = "MS-GAN", "MS-GAN, styles of channels", "CGAN"
COLOURS = {PLACES: plots.COLOURS[0], CHANNELS: "#93b7e2", BASELINE: plots.COLOURS[1]}
SMALL = {"size": 32}


@dataclass(frozen=True)
class Setting:
    """What the scales differ in."""

    data: Mapping[str, Mapping[str, Any]]  # name → arguments
    width: float
    cgan_width: float  # of its generator: with twice the width it multiplies as often as MS-GAN's, which also goes down
    critic_width: float
    first_steps: int
    steps: int
    batch: int
    latents: int
    lr: float
    critic_lr: float
    seeds: int
    methods: tuple[str, ...] = (BASELINE, PLACES, CHANNELS)


SETTINGS: dict[Scale, Setting] = {
    "smoke": Setting({"toys": {"objects": 4}}, 0.05, 0.1, 0.05, 3, 3, 8, 10, 2e-4, 4e-4, 1),
    "desk": Setting({"cars3d": SMALL}, 0.25, 0.5, 0.5, 500, 4_500, 32, 10, 2e-4, 4e-4, 3, (BASELINE, PLACES)),
    "paper": Setting({"toys": {}, "cars3d": {}}, 1.0, 2.0, 1.0, 46_875, 46_875, 32, 100, 1e-4, 1e-4, 3),
}
PAPER_SETTING = {
    "data": "rendered faces, chairs and cars, with the controls of the renderer; CelebA",
    "given": "pose, of every image",
    "networks": "DCGAN's stacks; MS-GAN with AdaIN and no batch norm in the generator, in the authors' code with a "
    "scale and a shift for every place; 100 z",
    "steps": "authors' code: 46,875, batch 32; Adam 1e-4, β₁ 0.5",
    "measure": "none: traversals are shown (figures 21–31)",
    "seeds": "1",
}


def trials(scale: Scale) -> list[Trial]:
    """All methods on every data set from every seed, with the pose of every image given and its object never."""
    s = SETTINGS[scale]
    adam, critic_adam = Adam(lr=s.lr, beta1=0.5), Adam(lr=s.critic_lr, beta1=0.5)
    gan: dict[str, Any] = {"batch_size": s.batch, "adam": adam, "critic_adam": critic_adam}
    gan |= {"critic_width": s.critic_width, "latents": s.latents}
    keep = tuple(chains.step_after(s.steps, part) for part in POINTS)
    made = []
    for seed in range(s.seeds):
        for data, arguments in s.data.items():
            controls = Controls(factors=POSE, width=max(s.width, 0.1), adam=Adam(lr=1e-3))
            placed, whole = (MSGAN(width=s.width, styles=styles, **gan) for styles in ("places", "channels"))
            for name, stages, steps in (
                (BASELINE, (CGAN(factors=POSE, width=s.cgan_width, **gan),), (s.steps,)),
                (PLACES, (controls, placed), (s.first_steps, s.steps)),
                (CHANNELS, (controls, whole), (s.first_steps, s.steps)),
            ):
                budget = LabelBudget("all", POSE)
                if name not in s.methods:
                    continue
                made.append(Trial(f"{data}: {name}", data, stages, steps, seed, arguments, budget, keep))
    return made


def curves(path: Path, finished: Sequence[Finished]) -> None:
    """Identity change over training, a panel for each data set and a line for each run."""
    names = list(dict.fromkeys(one.trial.data for one in finished))
    figure = Figure(figsize=(4.2 * len(names), 3.2), layout="constrained")
    for panel, name in zip(figure.subplots(1, len(names), squeeze=False)[0], names, strict=True):
        runs = [one for one in finished if one.trial.data == name]
        labelled: set[str] = set()
        for one in runs:
            method = one.trial.group.split(": ")[1]
            steps = [*one.trial.keep, one.trial.steps[-1]]
            values = [one.figures[f"identity-{part:g}"] for part in POINTS] + [one.figures["identity"]]
            label = None if method in labelled else method
            labelled.add(method)
            panel.plot(steps, values, "o-", ms=3, lw=1.2, color=COLOURS[method], label=label)
            if method == BASELINE:  # MS-GAN makes the same either way
                label = "CGAN, each z a batch" if label else None
                panel.plot(
                    steps[-1], one.figures["identity-batch"], "o", mfc="none", color=COLOURS[method], label=label
                )
        panel.axhline(runs[0].figures["identity-data"], color="0.5", lw=1, ls="--", label="the data's own")
        panel.set(title=name, xlabel="steps", xscale="log", xticks=steps, xticklabels=[f"{step:,}" for step in steps])
        panel.minorticks_off()
        panel.set_ylim(bottom=0)
        panel.grid(alpha=0.25)
    figure.axes[0].set_ylabel("identity change")
    figure.axes[0].legend(frameon=False, fontsize=8)
    plots.save_figure(figure, path)


def page(scale: Scale, finished: Sequence[Finished], folder: Path, stem: str) -> str:
    """The comparison as Markdown, with turned objects beside it."""
    s = SETTINGS[scale]
    first = Run.open(finished[0].folder)
    identities, poses = identity.counts(first)
    rows = [
        (f"{group}  {name}", made)
        for group, runs in tables.groups(finished).items()
        for name, made in turned_images(Run.open(runs[0].folder)).items()
    ]
    plots.image_rows(folder / f"{stem}.png", rows)
    curves(folder / f"{stem}-curves.png", finished)
    ours = {
        "data": " and ".join(s.data)
        + "".join(dict.fromkeys(f", {a['size']}×{a['size']}" for a in s.data.values() if "size" in a)),
        "given": "azimuth and elevation of every image, its object never",
        "networks": f"the same, width {s.width:g}, of CGAN's generator {s.cgan_width:g}, of critics "
        f"{s.critic_width:g}; {s.latents} z",
        "steps": f"{s.steps:,}, batch {s.batch}; Adam {s.lr:g}, critics {s.critic_lr:g}, β₁ 0.5; "
        f"MS-GAN's first stage {s.first_steps:,}",
        "measure": "identity change: see below",
        "seeds": str(s.seeds),
    }
    return tables.document(
        f"MS-VAE: MS-GAN against CGAN ({scale} scale)",
        "Appendices E and F.1: with the pose given, z is left with the identity. In CGAN c and z enter together "
        "and the object changes as it is turned; MS-GAN makes y from c first and adds z by AdaIN. The paper shows "
        "this in pictures.",
        tables.setting(ours, PAPER_SETTING),
        chains.sizes(finished),
        "MS-GAN's generator goes down from y and up again, with one dense layer at the bottom that holds most of "
        "its parameters; CGAN's only goes up. It is twice as wide, so that both generators multiply about as "
        "often; the critics are alike. AdaIN's scale and shift are functions of z for every place, as in the "
        "authors' code; in the second form for a channel as a whole, as in the works that the paper cites.",
        tables.section(
            "Results",
            f"Identity change: {identities} draws of z, each in the same {poses} poses, seen by a "
            "network that the data taught to tell objects whatever their pose "
            f"(features before its last layer; {identity.probe_steps(first):,} steps). The figure is the share of "
            "these features' variance that comes with the pose, lower is better; the data's own is what the network "
            "cannot ignore. CGAN's batch norm runs on the averages that it kept of training. «Each z a batch» is the "
            "same with the statistics of the batch, which holds the poses of one z: what they share, and so z, is "
            "then taken away. No batch of training is like that, but the traversals of the authors' notebook are: a "
            "batch of one z in many poses, and no batch norm in it ever switches to averages (the notebook is "
            "MS-GAN's; CGAN's is not there). MS-GAN's generator has no batch norm and makes the same either way.",
        ),
        "«Pairs turned as asked»: the same z in two azimuths at least 60° apart, both read off the images as asked: "
        "the squared distance of their features over that of two different z in such azimuths. 0: it stays; 1: "
        "it is another. What does not turn has no such pairs, so that this compares models at equal obedience.",
        "Two trivial answers would look good: variety, how much identities differ at all, in parts of the data's, "
        "guards against an idle z; «pose as asked», the share of made images whose azimuth is that of the nearest "
        "image of the data to within one step of 24 (chance 0.125; «or its opposite», 0.25, because y often looks "
        "the same from behind), against an idle c. FID is of "
        f"{images(first)} samples, so few that it is biased upwards. The last column is the critic's accuracy over "
        "the second half of training: at 0.5 it would be beaten and have nothing to teach.",
        tables.summary(finished, COLUMNS),
        f"![identity change over training]({stem}-curves.png)",
        f"![objects turned: one row for each z]({stem}.png)",
        tables.every_run(finished, COLUMNS),
    )


STUDY = Study(
    name="ms-vae/gan",
    title="MS-GAN against CGAN on toys and Cars3D: how much identity changes as the pose is moved",
    trials=trials,
    measures=MEASURES,
    page=page,
)
