"""MS-VAE, appendix F.2: MS-GAN after a β-VAE with a narrow bottleneck against InfoGAN. Nobody says what c is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid import metrics
from unbraid.api import Run
from unbraid.core import Adam
from unbraid.evaluation import inception
from unbraid.methods import MSGAN, BetaVAE, InfoGAN
from unbraid.methods.gan.infogan import InfoGANModel
from unbraid.papers import plots, tables
from unbraid.papers.measures import chains, identity, turning
from unbraid.papers.measures import runs as figures
from unbraid.papers.settings import part_of_values
from unbraid.papers.study import Finished, Scale, Study, Trial
from unbraid.runs.chain import draws_of, priors
from unbraid.runs.codes import choose_rows
from unbraid.training.batches import as_stored
from unbraid.util.seeds import mix

OURS, BASELINE = "MS-GAN after β-VAE", "InfoGAN"
CODES, NOISE = 2, 10  # F.2: two for cars and chairs
BATCH = 250
SHOWN = 3


@dataclass(frozen=True)
class Setting:
    """What the scales differ in."""

    data: str
    arguments: Mapping[str, Any]
    weight: float  # of the KL: the image's values in parts of 64×64's
    width: float
    critic_width: float
    steps: tuple[int, int]
    seeds: int
    images: int  # of samples that FID and KID are taken over
    lr: float  # of both generators
    critic_lr: tuple[float, float]  # of MS-GAN's critic and of InfoGAN's


SETTINGS: dict[Scale, Setting] = {
    "smoke": Setting("toys", {"objects": 4}, 1.0, 0.05, 0.05, (3, 3), 1, 0, 2e-4, (4e-4, 4e-4)),
    "desk": Setting("cars3d", {"size": 32}, part_of_values(32), 0.25, 0.5, (1_500, 3_000), 5, 200, 5e-4, (1e-3, 5e-4)),
    "paper": Setting("cars3d", {}, 1.0, 1.0, 1.0, (300_000, 46_875), 3, 10_000, 1e-4, (1e-4, 1e-4)),
}
PAPER_SETTING = {
    "data": "rendered faces, chairs and cars; CelebA",
    "codes": "6 c for faces, 2 for cars and chairs; 100 z",
    "first stage": "«a simple version of β-VAE»; β not given",
    "GANs": "DCGAN's stacks; authors' code: 46,875 steps, batch 32, Adam 1e-4, β₁ 0.5",
    "measure": "none: traversals are shown (figures 22–24, 28–31)",
    "seeds": "1",
}


def trials(scale: Scale) -> list[Trial]:
    """Both from every seed, with as many codes and as wide critics; DCGAN's stacks for all, as F.2 has them."""
    s, made = SETTINGS[scale], []
    critic_adam, rival_adam = (Adam(lr=rate, beta1=0.5) for rate in s.critic_lr)
    shared: dict[str, Any] = {"batch_size": 32, "adam": Adam(lr=s.lr, beta1=0.5)}
    first = BetaVAE(latents=CODES, beta=4 * s.weight, width=max(2 * s.width, 0.1), adam=Adam(lr=1e-3, end=0.05))
    shape: dict[str, Any] = {"width": s.width, "critic_width": s.critic_width, "styles": "places"}
    second = MSGAN(latents=NOISE, critic_adam=critic_adam, **shape, **shared)
    shape = {"network": "dcgan", "width": s.critic_width, "noise_steps": s.steps[1]}
    rival = InfoGAN(codes=CODES, noise=NOISE, critic_adam=rival_adam, **shape, **shared)
    for seed in range(s.seeds):
        made.append(Trial(OURS, s.data, (first, second), s.steps, seed, s.arguments))
        made.append(Trial(BASELINE, s.data, (rival,), s.steps[1:], seed, s.arguments))
    return made


def drawn(run: Run, n: int) -> tuple[Tensor, Tensor]:
    """Codes c and all other codes from their priors, [n, code] each."""
    stages = run.chain.stages
    c = draws_of(priors(stages[0]).prior(n))["z"]
    rest = torch.randn(n, NOISE, device=c.device) if len(stages) == 1 else draws_of(priors(stages[1]).prior(n))["z"]
    return c, rest


@torch.inference_mode()
def images_of(run: Run, c: Tensor, rest: Tensor) -> Tensor:
    """What the generator makes of both."""
    stage = run.chain.stages[0]
    if isinstance(stage, InfoGANModel):
        return stage.make(c, rest)
    return run.chain.decode([{"z": c}, {"z": rest}])[-1]


@lru_cache(maxsize=1)
def features_of_samples(folder: Path, count: int) -> NDArray[np.float32]:
    """Inception features of samples."""
    run = Run.open(folder)
    torch.manual_seed(mix(run.plan.seed, "samples"))
    made = as_stored(images_of(run, *drawn(run, count))).astype(np.uint8)
    return inception.features(chains.network()[0], made, "", False)


def distance(run: Run, name: str) -> float:
    """FID or KID of samples."""
    s = next(s for s in SETTINGS.values() if s.data == run.data.name and s.steps[-1] == run.plan.stages[-1][1])
    if not s.images:
        return chains.NOTHING
    network, key = chains.network()
    real = inception.cached_features(network, key, run, choose_rows(len(run.data), s.images, 0), False)
    return float(metrics.METRICS[name].function(real, features_of_samples(run.folder, s.images), replicates=0))


@lru_cache(maxsize=1)
def moved(folder: Path) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """As c moves and everything else stays: features of the witness, [identity, c, feature], and azimuths as read."""
    run = Run.open(folder)
    reader = identity.PoseReader(run.data, turning.POSE[0])
    identities, poses = identity.counts(run)
    torch.manual_seed(mix(run.plan.seed, "moved"))
    c, _ = drawn(run, poses)
    _, rest = drawn(run, identities)
    witness = identity.identity_network(run, turning.IDENTITY).features
    features, azimuths = [], []
    with torch.inference_mode():
        for one in rest:
            images = images_of(run, c, one.expand(poses, -1))
            features.append(witness(images).cpu())
            azimuths.append(reader.read(as_stored(images).astype(np.uint8)))
    return torch.stack(features).numpy(), np.stack(azimuths)


def identity_change(run: Run) -> float:
    """The share of the variance of identity features that moves with c."""
    return identity.change(moved(run.folder)[0])


@lru_cache(maxsize=1)
def turned_by_c(folder: Path) -> tuple[float, float]:
    """Among images that c turns apart, how far it takes the identity; and how many of all pairs it turns apart."""
    features, azimuths = moved(folder)
    half = len(features) // 2  # pairs of all images are compared
    circle = int(Run.open(folder).data.column(turning.POSE[0]).max()) + 1
    return turning.change_where_it_turns(features[:half], azimuths[:half], circle)


def turned_figure(run: Run, which: int) -> float:
    """The change of identity among pairs that c turns (0), or their share of all (1)."""
    return turned_by_c(run.folder)[which]


def variety(run: Run) -> float:
    """How much what stays differs from one draw to another, in parts of how much the data's objects do."""
    data = identity.variety(identity.features_of_data(run, turning.IDENTITY))
    return identity.variety(moved(run.folder)[0]) / data


MEASURES: Mapping[str, Callable[[Run], float]] = {
    "mig": figures.mig,
    "identity": identity_change,
    "turned": partial(turned_figure, which=0),
    "turned-share": partial(turned_figure, which=1),
    "variety": variety,
    "fid": partial(distance, name="fid"),
    "kid": partial(distance, name="kid"),
    "critic": turning.critic_right,
}
COLUMNS = {
    "mig": ("MIG of c", 3),
    "identity": ("identity change as c moves", 3),
    "turned": ("identity change of pairs that c turns", 3),
    "turned-share": ("share of pairs that c turns", 2),
    "variety": ("variety, data = 1", 2),
    "fid": ("FID of samples", 0),
    "kid": ("KID of samples", 3),
    "critic": ("critic is right", 2),
}


def traversals(run: Run) -> dict[str, NDArray[Any]]:
    """Each code moved over the middle of its prior, with y where there is one, for a few draws of all else."""
    torch.manual_seed(mix(run.plan.seed, "shown"))
    c, rest = drawn(run, SHOWN)
    reach = 1.0 if len(run.chain.stages) == 1 else 2.0
    values, rows = torch.linspace(-reach, reach, 10), {}
    for code in range(CODES):
        for number in range(SHOWN):
            moved = c[[number]].repeat(len(values), 1)
            moved[:, code] = values
            rows[f"c{code + 1}, draw {number + 1}"] = as_stored(
                images_of(run, moved, rest[[number]].expand(len(values), -1))
            )
    return rows


def page(scale: Scale, finished: Sequence[Finished], folder: Path, stem: str) -> str:
    """The comparison as Markdown, with traversals beside it."""
    s = SETTINGS[scale]
    rows = [
        (f"{group}  {name}", made)
        for group, runs in tables.groups(finished).items()
        for name, made in traversals(Run.open(runs[0].folder)).items()
    ]
    plots.image_rows(folder / f"{stem}.png", rows)
    side = s.arguments.get("size", 64)
    ours = {
        "data": f"{s.data}, {side}×{side}",
        "codes": f"{CODES} c, {NOISE} z (of InfoGAN: noise)",
        "first stage": f"β-VAE, β = 4 times {s.weight:g} for the number of values, {s.steps[0]:,} steps",
        "GANs": f"DCGAN's stacks, width {s.width:g}, critics and InfoGAN {s.critic_width:g}; {s.steps[1]:,} steps, "
        f"batch 32, Adam {s.lr:g}, MS-GAN's critic {s.critic_lr[0]:g}, InfoGAN's {s.critic_lr[1]:g}, β₁ 0.5",
        "measure": "below",
        "seeds": str(s.seeds),
    }
    return tables.document(
        f"MS-VAE: MS-GAN without labels against InfoGAN ({scale} scale)",
        "Appendix F.2: c is found by a β-VAE with a narrow bottleneck, and MS-GAN adds the rest. The paper says it "
        "«clearly outperforms InfoGAN on both disentanglement and generative quality», in pictures.",
        tables.setting(ours, PAPER_SETTING),
        chains.sizes(finished),
        tables.section(
            "Results",
            "MIG of the codes found for the data (β-VAE's encoder, InfoGAN's recognition network). Identity change: "
            "the share of the variance of features that tell objects apart which moves with c while all else stays; a "
            "c that is part of the identity makes it large. Means over seeds with 95 % Student intervals.",
        ),
        tables.summary(finished, COLUMNS),
        f"![each code moved, for three draws of all else]({stem}.png)",
        tables.every_run(finished, COLUMNS),
    )


STUDY = Study(
    name="ms-vae/gan-found",
    title="Cars3D, appendix F.2: MS-GAN after an unsupervised stage 1 against InfoGAN",
    trials=trials,
    measures=MEASURES,
    page=page,
)
