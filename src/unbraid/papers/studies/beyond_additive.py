"""Lachapelle et al. 2023: additive decoders make combinations that were never seen; others do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.api import Run
from unbraid.core import Adam
from unbraid.data import load
from unbraid.data.drawn.balls import held_out_corner
from unbraid.methods import Autoencoder
from unbraid.nets.stacks import NetworkName
from unbraid.papers import plots, tables
from unbraid.papers.measures import extrapolation
from unbraid.papers.study import Finished, Scale, Study, Trial


@dataclass(frozen=True)
class Setting:
    """What the scales differ in."""

    arguments: Mapping[str, Any]  # of the data set
    steps: int
    seeds: int
    width: float


SETTINGS: dict[Scale, Setting] = {
    "smoke": Setting({"size": 16, "heights": 6, "corner": False}, 3, 1, 0.1),
    "desk": Setting({"size": 32, "heights": 40, "corner": False}, 2_500, 5, 0.25),
    "paper": Setting({"size": 64, "heights": 200, "corner": False}, 50_000, 10, 1.0),
}
PAPER_SETTING = {
    "data": "two balls that move up and down, 64×64; never both in the upper half",
    "method": "autoencoder with 2 codes, squared error",
    "network": "additive decoder beside a plain one",
    "steps": "many more",
    "seeds": "10",
}
NETWORKS: dict[str, NetworkName] = {"additive decoder": "additive", "plain decoder": "auto"}
COLUMNS = {
    "seen": ("error, seen", 5),
    "corner": ("error, unseen", 5),
    "combined": ("error, unseen made of two seen", 5),
    "mcc": ("MCC, seen", 3),
}
SHOWN = 12


def trials(scale: Scale) -> list[Trial]:
    """Both decoders from every seed."""
    setting = SETTINGS[scale]
    common: dict[str, Any] = {
        "latents": 2,
        "width": setting.width,
        "likelihood": "bernoulli",
        "batch_size": 32,
        "adam": Adam(lr=2e-3, end=0.02),
    }
    return [
        Trial(label, "balls", (Autoencoder(network=network, **common),), (setting.steps,), seed, setting.arguments)
        for seed in range(setting.seeds)
        for label, network in NETWORKS.items()
    ]


def page(scale: Scale, finished: Sequence[Finished], folder: Path, stem: str) -> str:
    """The comparison as Markdown, with two pictures beside it."""
    setting = SETTINGS[scale]
    order = list(NETWORKS)
    finished = sorted(finished, key=lambda one: order.index(one.trial.group))
    plots.dots(folder / f"{stem}.png", finished, COLUMNS)
    pictures(folder / f"{stem}-unseen.png", finished)
    data = load("balls", **setting.arguments)
    side, heights, unseen = data.shape[1], data.factor_info[0].size, len(held_out_corner(data))
    ours = {
        "data": f"`balls`: all {len(data):,} combinations of {heights} heights, {side}×{side}; "
        f"{unseen:,} with both balls in the upper half are kept from training",
        "method": "autoencoder with 2 codes, cross-entropy",
        "network": f"additive decoder beside a plain one, width {setting.width:g}, convolutional",
        "steps": f"{setting.steps:,}, batch 32, Adam 2e-3 falling to 2 %",
        "seeds": str(setting.seeds),
    }
    return tables.document(
        f"Additive decoders: combinations that were never seen ({scale} scale)",
        "Lachapelle et al. 2023: where pictures are sums of what each code makes, an additive decoder finds these "
        "codes, and makes pictures of combinations that it never saw. A plain decoder need do neither.",
        tables.setting(ours, PAPER_SETTING),
        tables.section(
            "Results",
            "Means over seeds with 95 % Student intervals; squared errors for each value in [0, 1]. *Unseen*: pictures "
            "of the corner through encoder and decoder. *Made of two seen*: one ball's code of one seen picture beside "
            "the other's of another, decoded, and compared with the true picture: only the decoder extrapolates. Who "
            f"repeats the nearest seen picture has an error of {extrapolation.nearest_seen(data):.5f}.",
        ),
        tables.summary(finished, COLUMNS),
        f"![each run's figures]({stem}.png)",
        f"![unseen pictures]({stem}-unseen.png)",
        "Pictures of the corner, as the first seed's models make them.",
        tables.every_run(finished, COLUMNS),
    )


def pictures(path: Path, finished: Sequence[Finished]) -> None:
    """Unseen pictures, and what each decoder makes of them in both ways."""
    runs = {group: Run.open(found[0].folder) for group, found in tables.groups(finished).items()}
    data = next(iter(runs.values())).data
    corner = held_out_corner(data)
    rows = np.sort(np.random.default_rng(7).permutation(corner)[:SHOWN])
    shown = [("unseen", np.asarray(data.observations[rows]))]
    for group, run in runs.items():
        shown.append((f"{group}, reconstructed", run.reconstruct(data.observations[rows])[-1]))
        shown.append((f"{group}, of two seen", extrapolation.combined(run, rows)))
    plots.image_rows(path, shown)


STUDY = Study(
    name="beyond/additive",
    title="additive and plain decoders on two balls: combinations that were never seen",
    trials=trials,
    measures={
        "seen": extrapolation.seen_error,
        "corner": extrapolation.corner_error,
        "combined": extrapolation.combined_error,
        "mcc": extrapolation.agreement,
    },
    page=page,
)
