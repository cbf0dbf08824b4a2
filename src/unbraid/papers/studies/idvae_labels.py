"""Mita et al. 2021, Learning Optimal Conditional Priors For Disentangled Representations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from unbraid import metrics
from unbraid.api import Run
from unbraid.core import Adam
from unbraid.data import load
from unbraid.data.label_budget import LabelBudget
from unbraid.methods import IDVAE, IVAE, SSIDVAE, SSIVAE, BetaVAE, FullVAE
from unbraid.methods.labelled.conditional import ConditionalConfig
from unbraid.methods.vae.gaussian import GaussianConfig
from unbraid.nets.stacks import NetworkName
from unbraid.papers import plots, tables
from unbraid.papers.measures import runs as measures
from unbraid.papers.measures.conditional_priors import prior_divergence, prior_mig
from unbraid.papers.settings import part_of_values
from unbraid.papers.study import Finished, Scale, Study, Trial
from unbraid.runs.codes import choose_rows

MIDDLE = 4.0  # the strength at which `label_scale` and label budgets are tried
SCALES_OF_LABELS = (0.1, 0.3, 0.707)  # 0.707: a squared error without ½, as in the authors' code
FACTORS = {"sprites": 5, "cars3d": 3, "scenes": 5}
CEILING_ROWS = 10_000


@dataclass(frozen=True)
class Setting:
    """What the scales differ in; every method has the same network, optimiser, batch and steps, as in the paper."""

    data: Mapping[str, Mapping[str, Any]]  # arguments by name of the data set; the first is tried with few labels too
    steps: int
    strengths: tuple[float, ...]
    seeds: int
    network: NetworkName = "auto"
    width: float = 1.0
    batch: int = 64
    adam: Adam = field(default_factory=lambda: Adam(lr=1e-4))
    budgets: tuple[str, ...] = ("1%", "10%")


FAST: dict[str, Any] = {"network": "broadcast", "width": 0.25, "batch": 32, "adam": Adam(lr=2e-3, end=0.02)}
SETTINGS: dict[Scale, Setting] = {
    "smoke": Setting(
        {"sprites": {"size": 32, "stride": 8}, "scenes": {"n": 300, "size": 32, "toys": 1}},
        3,
        (MIDDLE,),
        1,
        **FAST | {"width": 0.1},
        budgets=("50%",),
    ),
    "desk": Setting({"sprites": {"size": 32}, "cars3d": {"size": 32}}, 2_500, (1.0, 4.0, 16.0), 3, **FAST),
    "paper": Setting({"sprites": {}, "cars3d": {}}, 300_000, (1.0, 2.0, 4.0, 6.0, 8.0, 16.0), 10),
}
PAPER_SETTING = {
    "data": "dSprites, Cars3D, Shapes3D, SmallNORB at 64×64",
    "network": "table 2 (width 1), as many latents as factors",
    "steps": "300,000",
    "batch": "64",
    "optimiser": "Adam, 1e-4",
    "strengths": "1, 2, 4, 6, 8, 16 (β, or γ of FullVAE)",
    "weights": "as they are",
    "label_scale": "squared error without ½ in the authors' code: 0.707",
    "seeds": "10",
    "labels": "all factors of all observations, in training and (IVAE, IDVAE) at test time",
}
SCORES = {
    "beta_score": "β-VAE score",
    "mig": "MIG",
    "sap": "SAP",
    "modularity": "modularity",
    "explicitness": "explicitness (AUC)",
}
OPTIONS: dict[str, dict[str, Any]] = {"explicitness": {"convention": "auc"}}  # the paper's; ours is 2·AUC − 1
GIVEN = "-with-labels"
OF_PRIOR = (("prior_divergence", 1), ("prior_mig", 3))
METHODS = ("β-VAE", "FullVAE", "IVAE", "IDVAE")
UNTRAINED = "IDVAE after one step"  # the floor: what labels that go into an encoder are worth when they come out


def options(setting: Setting, data: str) -> dict[str, Any]:
    """What all methods have in common; as many latents as there are factors."""
    shared = {"network": setting.network, "width": setting.width, "batch_size": setting.batch, "adam": setting.adam}
    return {**shared, "latents": FACTORS[data]}


def prior_adam(setting: Setting) -> Adam:
    """As the authors' code has it for the VAE over u."""
    return Adam(lr=setting.adam.lr, beta1=0.5, beta2=0.9, end=setting.adam.end)


def part(setting: Setting, data: str) -> float:
    """Of the paper's values of an observation."""
    return part_of_values(int(setting.data[data].get("size", 64)))


def compared(setting: Setting, data: str, at: float) -> dict[str, GaussianConfig]:
    """The four methods at this strength of the regularisation that each is named for."""
    common, share = options(setting, data), part(setting, data)
    return {
        "β-VAE": BetaVAE(beta=at * share, **common),
        "FullVAE": FullVAE(gamma=at * share, beta=share, **common),
        "IVAE": IVAE(beta=at * share, **common),
        "IDVAE": IDVAE(beta=at * share, prior_adam=prior_adam(setting), **common),
    }


def trials(scale: Scale) -> list[Trial]:
    """Every method at every strength, then label scales and budgets; one seed after another."""
    s = SETTINGS[scale]
    first = next(iter(s.data))
    rows: list[tuple[str, str, GaussianConfig, LabelBudget | None]] = []
    for data in s.data:
        for at in s.strengths:
            rows += [(data, group, config, None) for group, config in compared(s, data, at).items()]
        rows.append((data, UNTRAINED, compared(s, data, MIDDLE)["IDVAE"], None))
    common, prior = options(s, first) | {"beta": MIDDLE * part(s, first)}, prior_adam(s)
    for label_scale in SCALES_OF_LABELS[1:]:
        config = IDVAE(prior_adam=prior, label_scale=label_scale, **common)
        rows.append((first, f"IDVAE, label_scale {label_scale:g}", config, None))
    common["alpha"] = part(s, first)
    for amount in s.budgets:
        said, budget = f"{amount.rstrip('%')} % of labels", LabelBudget(amount)
        rows.append((first, f"SS-IVAE, {said}", SSIVAE(**common), budget))
        rows.append((first, f"SS-IDVAE, {said}", SSIDVAE(prior_adam=prior, **common), budget))
    return [
        Trial(f"{data}: {group}", data, (config,), (1 if group == UNTRAINED else s.steps,), seed, s.data[data], budget)
        for seed in range(s.seeds)
        for data, group, config, budget in rows
    ]


MEASURES: dict[str, Callable[[Run], float]] = {
    f"{name}{suffix}": partial(measures.score, name=name, labels=labels, **OPTIONS.get(name, {}))
    for name in SCORES
    for suffix, labels in (("", False), (GIVEN, True))
} | {"prior_divergence": prior_divergence, "prior_mig": prior_mig}


def strength(one: Finished) -> float:
    """β, or γ of FullVAE, as the paper counts it for its 64×64 images."""
    config: Any = one.trial.stages[0]
    weight = config.gamma if isinstance(config, FullVAE) else config.beta
    return float(round(weight / part_of_values(int(one.trial.arguments.get("size", 64))), 6))


def reads_labels(one: Finished) -> bool:
    """Whether its encoder is given labels at test time in the paper."""
    return isinstance(one.trial.stages[0], ConditionalConfig)


def ceiling(data: str, arguments: Mapping[str, Any]) -> list[str]:
    """The scores of codes that are the labels themselves: no encoder can be asked for more."""
    known = load(data, **arguments)
    rows = choose_rows(len(known), CEILING_ROWS, 0)
    factors, kinds = known.factors[rows], tuple(factor.kind for factor in known.factor_info)
    return [
        f"{float(getattr(metrics, name)(factors, factors, kinds=kinds, replicates=0, **OPTIONS.get(name, {}))):.3f}"
        for name in SCORES
    ]


def score_rows(title: str, runs: Sequence[Finished]) -> list[list[str]]:
    """A row of means and intervals, and for encoders that read labels a second one with labels."""
    kinds = {title: ""} | ({f"{title}, given labels": GIVEN} if reads_labels(runs[0]) else {})
    return [
        [name, *(tables.with_interval([run.figures[score + suffix] for run in runs]) for score in SCORES)]
        for name, suffix in kinds.items()
    ]


def scores_of(finished: Sequence[Finished], setting: Setting, data: str) -> str:
    """Means over strengths and seeds for each method on one data set, with the ceiling."""
    rows: list[list[str]] = []
    for group, runs in tables.groups(finished).items():
        if group in {f"{data}: {name}" for name in (*METHODS, UNTRAINED)}:
            rows += score_rows(group.split(": ")[1], runs)
    rows.append(["*codes that are the labels*", *ceiling(data, setting.data[data])])
    return tables.markdown(["", *SCORES.values()], rows)


def by_strength(path: Path, finished: Sequence[Finished], setting: Setting) -> None:
    """Medians over seeds of each score against the strength, a row of panels for each data set (figure 6)."""
    colours = dict(zip(METHODS, ("#76797f", "#b3541e", "#4c9a6a", "#2f6fbf"), strict=True))
    with plots.plain_style():
        figure = Figure(figsize=(11, 2.5 * len(setting.data) + 0.4), layout="constrained")
        panels = figure.subplots(len(setting.data), len(SCORES), squeeze=False)
        for row, data in zip(panels, setting.data, strict=True):
            for name, colour in colours.items():
                runs = [one for one in finished if one.trial.group == f"{data}: {name}"]
                at = sorted({strength(one) for one in runs})
                for suffix, line in (("", "-"), (GIVEN, "--")):
                    if not runs or (suffix and not reads_labels(runs[0])):
                        continue
                    for panel, score in zip(row, SCORES, strict=True):
                        median = [np.median([r.figures[score + suffix] for r in runs if strength(r) == b]) for b in at]
                        label = name + (", given labels" if suffix else "")
                        panel.plot(at, median, f"o{line}", ms=3, lw=1.2, color=colour, label=label)
            for panel, title in zip(row, SCORES.values(), strict=True):
                panel.set(xscale="log", xticks=setting.strengths, xticklabels=[f"{b:g}" for b in setting.strengths])
                panel.minorticks_off()
                panel.set_title(title, fontsize=9)
                panel.grid(alpha=0.25)
            row[0].set_ylabel(data)
        handles, labels = panels[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, frameon=False, loc="outside lower center", ncols=len(labels))
        plots.save_figure(figure, path)


def label_scales(finished: Sequence[Finished], data: str) -> str:
    """IDVAE at one strength over standard deviations of p(u | z), with what the prior tells of u."""
    rows = []
    tried = [one for one in finished if f"{data}: IDVAE" in one.trial.group and UNTRAINED not in one.trial.group]
    for at in SCALES_OF_LABELS:
        runs = [one for one in tried if strength(one) == MIDDLE and one.trial.stages[0].label_scale == at]  # type: ignore[attr-defined]
        if runs:
            told = [tables.with_interval([run.figures[name] for run in runs], digits) for name, digits in OF_PRIOR]
            rows += [[row[0], *told, *row[1:]] for row in score_rows(f"{at:g}", runs)]
    return tables.markdown(["label_scale", "KL of the prior, nats", "its MIG", *SCORES.values()], rows)


def budgets(finished: Sequence[Finished], data: str) -> str:
    """The semi-supervised forms over label budgets; u is guessed unless it is given."""
    rows: list[list[str]] = []
    for group, runs in tables.groups(finished).items():
        if group.startswith(f"{data}: SS-"):
            rows += score_rows(group.split(": ")[1], runs)
    return tables.markdown(["", *SCORES.values()], rows)


def described(s: Setting) -> dict[str, str]:
    """The setting as the page shows it beside the paper's."""
    sizes = {name: arguments.get("size", 64) for name, arguments in s.data.items()}
    return {
        "data": ", ".join(f"{name} {size}×{size}" for name, size in sizes.items()),
        "network": f"{s.network}, width {s.width:g}, as many latents as factors",
        "steps": f"{s.steps:,}",
        "batch": f"{s.batch}",
        "optimiser": f"Adam, {s.adam.lr:g}" + (f", falling to {s.adam.rate(1):g}" if s.adam.end < 1 else ""),
        "strengths": ", ".join(f"{at:g}" for at in s.strengths),
        "weights": f"{part(s, next(iter(s.data))):g} of the strengths, as the images have of the paper's values",
        "label_scale": "0.1; below also 0.3 and 0.707",
        "seeds": str(s.seeds),
        "labels": "all factors of all observations in training; at test time with and without",
    }


def page(scale: Scale, finished: Sequence[Finished], folder: Path, stem: str) -> str:
    """The comparison as Markdown, with a picture beside it."""
    s, first = SETTINGS[scale], next(iter(SETTINGS[scale].data))
    by_strength(folder / f"{stem}.png", finished, s)
    ours = described(s)
    return tables.document(
        f"IDVAE: what labels give a representation ({scale} scale)",
        "Mita et al. 2021, §5.2 and figures 3–6 (box plots and curves without numbers), and the semi-supervised form "
        "of appendix C, of which the paper shows no results. The paper's IVAE and IDVAE are given the true factors at "
        "test time; here that is a row of its own. Without labels, u is held at its mean in training, which says "
        "nothing of the observation. An encoder that is given labels passes them on even untrained: that row and codes "
        "that are the labels are floor and ceiling of «given labels». Explicitness is the paper's, the AUC; the "
        "`explicitness` of this package is 2·AUC − 1. SAP is by linear SVM.",
        tables.setting(ours, PAPER_SETTING),
        *(
            block
            for data in s.data
            for block in (
                tables.section(
                    f"Scores on {data}", "Means over strengths and seeds with 95 % Student intervals; higher is better."
                ),
                scores_of(finished, s, data),
            )
        ),
        tables.section("By strength of the regularisation", "Medians over seeds (figures 4 and 6)."),
        f"![five scores against the strength]({stem}.png)",
        tables.section(
            "How sharp the prior is told the labels",
            f"IDVAE on {first} at β = {MIDDLE:g}, over the standard deviation of p(u | z). The prior's KL is to "
            "N(0, I); its MIG is that of its means at the true labels, as codes.",
        ),
        label_scales(finished, first),
        tables.section("With few labels", f"On {first} at β = {MIDDLE:g}; without labels u is guessed from x."),
        budgets(finished, first),
    )


STUDY = Study(
    name="idvae/labels",
    title="β-VAE, FullVAE, IVAE, IDVAE with and without labels at test time, and with few labels in training",
    trials=trials,
    measures=MEASURES,
    page=page,
)
