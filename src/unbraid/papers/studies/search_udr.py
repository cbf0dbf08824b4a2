"""Duan et al. 2020, Unsupervised Model Selection for Variational Disentangled Representation Learning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.api import Run
from unbraid.methods import BetaTCVAE, recipes
from unbraid.metrics import Table, suite
from unbraid.papers import tables
from unbraid.papers.measures.rank_agreement import between_groups, over_all, within_groups
from unbraid.papers.settings import mostly_kl
from unbraid.papers.study import Finished, Scale, Study, Trial
from unbraid.runs.codes import factor_columns
from unbraid.search.agreement import Agreement, agreement
from unbraid.search.figures import codes_file, losses, shared_codes
from unbraid.search.halving import promoted
from unbraid.training import checkpoint
from unbraid.util.arrays import read_arrays


@dataclass(frozen=True)
class Setting:
    """What the scales differ in."""

    arguments: Mapping[str, Any]  # of the data set
    betas: tuple[float, ...]
    seeds: int
    steps: int
    early: tuple[int, ...]  # steps at which UDR is taken as well
    width: float


SETTINGS: dict[Scale, Setting] = {
    "smoke": Setting({"size": 32, "stride": 8}, (0.25, 6.0), 2, 4, (1, 2), 0.05),
    "desk": Setting({"size": 32, "stride": 2}, (0.1, 0.3, 0.75, 1.5, 6.0, 24.0), 6, 3_000, (333, 1_000), 0.25),
    "paper": Setting({}, (1.0, 2.0, 4.0, 6.0, 8.0, 10.0), 50, 300_000, (75_000, 150_000), 1.0),
}


VERSIONS = {"udr": "UDR (Spearman)", "udr_lasso": "UDR (Lasso)", "udr_active": "UDR (active)"}


def trials(scale: Scale) -> list[Trial]:
    """Every β with every seed."""
    setting = SETTINGS[scale]
    found = []
    for beta in setting.betas:
        config = replace(base(setting), beta=beta)
        found += [
            Trial(f"β = {beta:g}", "sprites", (config,), (setting.steps,), seed, setting.arguments, keep=setting.early)
            for seed in range(setting.seeds)
        ]
    return found


def base(setting: Setting) -> BetaTCVAE:
    """β-TCVAE as `unbraid search` starts it for binary images of this size, but without turns of the codes.

    With turns every β gets much the same MIG, so that there is nothing to rank.
    """
    size = int(setting.arguments.get("size", 64))
    start = recipes.fast_beta_tcvae(recipes.Traits((1, size, size), binary=True))
    return replace(start, width=setting.width, resolution=0, turns=0)


def encoded(run: Run, step: int | None = None) -> Table:
    """The codes of the observations that all runs share, computed once and kept in the run directory."""
    path = run.folder / codes_file(step)
    if not path.is_file():
        shared_codes(run, step)
    arrays = read_arrays(path, "delete it and repeat the command.")
    return Table.from_arrays(arrays | factor_columns(run.data.factors[arrays["rows"]], run.data.factor_info))


def score(run: Run, name: str) -> float:
    """A score of the shared codes."""
    return suite(encoded(run), metrics=[name], replicates=0)[name].value


def loss(run: Run, name: str) -> float:
    """The ELBO or the reconstruction error of the first stage."""
    table = encoded(run)
    assert table.information is not None
    return losses(run, {"information": table.information})[name]


def informative(run: Run) -> float:
    """How many latents UDR compares: those whose KL is more than 0.01 nats."""
    table = encoded(run)
    assert table.information is not None
    return float((table.information > 0.01).sum())


def early_codes(run: Run) -> float:
    """Encode with the weights that were kept on the way, for UDR at these steps; how many of them there are."""
    steps = checkpoint.kept(run.stage_folder(1))
    for step in steps:
        encoded(run, step)
    return float(len(steps))


MEASURES: dict[str, Callable[[Run], float]] = {
    "mig": partial(score, name="mig"),
    "dci": partial(score, name="dci"),
    "elbo": partial(loss, name="elbo"),
    "l2": partial(loss, name="l2"),
    "informative": informative,
    "early": early_codes,
}


def page(scale: Scale, finished: Sequence[Finished], folder: Path, stem: str) -> str:
    """Settings in a table, how UDR ranks them and their seeds, and what it would have chosen."""
    setting = SETTINGS[scale]
    groups = {name: runs for name, runs in tables.groups(finished).items() if len(runs) > 1}
    agreed = {name: agreement([one.folder for one in runs]) for name, runs in groups.items()}
    return tables.document(
        "Choosing without labels: UDR",
        "Does UDR, which reads no labels, put models in the order that labels would? Every β has several seeds. UDR of "
        "a model is its median agreement with the other seeds of its β; MIG and DCI are computed with all labels. "
        "Codes are those of the same 5,000 observations for every model.",
        tables.setting(here(scale), PAPER),
        tables.section("Settings", settings_table(groups, agreed)),
        tables.section("Rank correlation", correlations(groups, agreed)),
        "Intervals are the middle 95 % over 500 resamplings: of seeds within each setting, of all models, of settings.",
        tables.section("The choice", choice(groups, agreed)),
        tables.section("How early scores mislead", early(setting, groups, agreed)),
        "What `--halving` would go by. It is off unless asked for.",
        tables.every_run(finished, {"mig": ("MIG", 3), "dci": ("DCI", 3), "elbo": ("ELBO", 1), "l2": ("L2", 4)}),
    )


def here(scale: Scale) -> dict[str, str]:
    """What was done, point by point."""
    setting = SETTINGS[scale]
    size = int(setting.arguments.get("size", 64))
    return {
        "scale": scale,
        "data": f"sprites (dSprites drawn anew), {size}×{size}, stride {setting.arguments.get('stride', 1)}",
        "models": f"{len(setting.betas) * setting.seeds}: β-TCVAE, {len(setting.betas)} β × {setting.seeds} seeds",
        "β": ", ".join(f"{beta:g}" for beta in setting.betas) + " (for 1,024 values at 32×32; 4 times that at 64×64)",
        "steps": f"{setting.steps:,}, width {setting.width:g}",
        "batch": mostly_kl(base(setting).batch_size),
    }


PAPER = {
    "scale": "paper",
    "data": "dSprites and others, 64×64",
    "models": "5,400 of six methods",
    "β": "six values of each method's weight",
    "steps": "300,000",
    "batch": "64",
}


def settings_table(groups: Mapping[str, Sequence[Finished]], agreed: Mapping[str, Mapping[str, Agreement]]) -> str:
    """A row for each β."""
    rows = []
    for name, runs in groups.items():
        figures = [with_ends(agreed[name][key]) for key in VERSIONS] + [f"{agreed[name]['stability'].value:.3f}"]
        figures += [tables.with_interval([one.figures[key] for one in runs]) for key in ("mig", "dci")]
        figures += [tables.with_interval([one.figures["elbo"] for one in runs], 1)]
        rows.append([name, *figures, f"{np.mean([one.figures['informative'] for one in runs]):.1f}"])
    heads = ["", *VERSIONS.values(), "stability", "MIG", "DCI", "ELBO", "informative latents"]
    return tables.markdown(heads, rows)


def with_ends(found: Agreement) -> str:
    """UDR with its interval over models."""
    return f"{found.value:.3f}" + ("" if found.interval is None else " [{:.3f}, {:.3f}]".format(*found.interval))


def correlations(groups: Mapping[str, Sequence[Finished]], agreed: Mapping[str, Mapping[str, Agreement]]) -> str:
    """Spearman's ρ of each figure that needs no labels with MIG and DCI."""
    rows = []
    for label, score_of in (("MIG", "mig"), ("DCI", "dci")):
        truth = [[one.figures[score_of] for one in runs] for runs in groups.values()]
        found = {
            title: [list(agreed[name][key].per_model) for name in groups]
            for key, title in (VERSIONS | {"stability": "stability"}).items()
        } | {
            "ELBO": [[one.figures["elbo"] for one in runs] for runs in groups.values()],
        }
        for name, values in found.items():
            estimates = [how(values, truth) for how in (between_groups, over_all, within_groups)]
            rows.append([f"{name} with {label}", *("{:.2f} [{:.2f}, {:.2f}]".format(*one) for one in estimates)])
    return tables.markdown(["", "over settings", "over all models", "over seeds of a setting"], rows)


def choice(groups: Mapping[str, Sequence[Finished]], agreed: Mapping[str, Mapping[str, Agreement]]) -> str:
    """What UDR chooses, what labels would have chosen, and what lies between."""
    lines = []
    mig = {name: float(np.mean([one.figures["mig"] for one in runs])) for name, runs in groups.items()}
    oracle = max(mig, key=mig.__getitem__)
    models = [(one.figures["mig"], name, one.trial.seed) for name, runs in groups.items() for one in runs]
    for key, title in VERSIONS.items():
        chosen = max(groups, key=lambda name: agreed[name][key].value)
        place = int(np.argmax(agreed[chosen][key].per_model))
        run = groups[chosen][place]
        lines.append(
            f"- {title} chooses {chosen}, seed {run.trial.seed}: mean MIG of the setting {mig[chosen]:.3f}, "
            f"of the run {run.figures['mig']:.3f}."
        )
    best = max(models)
    lines.append(
        f"- With labels: {oracle} (mean MIG {mig[oracle]:.3f}); the best run is {best[1]}, seed {best[2]} "
        f"({best[0]:.3f})."
    )
    lines.append(f"- A run at random has MIG {np.mean([value for value, _, _ in models]):.3f}.")
    return "\n".join(lines)


def early(
    setting: Setting, groups: Mapping[str, Sequence[Finished]], agreed: Mapping[str, Mapping[str, Agreement]]
) -> str:
    """How UDR after some of the steps ranks settings, compared with UDR and MIG at the end."""
    mig = [[one.figures["mig"] for one in runs] for runs in groups.values()]
    rows = []
    for step in setting.early:
        found = {name: agreement([one.folder for one in runs], step) for name, runs in groups.items()}
        for key, title in VERSIONS.items():
            values = [list(found[name][key].per_model) for name in groups]
            order = sorted(groups, key=lambda name: -found[name][key].value)
            chosen = max(groups, key=lambda name: agreed[name][key].value)
            final = between_groups(values, [list(agreed[name][key].per_model) for name in groups])
            known = between_groups(values, mig)
            estimates = ["{:.2f} [{:.2f}, {:.2f}]".format(*one) for one in (final, known)]
            rows.append([f"{step:,}", title, *estimates, "yes" if chosen in order[: promoted(len(order))] else "no"])
    heads = ["after step", "", "ρ with itself at the end", "ρ with MIG at the end", "final choice among those let on"]
    return tables.markdown(heads, rows)


STUDY = Study(
    name="search/udr",
    title="UDR against MIG and DCI over 36 models",
    trials=trials,
    measures=MEASURES,
    page=page,
)
