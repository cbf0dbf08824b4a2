"""Locatello et al. 2020 and Klindt et al. 2021: what pairs that share factors are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unbraid.core import Adam
from unbraid.methods import AdaGVAE, AdaMLVAE, BetaVAE, SlowVAE
from unbraid.methods.recipes import start
from unbraid.methods.traits import Traits
from unbraid.methods.vae.beta_tcvae import BetaTCVAE
from unbraid.methods.vae.gaussian import GaussianConfig
from unbraid.papers import plots, tables
from unbraid.papers.measures import against_chance, runs
from unbraid.papers.settings import part_of_values, weights_described
from unbraid.papers.study import Finished, Scale, Study, Trial


@dataclass(frozen=True)
class Setting:
    """What the scales differ in."""

    data: Mapping[str, Mapping[str, Any]]  # data sets with their arguments
    steps: int
    seeds: int
    width: float


SMALL: dict[str, Any] = {"size": 32}
SETTINGS: dict[Scale, Setting] = {
    "smoke": Setting({"sprites": {"size": 32, "stride": 8}}, 4, 1, 0.1),
    "desk": Setting({"sprites": SMALL, "cars3d": SMALL}, 9_000, 5, 0.25),
    "paper": Setting({"sprites": {}, "cars3d": {}}, 300_000, 10, 1.0),
}
PAPER_SETTING = {
    "data": "dSprites, Cars3D and others, 64×64",
    "network": "Locatello et al. 2019 (conv, width 1)",
    "steps": "300,000, batch 64, Adam 1e-4",
    "weights": "for 64×64",
    "pairs": "some factors changed, their number drawn (Locatello); Laplace steps (Klindt)",
    "seeds": "many; medians and box plots",
}
WEIGHTS: dict[str, float] = {"β-VAE": 4.0, "Ada-GVAE": 1.0, "Ada-ML-VAE": 1.0}
COLUMNS = against_chance.COLUMNS | {"active": ("active latents", 1)}


def compared(setting: Setting, data: str) -> dict[str, GaussianConfig]:
    """The methods on networks, likelihood and optimiser that learn fast on such data; weights for 64×64, scaled."""
    size = int(setting.data[data].get("size", 64))
    channels = 1 if data == "sprites" else 3
    fast = start(BetaTCVAE, "fast", Traits((channels, size, size), binary=data == "sprites"))
    assert isinstance(fast, BetaTCVAE)
    common: dict[str, Any] = {
        "width": setting.width,
        "network": fast.network,
        "likelihood": fast.likelihood,
        "batch_size": fast.batch_size,
        "adam": Adam(lr=2e-3, end=0.02),
    }
    part = part_of_values(size)
    return {
        "β-VAE": BetaVAE(beta=WEIGHTS["β-VAE"] * part, **common),
        "Ada-GVAE": AdaGVAE(beta=WEIGHTS["Ada-GVAE"] * part, **common),
        "Ada-ML-VAE": AdaMLVAE(beta=WEIGHTS["Ada-ML-VAE"] * part, **common),
        "SlowVAE": SlowVAE(beta=part, gamma=10 * part, **common),
    }


def trials(scale: Scale) -> list[Trial]:
    """Every method from every seed on every data set; all methods of one seed before the next."""
    setting = SETTINGS[scale]
    return [
        Trial(f"{label}, {data}", data, (config,), (setting.steps,), seed, setting.data[data])
        for data in setting.data
        for seed in range(setting.seeds)
        for label, config in compared(setting, data).items()
    ]


def page(scale: Scale, finished: Sequence[Finished], folder: Path, stem: str) -> str:
    """The comparison as Markdown, with a picture beside it."""
    setting = SETTINGS[scale]
    finished = sorted(finished, key=lambda one: (one.trial.data, one.trial.group))
    plots.dots(folder / f"{stem}.png", finished, against_chance.DRAWN)
    sides = {name: arguments.get("size", 64) for name, arguments in setting.data.items()}
    ours = {
        "data": ", ".join(f"{name} {side}×{side}" for name, side in sides.items()),
        "network": f"broadcast decoder, width {setting.width:g}, 10 latents",
        "steps": f"{setting.steps:,}, batch 32, Adam 2e-3 falling to 2 %",
        "weights": "; ".join(f"{name}: {weights_described(side)}" for name, side in sides.items()),
        "pairs": "any number of factors but all changed (Ada-), short steps (SlowVAE); β-VAE has single images",
        "seeds": str(setting.seeds),
    }
    return tables.document(
        f"Pairs: β-VAE, Ada-GVAE, Ada-ML-VAE and SlowVAE ({scale} scale)",
        "Locatello et al. 2020: methods that learn from pairs are ahead of β-VAE. Klindt et al. 2021: so is SlowVAE, "
        "on pairs with small steps. The methods are told which observations share factors, and not which factors.",
        tables.setting(ours, PAPER_SETTING),
        tables.section(
            "Results",
            against_chance.HOW,
        ),
        tables.summary(finished, COLUMNS),
        f"![each run's scores]({stem}.png)",
        tables.every_run(finished, COLUMNS),
    )


STUDY = Study(
    name="beyond/pairs",
    title="β-VAE beside methods that learn from pairs, on sprites and Cars3D",
    trials=trials,
    measures=against_chance.MEASURES | {"active": runs.active_latents},
    page=page,
)
