"""Hajimiri et al. 2021, tables 1 and 2 and §5.3: how many shape labels it takes on dSprites."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from unbraid.api import Run
from unbraid.core import Adam
from unbraid.data.label_budget import LabelBudget
from unbraid.evaluation.class_priors import class_prior
from unbraid.evaluation.classes import class_scores
from unbraid.methods import PartedVAE
from unbraid.papers import plots, tables
from unbraid.papers.measures import runs as measures
from unbraid.papers.measures.class_priors import draw_class_priors
from unbraid.papers.settings import SpritesSetting, by_seed, seeds_described
from unbraid.papers.studies.parted_vae import PAPER_ATTENTION
from unbraid.papers.study import Finished, Scale, Study, Trial
from unbraid.util.files import read_json

PAPER_STEPS = 345_600  # 30 epochs of 737,280 images at batch 64
# Tables 1 and 2, and §5.3 for the last: factor scores.
PUBLISHED = {
    "no labels": ("0", "0.775 ± 0.02"),
    "0.1 %": ("737", "0.718 ± 0.03"),
    "0.5 %": ("3,686", "0.881 ± 0.11"),
    "1.35 %": ("10,000", "0.905 ± 0.10"),
    "0.5 %, overlap free": ("3,686", "0.829"),
    "no labels, four times as long": ("0", "0.775 ± 0.02"),
    "0.5 %, four times as long": ("3,686", "0.881 ± 0.11"),
}
FEWER_SEEDS: dict[Scale, dict[str, int]] = {"desk": {group: 5 for group in PUBLISHED if "times" in group}}
COMPARED = ("0.5 %", "0.5 %, overlap free")  # of which the learned priors are shown


# Schedules that the paper gives in steps are compressed with the run.
SETTINGS: dict[Scale, SpritesSetting] = {
    "smoke": SpritesSetting({"size": 32, "stride": 8}, 4, 0.1, 1e-3, 1),
    "desk": SpritesSetting({"size": 32}, 10_000, 0.25, 1e-3, 10),  # one seed differs from another by up to 0.2
    "paper": SpritesSetting({}, PAPER_STEPS, 1.0, 5e-4, 5),
}
PAPER_SETTING = {
    "data": "dSprites, 737,280 images 64×64",
    "labels": "0, 737, 3,686 or 10,000 shapes",
    "network": "table 4 (width 1); 5 z, 1 u, 3 classes",
    "steps": f"30 epochs, {PAPER_STEPS:,}",
    "weights": "of u and z 50, c 100, entropy 10, overlap 10",
    "capacities": "z 0 to 30, u 0 to 5 in 300,000",
    "attention": f"gain 1 to 8 in {PAPER_ATTENTION:,} (authors' code)",
    "learning rate": "0.0005, lowered on plateaus",
    "seeds": "5",
}


WEIGHTS = ("gamma_u", "gamma_z", "gamma_c", "gamma_h", "gamma_bc")


def steps_of(setting: SpritesSetting, group: str) -> int:
    """Of a row: some are trained four times as long, with schedules as much longer."""
    return setting.steps * (4 if "times" in group else 1)


def config(setting: SpritesSetting, steps: int) -> PartedVAE:
    """The paper's weights for dSprites (table 6), which are the method's defaults, as parts of the image's size."""
    adam = Adam(lr=setting.lr, end=0.05)  # in place of «lowered on plateaus»
    paper = PartedVAE()
    return PartedVAE(
        **{weight: getattr(paper, weight) * setting.part_of_values for weight in WEIGHTS},
        width=setting.width,
        capacity_steps=max(1, round(300_000 * steps / PAPER_STEPS)),
        attention_steps=max(1, round(PAPER_ATTENTION * steps / PAPER_STEPS)),
        adam=adam,
        label_adam=adam,
    )


def trials(scale: Scale) -> list[Trial]:
    """Every budget from every seed; of the shape only."""
    s = SETTINGS[scale]
    made = []
    for seed, group in by_seed(PUBLISHED, s.seeds, FEWER_SEEDS.get(scale)):
        amount = "0" if group.startswith("no") else group.split(",")[0].replace(" ", "")
        steps = steps_of(s, group)
        method = dataclasses.replace(config(s, steps), gamma_bc=0.0) if "free" in group else config(s, steps)
        budget = LabelBudget(amount, ("shape",))
        made.append(Trial(group, "sprites", (method,), (steps,), seed, s.arguments, budget))
    return made


def shape_accuracy(run: Run) -> float:
    """The share of unlabelled rows whose shape is the class; without any labels, under the best naming of classes."""
    return float(class_scores(run)["class_accuracy/shape"])


COLUMNS = {
    "factor_score_parted": ("factor score, authors' rule", 3),
    "factor_score": ("Kim & Mnih's rule", 3),
    "mig": ("MIG", 3),
    "accuracy": ("shape known", 3),
    "l2": ("squared error", 4),
}


def priors(path: Path, finished: Sequence[Finished]) -> None:
    """The modes that 0.5 % of labels give with the penalty on overlap and without it, the first run of each."""
    runs = {group: found[0] for group, found in tables.groups(finished).items() if group in COMPARED}
    draw_class_priors({group: class_prior(Run.open(one.folder)) for group, one in runs.items()}, path)


def shown_labels(finished: Sequence[Finished]) -> str:
    """How many labels the runs were shown, as they have recorded it."""
    counts = sorted({read_json(one.folder / "config.json")["labels"]["count"] for one in finished})
    return " or ".join(filter(None, (", ".join(f"{count:,}" for count in counts[:-1]), f"{counts[-1]:,}")))


def page(scale: Scale, finished: Sequence[Finished], folder: Path, stem: str) -> str:
    """The budgets as Markdown, with a picture beside them."""
    s = SETTINGS[scale]
    o = config(s, s.steps)
    plots.dots(folder / f"{stem}.png", finished, COLUMNS)
    priors(folder / f"{stem}-priors.png", finished)
    ours = {
        "data": s.data_described,
        "labels": f"{shown_labels(finished)} shapes",
        "network": f"conv, width {s.width:g}; 5 z, 1 u, 3 classes",
        "steps": f"{s.steps:,}; four times as many, and schedules as much longer, in the last rows",
        "weights": s.weights_described,
        "capacities": f"z 0 to 30, u 0 to 5 in {o.capacity_steps:,}",
        "attention": f"gain 1 to 8 in {o.attention_steps:,}",
        "learning rate": f"{o.adam.lr:g}, falling to {o.adam.rate(1):g} on a straight line",
        "seeds": seeds_described(s.seeds, FEWER_SEEDS.get(scale)),
    }
    return tables.document(
        f"PartedVAE: how many shape labels ({scale} scale)",
        "Hajimiri et al. 2021, tables 1 and 2: too few labels are worse than none, 0.5 % and more are better. "
        "§5.3: without the penalty on overlapping modes the score falls. Labels are read in training only.",
        tables.setting(ours, PAPER_SETTING),
        tables.section(
            "Results",
            "Means over seeds with 95 % Student intervals. Scores are those of u and z, 6 codes, over all five "
            "factors; the paper's factor score is by its authors' rule (latents of std < 0.1 struck out, majority "
            "scored on its own votes); «shape known» is the share of unlabelled images whose shape q(c given x) names "
            "(without labels, under the best naming of the classes).",
        ),
        tables.summary(finished, COLUMNS),
        f"![each run's scores]({stem}.png)",
        "What the penalty on overlap does (figure 10): the learned prior of u with 0.5 % of labels, with the "
        "penalty above and without it below, and images along it with z as in a typical image; the first run of "
        "each.",
        f"![modes of the learned priors, with images]({stem}-priors.png)",
        tables.section(
            "The paper's figures",
            tables.markdown(["", "labels", "factor score"], [[group, *known] for group, known in PUBLISHED.items()]),
        ),
        tables.every_run(finished, COLUMNS),
    )


STUDY = Study(
    name="parted-vae/sprites",
    title="factor score with 0, 0.1 %, 0.5 % and 1.35 % of shape labels, and without the penalty on overlap",
    trials=trials,
    measures={
        "factor_score_parted": partial(measures.score, name="factor_score", convention="parted"),
        "factor_score": measures.factor_score,
        "mig": measures.mig,
        "accuracy": shape_accuracy,
        "l2": measures.squared_error,
    },
    page=page,
)
