"""Hsu et al. 2023 and 2024: codes of few values with small weights (QLAE), and Tripod without each of its legs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unbraid.core import Adam, MethodConfig
from unbraid.methods import FSQ, QLAE, Autoencoder, BetaVAE, Tripod
from unbraid.papers import plots, tables
from unbraid.papers.measures import against_chance
from unbraid.papers.study import Finished, Scale, Study, Trial


@dataclass(frozen=True)
class Setting:
    """What the scales differ in."""

    arguments: Mapping[str, Any]  # of the data set
    steps: int
    seeds: int
    width: float
    batch_size: int
    lr: float
    decay: float  # of weights, where a method has it


SETTINGS: dict[Scale, Setting] = {
    "smoke": Setting({"size": 16, "toys": 1, "n": 200}, 3, 1, 0.1, 8, 2e-3, 1.0),
    "desk": Setting({"size": 32, "toys": 1}, 2_000, 3, 0.25, 32, 2e-3, 0.3),
    "paper": Setting({"size": 64, "toys": 1, "grid": True}, 200_000, 5, 1.0, 128, 1e-3, 0.1),
}
PAPER_SETTING = {
    "data": "Shapes3D, MPI3D, Falcor3D, Isaac3D, 64×64; all combinations of the factors",
    "network": "convolutional with AdaIN, 2 latents for each factor",
    "steps": "200,000, batch 128, Adam(W) 1e-3",
    "decay": "0.1 (QLAE)",
    "weights": "tuned for each data set, by orders of magnitude",
    "seeds": "5",
}
# On a seed that is not reported: β of 4, 12 and 40 has MIG 0.10, 0.12, 0.28; decay of 0, 0.1, 0.3, 1 and 3 has InfoM
# 0.54, 0.52, 0.71, 0.63 and 0.92 (of codes that know next to nothing); a Hessian weight of 1e-4 leaves no code at all,
# and independence of 1e-3 half of what codes tell (InfoE 0.42 in place of 0.79).
BETA, SCALE = 40.0, 0.1  # the scale of β-VAE's Gaussian; the others, which have no KL term, keep to Bernoulli
INDEPENDENCE, HESSIAN = 3e-4, 1e-6
COMMITMENT = 1e-2


def compared(setting: Setting) -> dict[str, MethodConfig]:
    """The methods on one network and with one optimiser."""
    adam, decayed = (Adam(lr=setting.lr, end=0.02, clip=1.0, decay=decay) for decay in (0.0, setting.decay))
    common: dict[str, Any] = {
        "width": setting.width,
        "network": "broadcast",
        "likelihood": "bernoulli",
        "batch_size": setting.batch_size,
    }
    weights: dict[str, Any] = {"independence": INDEPENDENCE, "hessian": HESSIAN}
    codebooks: dict[str, Any] = {"quantization": COMMITMENT, "commitment": COMMITMENT}
    return {
        "autoencoder": Autoencoder(adam=adam, **common),
        "autoencoder, decay": Autoencoder(adam=decayed, **common),
        "β-VAE": BetaVAE(beta=BETA, adam=adam, **(common | {"likelihood": "gaussian", "scale": SCALE})),
        "QLAE without decay": QLAE(adam=adam, **codebooks, **common),
        "QLAE": QLAE(adam=decayed, **codebooks, **common),
        "FSQ": FSQ(adam=adam, **common),
        "Tripod": Tripod(adam=adam, **weights, **common),
        "Tripod without independence": Tripod(adam=adam, **(weights | {"independence": 0.0}), **common),
        "Tripod without Hessian": Tripod(adam=adam, **(weights | {"hessian": 0.0}), **common),
        "Tripod without rounding": Tripod(adam=adam, rounded=False, **weights, **common),
    }


def trials(scale: Scale) -> list[Trial]:
    """Every method from every seed; all methods of one seed before the next."""
    setting = SETTINGS[scale]
    return [
        Trial(label, "scenes", (config,), (setting.steps,), seed, setting.arguments)
        for seed in range(setting.seeds)
        for label, config in compared(setting).items()
    ]


def page(scale: Scale, finished: Sequence[Finished], folder: Path, stem: str) -> str:
    """The comparison as Markdown, with a picture beside it."""
    setting = SETTINGS[scale]
    order = list(compared(setting))
    finished = sorted(finished, key=lambda one: order.index(one.trial.group))
    plots.dots(folder / f"{stem}.png", finished, against_chance.DRAWN)
    side = setting.arguments["size"]
    ours = {
        "data": f"scenes with one toy, {side}×{side}: sky, floor, place, distance, sun; an image is a function of them",
        "network": f"broadcast decoder, width {setting.width:g}, 10 latents: 2 for each factor",
        "steps": f"{setting.steps:,}, batch {setting.batch_size}, Adam(W) {setting.lr:g} falling to 2 %",
        "decay": f"{setting.decay:g} (QLAE): decay and learning rate act together, and steps are few",
        "weights": f"β {BETA:g} with a Gaussian of scale {SCALE:g}; Tripod's independence {INDEPENDENCE:g}, "
        f"Hessian {HESSIAN:g}; codebooks {COMMITMENT:g}",
        "seeds": str(setting.seeds),
    }
    return tables.document(
        f"Codes of few values: QLAE, FSQ and Tripod ({scale} scale)",
        "Hsu et al. 2023: an autoencoder with codes of few values and strong weight decay is ahead of autoencoders and "
        "VAEs in InfoM and InfoC, and needs both. Hsu et al. 2024: Tripod (rounded codes, a penalty on dependent "
        "codes, one on codes whose effects mix) is ahead of QLAE, and loses something without each of its three parts.",
        tables.setting(ours, PAPER_SETTING),
        tables.section("Results", against_chance.HOW),
        tables.summary(finished, against_chance.COLUMNS),
        f"![each run's scores]({stem}.png)",
        tables.every_run(finished, against_chance.COLUMNS),
    )


STUDY = Study(
    name="beyond/quantised",
    title="autoencoders with codes of few values: QLAE, FSQ, Tripod and its parts, on scenes",
    trials=trials,
    measures=against_chance.MEASURES,
    page=page,
)
