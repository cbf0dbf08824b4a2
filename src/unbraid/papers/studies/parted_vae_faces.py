"""Hajimiri et al. 2021, figures 6, 7, 8 and 10: PartedVAE on CelebA with some labels, with and without BC."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unbraid.api import Run
from unbraid.core import Adam
from unbraid.data import load
from unbraid.data.label_budget import LabelBudget
from unbraid.evaluation.class_priors import class_prior
from unbraid.evaluation.classes import class_scores, classify
from unbraid.methods import PartedVAE
from unbraid.methods.labelled.parted_vae import PartedVAEModel
from unbraid.papers import plots, tables
from unbraid.papers.measures import runs as measures
from unbraid.papers.measures import single_codes
from unbraid.papers.measures.class_priors import draw_class_priors
from unbraid.papers.measures.class_traversals import class_rows, free_rows
from unbraid.papers.settings import part_of_values
from unbraid.papers.studies.parted_vae import PAPER_ATTENTION
from unbraid.papers.study import Finished, Scale, Study, Trial
from unbraid.runs.codes import choose_rows
from unbraid.training.batches import as_stored

PAPER_SIDE = 197  # √(218 · 178)
PAPER_STEPS = 203_000  # 80 epochs of 162,770 images at batch 64
FREE, KEPT = "overlap free", "with the penalty on overlap"
HAIR = "hair=Black_Hair,Brown_Hair,Blond_Hair,Gray_Hair"
BEARD = "beard=No_Beard,5_o_Clock_Shadow,Goatee"
MOVED = 100  # faces that are given each class in turn


@dataclass(frozen=True)
class Setting:
    """What the scales differ in. Schedules that the paper gives in steps are compressed with the run."""

    data: str
    arguments: Mapping[str, Any]
    labels: int
    factors: tuple[str, ...]
    steps: int
    seeds: int
    width: float
    lr: float
    latents: int = 10

    @property
    def size(self) -> int:
        """Height and width of the images."""
        return int(self.arguments.get("size", 64))


FACES = ("hair", "beard", "Bangs", "Eyeglasses", "Smiling", "Wearing_Hat", "Male")
BUILT = {"one_of": f"{HAIR};{BEARD}"}
# Attributes of which the labels tell: of z the others are asked for.
LABELLED = tuple(name for part in (HAIR, BEARD) for name in part.partition("=")[2].split(",")) + FACES
SETTINGS: dict[Scale, Setting] = {
    "smoke": Setting("sprites", {"size": 32, "stride": 8}, 60, ("shape", "scale"), 4, 1, 0.1, 1e-3),
    "desk": Setting("celeba", {"size": 32, **BUILT}, 814, FACES, 6_000, 3, 0.5, 1e-3),
    "paper": Setting("celeba", {"size": 64, **BUILT}, 814, FACES, PAPER_STEPS, 1, 1.0, 5e-4),
}
PAPER_SETTING = {
    "data": "CelebA, 202,599 faces 218×178",
    "labels": "0.5 % of the training images (814): hair colour, beard, bangs, hairline, glasses, smile, sex, skin tone",
    "network": "table 5; 10 z, 1 u for each of 8 variables",
    "steps": f"80 epochs, {PAPER_STEPS:,}",
    "weights": "of u and z 1000, c 2000, entropy 10, overlap 500; tolerance 0.2",
    "capacities": "z 0 to 30, u 0 to 15 in 125,000",
    "reconstruction": "mean absolute error",
    "p(c)": "as often as in the labels",
    "learning rate": "0.0005, lowered on plateaus",
    "seeds": "not said",
}


def config(setting: Setting) -> PartedVAE:
    """The paper's weights for CelebA (table 6), as parts of the image's size."""
    share = part_of_values(setting.size, PAPER_SIDE)
    adam = Adam(lr=setting.lr, end=0.05)  # in place of «lowered on plateaus»
    return PartedVAE(
        latents=setting.latents,
        class_prior="labels",
        gamma_u=1000.0 * share,
        gamma_z=1000.0 * share,
        gamma_c=2000.0 * share,
        gamma_h=10.0 * share,
        gamma_bc=500.0 * share,
        tolerance=0.2,
        capacity_u=15.0,
        capacity_z=30.0,
        capacity_steps=max(1, round(125_000 * setting.steps / PAPER_STEPS)),
        attention_steps=max(1, round(PAPER_ATTENTION * setting.steps / PAPER_STEPS)),
        likelihood="laplace",
        width=setting.width,
        adam=adam,
        label_adam=adam,
    )


def trials(scale: Scale) -> list[Trial]:
    """With the penalty on overlapping modes and without it, on the same labels."""
    s = SETTINGS[scale]
    kept, budget = config(s), LabelBudget(s.labels, s.factors)
    return [
        Trial(group, s.data, (method,), (s.steps,), seed, s.arguments, budget)
        for seed in range(s.seeds)
        for group, method in ((KEPT, kept), (FREE, dataclasses.replace(kept, gamma_bc=0.0)))
    ]


def model(run: Run) -> PartedVAEModel:
    """The trained model."""
    method = run.stage(1)
    assert isinstance(method, PartedVAEModel)
    return method


def named(run: Run) -> float:
    """The mean over variables of the share of unlabelled faces that are named right."""
    return float(np.mean([float(score) for score in class_scores(run).values()]))


def named_by_chance(run: Run) -> float:
    """The same of the likeliest class for every face."""
    columns = [run.data.column(factor.name) for factor in run.label_factors]
    return float(np.mean([np.bincount(c[~np.isnan(c)].astype(int)).max() / (~np.isnan(c)).sum() for c in columns]))


def overlap(run: Run) -> float:
    """The mean Bhattacharyya coefficient of two modes of a variable; 1: they are the same."""
    found = [class_prior(run, k, marks=1).overlaps for k in range(len(model(run).class_sizes))]
    return float(np.mean([each[np.triu_indices(len(each), 1)].mean() for each in found]))


def obeyed(run: Run) -> float:
    """How often a face that is given a class by its u alone is named so by q(c | x), over chance; 1: always, 0: chance.

    z and the other u stay as the face's own. The reader is the model's own encoder.
    """
    method, rows = model(run), choose_rows(len(run.data), MOVED, run.plan.seed)
    observations = np.ascontiguousarray(run.data.observations[rows])
    found = []
    with torch.inference_mode():
        codes = [method.encode(x) for x in run.inputs(observations)]
        u, z = (torch.cat([one[key].mean for one in codes]) for key in ("u", "z"))
        for variable, size in enumerate(method.class_sizes):
            right = []
            for which in range(size):
                moved = u.clone()
                moved[:, variable] = method.class_modes(variable).mean[which, 0]
                made = as_stored(method.decode({"u": moved, "z": z}))
                right.append((classify(run, made)[variable].argmax(1) == which).mean())
            found.append((np.mean(right) - 1 / size) / (1 - 1 / size))
    return float(np.mean(found))


MEASURES: dict[str, Callable[[Run], float]] = {
    "named": named,
    "chance": named_by_chance,
    "obeyed": obeyed,
    "overlap": overlap,
    "l1": partial(measures.logged, term="vae/reconstruction"),
    **single_codes.measures("z", LABELLED),
}
COLUMNS = {
    "named": ("classes named", 3),
    "chance": ("by the likeliest class", 3),
    "obeyed": ("u obeyed, over chance", 3),
    "overlap": ("overlap of modes", 3),
    "l1": ("−log p(x given u, z), nats", 0),
}


def pictures(folder: Path, stem: str, found: Mapping[str, list[Finished]]) -> list[str]:
    """Every picture of the page, and the blocks that show them."""
    runs = {group: Run.open(one[0].folder) for group, one in found.items()}
    kept = runs[KEPT]
    plots.image_rows(folder / f"{stem}-z.png", free_rows(kept), size=0.5)
    plots.image_rows(folder / f"{stem}-u.png", class_rows(kept), size=0.5)
    draw_class_priors({"": class_prior(kept, 0)}, folder / f"{stem}-first.png")
    draw_class_priors({group: class_prior(run, 1) for group, run in runs.items()}, folder / f"{stem}-second.png")
    blocks = [
        tables.section("Class-independent codes", "Each z from −2 to 2 on a typical face (figure 6a)."),
        f"![traversals of z]({stem}-z.png)",
        tables.section("Class-related codes", "Each u over the range of its modes (figure 6b)."),
        f"![traversals of u]({stem}-u.png)",
        tables.section("The prior of the first variable", "Its modes, with faces along them (figure 7a)."),
        f"![modes of the first variable]({stem}-first.png)",
        tables.section("The prior of the second, by the penalty on overlap", "As figure 10b."),
        f"![modes of the second variable]({stem}-second.png)",
    ]
    if FREE in runs:
        plots.image_rows(folder / f"{stem}-u-free.png", class_rows(runs[FREE]), size=0.5)
        blocks += [
            tables.section("Class-related codes without the penalty", "The same as above (figure 8)."),
            f"![traversals of u without the penalty]({stem}-u-free.png)",
        ]
    return blocks


def page(scale: Scale, finished: Sequence[Finished], folder: Path, stem: str) -> str:
    """Both models as Markdown, with pictures beside them."""
    s, o = SETTINGS[scale], config(SETTINGS[scale])
    data = load(s.data, **s.arguments)
    ours = {
        "data": f"{s.data}, {len(data):,} images seen at {s.size}×{s.size}",
        "labels": f"{s.labels} images: {', '.join(s.factors)}",
        "network": f"conv, width {s.width:g}; {s.latents} z, 1 u for each of {len(s.factors)} variables",
        "steps": f"{s.steps:,}",
        "weights": f"{part_of_values(s.size, PAPER_SIDE):.4f} of the paper's, as the images have of its values",
        "capacities": f"z 0 to 30, u 0 to 15 in {o.capacity_steps:,}",
        "reconstruction": "Laplace of width 1, which is the absolute error",
        "p(c)": "as often as in the labels",
        "learning rate": f"{o.adam.lr:g}, falling to {o.adam.rate(1):g}",
        "seeds": str(s.seeds),
    }
    return tables.document(
        f"PartedVAE on faces ({scale} scale)",
        "Hajimiri et al. 2021, figures 6, 7, 8 and 10, which are pictures: with a few labels u holds what the classes "
        "are about and z the rest; without the penalty on overlapping modes u moves little. Hair colour and beard are "
        "put together from attributes of which a face has one; where it has none or several, its label is missing.",
        tables.setting(ours, PAPER_SETTING),
        tables.section(
            "Results",
            "Means over seeds with 95 % Student intervals, over all variables. «u obeyed»: faces keep z and all other "
            "u and get the mode of each class in turn; how often the model's own q(c given x) then names that class, 0 "
            "being chance and 1 always. «Overlap» is the Bhattacharyya coefficient of two modes.",
        ),
        tables.summary(finished, COLUMNS),
        *pictures(folder, stem, tables.groups(finished)),
        tables.section(
            "What z holds (figure 6a)", f"{single_codes.EXPLAINED} Attributes that no label told, read from z alone."
        ),
        tables.summary(finished, single_codes.COLUMNS),
        "The attributes that single z of the first run tell well:",
        single_codes.named(Run.open(finished[0].folder), "z", LABELLED),
        tables.every_run(finished, COLUMNS | single_codes.COLUMNS),
    )


STUDY = Study(
    name="parted-vae/faces",
    title="PartedVAE on faces with hair colour, beard and five attributes: traversals and learned priors",
    trials=trials,
    measures=MEASURES,
    page=page,
)
