"""MS-VAE, appendix L: what each choice is for. Models M1 to M5 beside the β-VAE that they start from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.api import Run
from unbraid.core import Adam
from unbraid.methods import MSVAE, VAE, BetaVAE, EndToEnd
from unbraid.papers import plots, tables
from unbraid.papers.measures import chains, exchanged
from unbraid.papers.measures import runs as measures
from unbraid.papers.measures.moved_alone import moved_alone
from unbraid.papers.settings import ChainSetting, by_seed, part_of_values, seeds_described
from unbraid.papers.study import Finished, Scale, Study, Trial

CODES = 5  # of c, and as many of z (appendix L)
BV, M1, M2 = "BV: β-VAE", "M1: c and z at once", "M2: c and z side by side"
M3, M4, M5 = "M3: c in place of y, z by AdaIN", "M4: MS-VAE", "M5: z first, then c"
SHOWN, SHOWN_ROW = 3, 7  # codes of each model in the picture, and the image that they start from


@dataclass(frozen=True)
class Setting(ChainSetting):
    """What the scales differ in."""

    width: float
    second_width: float
    batch: int  # of second stages and M1
    lr: float
    second_lr: float
    end: float  # of the second stages' rate, in parts of where it starts
    weight: float  # of every KL: the image's values in parts of 64×64's


SMALL = {"size": 32}
PART = part_of_values(SMALL["size"])
SETTINGS: dict[Scale, Setting] = {
    "smoke": Setting("sprites", SMALL | {"stride": 16}, 4.0, (4, 4), 1, 0.1, 0.05, 16, 1e-3, 1e-3, 0.02, PART),
    "desk": Setting("cars3d", SMALL, 4.0, (1_200, 3_000), 3, 0.5, 0.25, 16, 1e-3, 1e-3, 0.02, PART),
    "paper": Setting("cars3d", {}, 4.0, (300_000, 300_000), 1, 1.0, 1.0, 32, 1e-4, 1e-4, 1.0, 1.0),
}
# For what little c tells in M1, how entangled it is, and what differs little from model to model.
MORE_SEEDS: dict[Scale, dict[str, int]] = {"desk": dict.fromkeys((BV, M1, M2, M3, M4), 10)}
PAPER_SETTING = {
    "data": "Cars3D, 64×64",
    "β": "not given",
    "codes": "5 c, 5 z",
    "first stage": "β-VAE (M5: VAE)",
    "second stage": "width 1; steps not given",
    "figures": "none: the paper shows traversals (figures 37–40)",
    "seeds": "1",
}


def models(s: Setting) -> dict[str, tuple[Any, ...]]:
    """The stages of each model: configurations of the same pieces."""
    first: dict[str, Any] = {"latents": CODES, "width": s.width, "adam": Adam(lr=s.lr)}
    second: dict[str, Any] = {"width": s.second_width, "batch_size": s.batch, "adam": Adam(lr=s.second_lr, end=s.end)}
    second |= {"beta": s.weight}
    beta = s.beta * s.weight
    base = BetaVAE(beta=beta, **first)
    return {
        BV: (base,),
        M1: (EndToEnd(latents=CODES, residual_latents=CODES, residual_beta=s.weight, **(second | {"beta": beta})),),
        M2: (base, MSVAE(latents=CODES, content="codes+z", **second)),
        M3: (base, MSVAE(latents=CODES, content="codes", **second)),
        M4: (base, MSVAE(latents=CODES, **second)),
        M5: (
            VAE(**first) if s.weight == 1 else BetaVAE(beta=s.weight, **first),
            MSVAE(latents=CODES, content="codes+z", encoder_sees="x", **(second | {"beta": beta})),
        ),
    }


def trials(scale: Scale) -> list[Trial]:
    """Every model from every seed; M2, M3 and M4 share their first stage."""
    s = SETTINGS[scale]
    made = []
    rows = models(s)
    for seed, group in by_seed(rows, s.seeds, MORE_SEEDS.get(scale)):
        stages = rows[group]
        steps = (sum(s.steps),) if group == M1 else s.steps[: len(stages)]
        made.append(Trial(group, s.data, stages, steps, seed, s.arguments))
    return made


def stage_of_c(run: Run) -> int:
    """Where c stands: in the second stage of M5, in the first of all others."""
    last = run.plan.stages[-1][0]
    return 2 if isinstance(last, MSVAE) and last.encoder_sees == "x" else 1


def of_c(run: Run, name: str) -> NDArray[Any]:
    """An array of the code table, of c alone."""
    prefix = "stage-2/" if stage_of_c(run) == 2 else ""
    array: NDArray[Any] = run.encode(show=False).arrays[f"{prefix}{name}"]
    return array[..., :CODES]


def mig(run: Run) -> float:
    """MIG of c."""
    return measures.mig(run, codes=of_c(run, "codes"))


def information(run: Run) -> float:
    """What c tells of the observation, in nats: the sum of its codes' KL."""
    return float(of_c(run, "information").sum())


def information_of_z(run: Run) -> float:
    """The same of z: the last stage's, but the first's of M5 and half of M1's codes."""
    if len(run.plan.stages) == 1 and run.plan.stages[0][0].name == BetaVAE.name:
        return chains.NOTHING
    prefix = "stage-2/" if len(run.plan.stages) == 2 and stage_of_c(run) == 1 else ""
    array: NDArray[Any] = run.encode(show=False).arrays[f"{prefix}information"]
    return float(array[-CODES:].sum())


def conditioning(run: Run, name: str) -> float:
    """M1 to M4 of the measure, where c is stage 1's."""
    return chains.NOTHING if stage_of_c(run) == 2 else chains.conditioning(run, name)


def of_stage_1(run: Run, measure: Callable[[Run], float]) -> float:
    """A measure of codes c that are stage 1's."""
    return chains.NOTHING if stage_of_c(run) == 2 else measure(run)


MEASURES: dict[str, Callable[[Run], float]] = {
    **chains.errors(),
    "mig": mig,
    "information": information,
    "z-information": information_of_z,
    **chains.conditionings(conditioning),
    "M3-other": partial(of_stage_1, measure=exchanged.MEASURES["M3-other"]),
    "M4-other": partial(of_stage_1, measure=exchanged.MEASURES["M4-other"]),
    "floor": partial(of_stage_1, measure=exchanged.MEASURES["floor"]),
    "others": partial(of_stage_1, measure=moved_alone),
    "first-others": partial(of_stage_1, measure=partial(moved_alone, stage=0)),
}
COLUMNS = {
    "l2": ("L2 of x̂", 4),
    "first-l2": ("L2 of stage 1", 4),
    "mig": ("MIG of c", 3),
    "information": ("c tells, nats", 1),
    "z-information": ("z tells, nats", 1),
    **{name: (name, 3) for name in ("M1", "M2", "M3", "M4")},
    "M3-other": ("M3, another's z", 3),
    "M4-other": ("M4, another's y", 3),
    "floor": ("floor of M4", 3),
    "others": ("others that move", 3),
    "first-others": ("in y", 3),
}


DIFFERENT = ("l2", "z-information", "M3", "M3-other", "others")


def picture(path: Path, finished: Sequence[Finished]) -> None:
    """For each model the codes c that tell most, moved over the range of the data while all others stay."""
    rows: list[tuple[str, NDArray[Any]]] = []
    for group, runs in tables.groups(finished).items():
        run = Run.open(runs[0].folder)
        x = np.ascontiguousarray(run.data.observations[[SHOWN_ROW]])
        moved = run.traverse(x, stage=stage_of_c(run), steps=10)[-1]
        for place, code in enumerate(np.argsort(-of_c(run, "information"))[:SHOWN]):
            name = group.split(":")[0] if not place else ""
            rows.append((f"{name}   c{code + 1}", moved[code]))
    plots.image_rows(path, rows)


def described(s: Setting, of: str = "") -> dict[str, str]:
    """This run of the study for the page, point by point; `of` says whose β it is."""
    first, second = models(s)[M4]
    side = s.arguments.get("size", 64)
    return {
        "data": f"{s.data}, {side}×{side}",
        "β": f"{s.beta:g}{of}; every KL times {s.weight:g} for the number of values",
        "codes": PAPER_SETTING["codes"],
        "first stage": chains.described(first, s.steps[0]),
        "second stage": chains.described(second, s.steps[1]),
        "figures": "below",
        "seeds": str(s.seeds),
    }


def page(scale: Scale, finished: Sequence[Finished], folder: Path, stem: str) -> str:
    """The ablations as Markdown, with their traversals beside them."""
    s = SETTINGS[scale]
    picture(folder / f"{stem}.png", finished)
    seeds = {"seeds": seeds_described(s.seeds, MORE_SEEDS.get(scale))}
    return tables.document(
        f"MS-VAE: ablations on {s.data} ({scale} scale)",
        "Appendix L. M1 trains both stages as one; M2 puts c and z side by side into the second stage; M3 gives it "
        "c in place of y and z by AdaIN; M4 is MS-VAE: y, and z by AdaIN; M5 learns z first, with a plain VAE, "
        "and c after it. The paper: M4 has the best reconstructions of the three that share a β-VAE; M2 loses "
        "hold of c; M1 entangles c; M5's c is empty.",
        tables.setting(described(s, " (of c; M5: of its second stage)") | seeds, PAPER_SETTING),
        chains.sizes(finished),
        tables.section(
            "Results",
            "«c tells» and «z tells» are the KL of their codes, summed. The columns M1 to M4 are the measures of §4, "
            "not the models: information between stage 1's codes of x and those of y, x̂, x̂ with random z, x̂ with "
            "noise for y; then with the z or the y of another image in place of noise. The floor is M4 of codes in a "
            "random order. «Others that move»: each code c is given another image's value, z stays, and stage 1 reads "
            "x̂ (or y): the share of what moves that is another code than the one that was moved. Means over seeds "
            "with 95 % Student intervals.",
        ),
        tables.summary(finished, COLUMNS),
        f"What the others differ from {M4}, seed by seed; M2, M3 and M4 of one seed share their first stage.",
        tables.differences(finished, {name: COLUMNS[name] for name in DIFFERENT}, M4),
        f"![the codes c that tell most, by model]({stem}.png)",
        tables.every_run(finished, COLUMNS),
    )


STUDY = Study(
    name="ms-vae/ablations",
    title="Cars3D, appendix L: two steps or one, y or c, AdaIN or concatenation, c or z first",
    trials=trials,
    measures=MEASURES,
    page=page,
)
