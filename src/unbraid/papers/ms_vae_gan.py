"""MS-VAE, appendices E and F.1: MS-GAN against CGAN. Turning an object must not change which object it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid.batches import as_stored, mix
from unbraid.chain import Codes, draws_of, priors
from unbraid.codes import choose_rows
from unbraid.core import Adam
from unbraid.labels import LabelBudget
from unbraid.methods import CGAN, MSGAN, Controls
from unbraid.methods.control_inputs import ControlInputs
from unbraid.papers import chains, identity, tables
from unbraid.papers.study import Finished, Scale, Study, Trial
from unbraid.run import Run

POSE, IDENTITY = ("azimuth", "elevation"), "object"
SHOWN = 4  # identities of each model in the picture


@dataclass(frozen=True)
class Setting:
    """What the scales differ in."""

    data: Mapping[str, Mapping[str, Any]]  # name → arguments
    width: float
    cgan_width: float  # of its generator: with twice the width it multiplies as often as MS-GAN's, which also goes down
    first_steps: int
    steps: int
    batch: int
    lr: float
    seeds: int


SETTINGS: dict[Scale, Setting] = {
    "smoke": Setting({"toys": {"objects": 4}}, 0.05, 0.1, 3, 3, 8, 2e-4, 1),
    "desk": Setting({"toys": {}, "cars3d": {}}, 0.25, 0.5, 1_500, 4_000, 32, 2e-4, 1),
    "paper": Setting({"toys": {}, "cars3d": {}}, 1.0, 2.0, 50_000, 100_000, 64, 1e-4, 3),
}
PAPER_SETTING = {
    "data": "rendered faces and chairs, with the controls of the renderer; CelebA",
    "given": "pose, of every image",
    "networks": "DCGAN's stacks; MS-GAN with AdaIN and no batch norm in the generator",
    "steps": "not given; Adam 1e-4, β₁ 0.5",
    "measure": "none: traversals are shown (figures 22–28)",
    "seeds": "1",
}


def trials(scale: Scale) -> list[Trial]:
    """Both methods on every data set from every seed, with the pose of every image given and its object never."""
    s = SETTINGS[scale]
    adam = Adam(lr=s.lr, beta1=0.5)
    gan: dict[str, Any] = {"batch_size": s.batch, "adam": adam, "critic_adam": adam}
    made = []
    for seed in range(s.seeds):
        for data, arguments in s.data.items():
            controls = Controls(factors=POSE, width=max(s.width, 0.1), adam=Adam(lr=1e-3))
            for name, stages, steps in (
                ("CGAN", (CGAN(factors=POSE, width=s.cgan_width, critic_width=s.width, **gan),), (s.steps,)),
                ("MS-GAN", (controls, MSGAN(width=s.width, **gan)), (s.first_steps, s.steps)),
            ):
                budget = LabelBudget("all", POSE)
                made.append(Trial(f"{data}: {name}", data, stages, steps, seed, arguments, budget))
    return made


def identity_change(run: Run) -> float:
    """The share of the variance of identity features that moves with the pose."""
    return identity.change(identity.made_by(run, IDENTITY), run.plan.seed)


def identity_change_of_data(run: Run) -> float:
    """The same of the data: what the witness itself cannot ignore."""
    return identity.change(identity.of_data(run, IDENTITY))


def variety(run: Run) -> float:
    """How much identities differ, in parts of how much the data's do; 0: z does nothing."""
    return identity.variety(identity.made_by(run, IDENTITY)) / identity.variety(identity.of_data(run, IDENTITY))


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


def sample_fid(run: Run, images: Callable[[Run], int]) -> float:
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
    return 1_000 if len(run.data) > 1_000 else 0


MEASURES: dict[str, Callable[[Run], float]] = {
    "identity": identity_change,
    "identity-data": identity_change_of_data,
    "variety": variety,
    "pixels": pixel_change,
    "pose": pose_obeyed,
    "pose-data": pose_of_data,
    "fid": partial(sample_fid, images=images),
}
COLUMNS = {
    "identity": ("identity change", 3),
    "identity-data": ("the data's own", 3),
    "variety": ("variety, data = 1", 2),
    "pose": ("pose as asked", 2),
    "pose-data": ("the data's own", 2),
    "pixels": ("share of pixels' variance", 3),
    "fid": ("FID of samples", 0),
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


def page(scale: Scale, finished: Sequence[Finished], folder: Path, stem: str) -> str:
    """The comparison as Markdown, with turned objects beside it."""
    s = SETTINGS[scale]
    rows = [
        (f"{group}  {name}", made)
        for group, runs in tables.groups(finished).items()
        for name, made in turned(Run.open(runs[0].folder)).items()
    ]
    chains.grid(folder / f"{stem}.png", rows)
    ours = {
        "data": " and ".join(s.data),
        "given": "azimuth and elevation of every image, its object never",
        "networks": f"the same, width {s.width:g} and, for CGAN's generator, {s.cgan_width:g}; 10 z",
        "steps": f"{s.steps:,}, batch {s.batch}; Adam {s.lr:g}, β₁ 0.5; MS-GAN's first stage {s.first_steps:,}",
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
            f"Identity change: {identity.IDENTITIES} draws of z, each in the same {identity.POSES} poses, seen by a "
            "network that the data taught to tell objects whatever their pose "
            f"(features before its last layer; {identity.PROBE_STEPS:,} steps). The figure is the share of these "
            "features' variance that comes with the pose, lower is better; the data's own is what the network cannot "
            "ignore. "
            "Two trivial answers would look good: variety, how much identities differ at all, in parts of the data's, "
            "guards against an idle z; «pose as asked», the share of made images whose azimuth is that of the nearest "
            "image of the data to within one step of 24 (chance 0.125), against an idle c.",
            "",
            tables.summary(finished, COLUMNS),
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
