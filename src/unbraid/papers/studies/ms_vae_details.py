"""MS-VAE: the four details of the second stage that the authors' code has and the text has not, one at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from unbraid.api import Run
from unbraid.methods import MSVAE
from unbraid.papers import tables
from unbraid.papers.measures import chains, exchanged
from unbraid.papers.studies import ms_vae_ablations as ablations
from unbraid.papers.study import Finished, Scale, Study, Trial

PLAIN, ALL = "as the text has it", "all four"
DETAILS: dict[str, tuple[str, ...]] = {
    PLAIN: (),
    "z at the dense layer (sites)": ("sites",),
    "instance norm in the encoder (norm)": ("norm",),
    "y as logits (logits)": ("logits",),
    "leaky units on the way down (leaky)": ("leaky",),
    ALL: ("sites", "norm", "logits", "leaky"),
}
SETTINGS = {scale: replace(setting, seeds=3) for scale, setting in ablations.SETTINGS.items()}
PAPER_SETTING = ablations.PAPER_SETTING | {"first stage": "β-VAE", "figures": "none: the authors' code has all four"}


def trials(scale: Scale) -> list[Trial]:
    """Every detail from every seed, behind the same first stage."""
    s = SETTINGS[scale]
    first, second = ablations.models(s)[ablations.M4]
    assert isinstance(second, MSVAE)
    return [
        Trial(group, s.data, (first, replace(second, details=details)), s.steps, seed, s.arguments)
        for seed in range(s.seeds)
        for group, details in DETAILS.items()
    ]


MEASURES: dict[str, Callable[[Run], float]] = {
    **chains.errors(),
    "z-information": ablations.information_of_z,
    **chains.conditionings(),
    "floor": exchanged.MEASURES["floor"],
}
COLUMNS = {
    "l1": ("L1 of x̂", 4),
    "l2": ("L2 of x̂", 4),
    "first-l2": ("L2 of stage 1", 4),
    "z-information": ("z tells, nats", 1),
    **{name: (name, 3) for name in ("M1", "M2", "M3", "M4")},
    "floor": ("floor of M4", 3),
}
DIFFERENCES = {name: COLUMNS[name] for name in ("l1", "l2", "M2", "M3")}


def page(scale: Scale, finished: Sequence[Finished], folder: Path, stem: str) -> str:
    """The details as Markdown: what each changes behind one and the same first stage."""
    return tables.document(
        f"MS-VAE: four details of the authors' code ({scale} scale)",
        "The text styles the first convolution and every layer after it; the authors' code styles the dense layer at "
        "the bottom and not the first convolution, normalises the maps of the residual's encoder, gives the decoder y "
        "as logits, and has leaky units on the way down. `--details` has each alone.",
        tables.setting(ablations.described(SETTINGS[scale]), PAPER_SETTING),
        chains.sizes(finished),
        tables.section(
            "Results",
            "M1 to M4: information between stage 1's codes of x and those of y, x̂, x̂ with random z, x̂ with noise for "
            "y; the floor is M4 of codes in a random order. Means over seeds with 95 % Student intervals.",
        ),
        tables.summary(finished, COLUMNS),
        f"What each changes, seed by seed behind the same first stage: the difference from «{PLAIN}».",
        tables.differences(finished, DIFFERENCES, PLAIN),
        tables.every_run(finished, COLUMNS),
    )


STUDY = Study(
    name="ms-vae/details",
    title="Cars3D: what each of four details of the authors' second stage is worth",
    trials=trials,
    measures=MEASURES,
    page=page,
)
