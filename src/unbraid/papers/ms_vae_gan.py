"""MS-VAE, appendices E and F.1: MS-GAN against CGAN. Turning an object must not change which object it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray
from torch import Tensor

from unbraid.batches import as_stored, mix
from unbraid.chain import Codes, draws_of, priors
from unbraid.codes import choose_rows
from unbraid.core import Adam
from unbraid.files import complete_file
from unbraid.labels import LabelBudget
from unbraid.methods import CGAN, MSGAN, Controls
from unbraid.methods.control_inputs import ControlInputs
from unbraid.papers import chains, identity, tables
from unbraid.papers.study import Finished, Scale, Study, Trial
from unbraid.run import Run
from unbraid.train import read_log

POSE, IDENTITY = ("azimuth", "elevation"), "object"
Features = Callable[[Run, str], NDArray[np.float32]]  # of a run and the factor that is the identity
METHODS = ("MS-GAN", "CGAN")
SHOWN = 4  # identities of each model in the picture
POINTS = (0.125, 0.25, 0.5)  # parts of the training of generators and critics after which identity is looked at too
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
    lr: float
    critic_lr: float
    seeds: int


SETTINGS: dict[Scale, Setting] = {
    "smoke": Setting({"toys": {"objects": 4}}, 0.05, 0.1, 0.05, 3, 3, 8, 2e-4, 4e-4, 1),
    "desk": Setting({"toys": SMALL, "cars3d": SMALL}, 0.25, 0.5, 0.5, 1_500, 6_000, 32, 2e-4, 4e-4, 2),
    "paper": Setting({"toys": {}, "cars3d": {}}, 1.0, 2.0, 1.0, 50_000, 100_000, 64, 1e-4, 1e-4, 3),
}
PAPER_SETTING = {
    "data": "rendered faces, chairs and cars, with the controls of the renderer; CelebA",
    "given": "pose, of every image",
    "networks": "DCGAN's stacks; MS-GAN with AdaIN and no batch norm in the generator",
    "steps": "not given; Adam 1e-4, β₁ 0.5",
    "measure": "none: traversals are shown (figures 21–31)",
    "seeds": "1",
}


def trials(scale: Scale) -> list[Trial]:
    """Both methods on every data set from every seed, with the pose of every image given and its object never."""
    s = SETTINGS[scale]
    adam, critic_adam = Adam(lr=s.lr, beta1=0.5), Adam(lr=s.critic_lr, beta1=0.5)
    gan: dict[str, Any] = {"batch_size": s.batch, "adam": adam, "critic_adam": critic_adam}
    gan["critic_width"] = s.critic_width
    keep = tuple(chains.step_after(s.steps, part) for part in POINTS)
    made = []
    for seed in range(s.seeds):
        for data, arguments in s.data.items():
            controls = Controls(factors=POSE, width=max(s.width, 0.1), adam=Adam(lr=1e-3))
            for name, stages, steps in (
                ("CGAN", (CGAN(factors=POSE, width=s.cgan_width, **gan),), (s.steps,)),
                ("MS-GAN", (controls, MSGAN(width=s.width, **gan)), (s.first_steps, s.steps)),
            ):
                budget = LabelBudget("all", POSE)
                made.append(Trial(f"{data}: {name}", data, stages, steps, seed, arguments, budget, keep))
    return made


def identity_change(run: Run, features: Features = identity.made_by) -> float:
    """The share of the variance of identity features that moves with the pose."""
    return identity.change(features(run, IDENTITY))


def variety(run: Run, features: Features = identity.made_by) -> float:
    """How much identities differ, in parts of how much the data's do; 0: z does nothing."""
    return identity.variety(features(run, IDENTITY)) / identity.variety(identity.of_data(run, IDENTITY))


def pixel_change(run: Run) -> float:
    """The share of all pixels' variance that moves with the pose."""
    return float(run.evaluate(["identity_change"], show=False)["identity_change"]["value"])


def posed(run: Run, labels: Tensor, z: Codes | None = None) -> list[Tensor]:
    """What each stage makes in the poses among these labels [b, factor], with z drawn, or given."""
    codes = [draws_of(priors(stage).prior(len(labels))) for stage in run.chain.stages]
    inputs = run.stage(1).inputs
    assert isinstance(inputs, ControlInputs)
    codes[0]["c"] = inputs.given(labels).mean
    codes[-1] |= z or {}
    return run.chain.decode(codes)


def pose_obeyed(run: Run, images: int = 1_000) -> float:
    """The share of made images whose azimuth is read as it was asked for: the guard against an idle c."""
    rows = choose_rows(len(run.data), images, 1)
    torch.manual_seed(mix(run.plan.seed, "poses"))
    made = as_stored(posed(run, run.labels(rows))[-1]).astype(np.uint8)
    return identity.PoseReader(run.data, POSE[0]).share_right(made, run.data.column(POSE[0])[rows])


def pose_of_data(run: Run, images: int = 1_000) -> float:
    """The same of images of the data that the reader was not shown."""
    reader = identity.PoseReader(run.data, POSE[0])
    rows = np.setdiff1d(choose_rows(len(run.data), images + len(reader.rows), 1), reader.rows)[:images]
    if not len(rows):
        return chains.NOTHING
    return reader.share_right(np.asarray(run.data.observations[rows]), run.data.column(POSE[0])[rows])


def critic_right(run: Run) -> float:
    """The critic's accuracy over the second half of training: at 0.5 it is beaten and has nothing to teach."""
    log = read_log(run.stage_folder(len(run.plan.stages)) / "log.jsonl")
    return float(np.mean([line["critic/accuracy"] for line in log[len(log) // 2 :]]))


def sample_fid(run: Run) -> float:
    """FID of samples: poses as the data have them, z from its prior."""
    count = images(run)
    if not count:
        return chains.NOTHING
    torch.manual_seed(mix(run.plan.seed, "samples"))
    with torch.inference_mode():
        parts = [as_stored(run.chain.sample(100)[1][-1]) for _ in range(count // 100)]
    return chains.fid_of(run, np.concatenate(parts))


def images(run: Run) -> int:
    """How many images FID is taken over: none at smoke scale, whose data have few objects."""
    return 500 if len(run.data) > 1_000 else 0


MEASURES: dict[str, Callable[[Run], float]] = {
    "identity": identity_change,
    "identity-data": partial(identity_change, features=identity.of_data),  # what the witness itself cannot ignore
    "variety": variety,
    "identity-batch": partial(identity_change, features=identity.made_as_one_batch),
    "variety-batch": partial(variety, features=identity.made_as_one_batch),
    "pixels": pixel_change,
    "pose": pose_obeyed,
    "pose-data": pose_of_data,
    "fid": sample_fid,
    "critic": critic_right,
    **{
        f"identity-{part:g}": partial(identity_change, features=partial(identity.made_by, part=part)) for part in POINTS
    },
}
COLUMNS = {
    "identity": ("identity change", 3),
    "identity-data": ("the data's own", 3),
    "variety": ("variety, data = 1", 2),
    "identity-batch": ("identity change, each z a batch", 3),
    "variety-batch": ("variety, each z a batch", 2),
    "pose": ("pose as asked", 2),
    "pose-data": ("the data's own", 2),
    "pixels": ("share of pixels' variance", 3),
    "fid": ("FID of samples", 0),
    "critic": ("critic is right", 2),
}


def turned(run: Run) -> dict[str, NDArray[Any]]:
    """y where there is one, and some identities, as the azimuth goes round."""
    azimuths, elevations = (run.data.column(name) for name in POSE)
    steps = np.linspace(0, azimuths.max(), 10)
    table = np.stack([steps, np.full(len(steps), np.median(elevations))], axis=1).astype(np.float32)
    labels = torch.from_numpy(table).to(run.device)
    torch.manual_seed(mix(run.plan.seed, "turned"))
    rows: dict[str, NDArray[Any]] = {}
    for number in range(SHOWN):
        one = draws_of(priors(run.chain.stages[-1]).prior(1))["z"]
        outputs = posed(run, labels, {"z": one.expand(len(labels), -1)})
        if len(outputs) > 1:
            rows.setdefault("y", as_stored(outputs[0]))
        rows[f"z {number + 1}"] = as_stored(outputs[-1])
    return rows


def curves(path: Path, finished: Sequence[Finished]) -> None:
    """Identity change over training, a panel for each data set and a line for each run."""
    colours = dict(zip(METHODS, tables.COLOURS, strict=True))
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
            panel.plot(steps, values, "o-", ms=3, lw=1.2, color=colours[method], label=label)
            if method == "CGAN":  # MS-GAN makes the same either way
                label = "CGAN, each z a batch" if label else None
                panel.plot(
                    steps[-1], one.figures["identity-batch"], "o", mfc="none", color=colours[method], label=label
                )
        panel.axhline(runs[0].figures["identity-data"], color="0.5", lw=1, ls="--", label="the data's own")
        panel.set(title=name, xlabel="steps", xscale="log", xticks=steps, xticklabels=[f"{step:,}" for step in steps])
        panel.minorticks_off()
        panel.set_ylim(bottom=0)
        panel.grid(alpha=0.25)
    figure.axes[0].set_ylabel("identity change")
    figure.axes[0].legend(frameon=False, fontsize=8)
    with complete_file(path) as file:
        figure.savefig(file, format="png", dpi=130)


def page(scale: Scale, finished: Sequence[Finished], folder: Path, stem: str) -> str:
    """The comparison as Markdown, with turned objects beside it."""
    s = SETTINGS[scale]
    first = Run.open(finished[0].folder)
    identities, poses = identity.counts(first)
    rows = [
        (f"{group}  {name}", made)
        for group, runs in tables.groups(finished).items()
        for name, made in turned(Run.open(runs[0].folder)).items()
    ]
    chains.grid(folder / f"{stem}.png", rows)
    curves(folder / f"{stem}-curves.png", finished)
    ours = {
        "data": " and ".join(s.data)
        + "".join(dict.fromkeys(f", {a['size']}×{a['size']}" for a in s.data.values() if "size" in a)),
        "given": "azimuth and elevation of every image, its object never",
        "networks": f"the same, width {s.width:g}, of CGAN's generator {s.cgan_width:g}, of critics "
        f"{s.critic_width:g}; 10 z",
        "steps": f"{s.steps:,}, batch {s.batch}; Adam {s.lr:g}, critics {s.critic_lr:g}, β₁ 0.5; "
        f"MS-GAN's first stage {s.first_steps:,}",
        "measure": "identity change: see below",
        "seeds": str(s.seeds),
    }
    return "\n".join(
        [
            f"# MS-VAE: MS-GAN against CGAN ({scale} scale)",
            "",
            "Appendices E and F.1: with the pose given, z is left with the identity. In CGAN c and z enter together "
            "and the object changes as it is turned; MS-GAN makes y from c first and adds z by AdaIN. The paper shows "
            "this in pictures.",
            "",
            "## Setting",
            tables.setting(ours, PAPER_SETTING),
            "",
            chains.sizes(finished),
            "",
            "MS-GAN's generator goes down from y and up again, with one dense layer at the bottom that holds most of "
            "its parameters; CGAN's only goes up. It is twice as wide, so that both generators multiply about as "
            "often; the critics are alike.",
            "",
            "## Results",
            f"Identity change: {identities} draws of z, each in the same {poses} poses, seen by a "
            "network that the data taught to tell objects whatever their pose "
            f"(features before its last layer; {identity.probe_steps(first):,} steps). The figure is the share of "
            "these features' variance that comes with the pose, lower is better; the data's own is what the network "
            "cannot ignore. CGAN's batch norm runs on the averages that it kept of training. «Each z a batch» is the "
            "same with the statistics of the batch, which holds the poses of one z: what they share, and so z, is "
            "then taken away. No batch of training is like that, but a traversal made without switching to the "
            "averages is. MS-GAN's generator has no batch norm and makes the same either way.",
            "",
            "Two trivial answers would look good: variety, how much identities differ at all, in parts of the data's, "
            "guards against an idle z; «pose as asked», the share of made images whose azimuth is that of the nearest "
            "image of the data to within one step of 24 (chance 0.125), against an idle c. FID is of "
            f"{images(first)} samples, so few that it is biased upwards. The last column is the critic's accuracy over "
            "the second half of training: at 0.5 it would be beaten and have nothing to teach.",
            "",
            tables.summary(finished, COLUMNS),
            "",
            f"![identity change over training]({stem}-curves.png)",
            "",
            f"![objects turned: one row for each z]({stem}.png)",
            "",
            "## Every run",
            tables.every_run(finished, COLUMNS),
        ]
    )


STUDY = Study(
    name="ms-vae/gan",
    title="MS-GAN against CGAN on toys and Cars3D: how much identity changes as the pose is moved",
    trials=trials,
    measures=MEASURES,
    page=page,
)
