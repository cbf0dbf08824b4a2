"""MS-VAE, appendices B and I on CelebA: faces traversed and given back, and ten draws of y for each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.api import Run
from unbraid.core import Adam
from unbraid.methods import MSVAE, BetaTCVAE
from unbraid.methods.staged.ms_vae import DETAILS
from unbraid.papers import plots, tables
from unbraid.papers.measures import chains, exchanged, followed, single_codes
from unbraid.papers.settings import mostly_kl, part_of_values
from unbraid.papers.study import Finished, Scale, Study, Trial
from unbraid.runs.chain import draws_of, means
from unbraid.runs.codes import choose_rows
from unbraid.training.batches import as_stored
from unbraid.util.seeds import mix

MANY, ONE = "MS-VAE, 10 draws of y", "MS-VAE, 1 draw of y"
DRAWS, BETA, CODES = 10, 15.0, 15  # appendix I and the caption of figure 32
REPEATS, FACES = 5, 200  # draws of y for each of so many faces, of which the variances are taken
SHOWN = 5


@dataclass(frozen=True)
class Setting:
    """What the scales differ in."""

    data: str
    arguments: Mapping[str, Any]
    weight: float  # of every term beside the reconstruction: the image's values in parts of 64×64's
    first: BetaTCVAE
    second: MSVAE
    steps: tuple[int, int]
    seeds: int


PART = part_of_values(32)
SETTINGS: dict[Scale, Setting] = {
    "smoke": Setting(
        "sprites",
        {"size": 32, "stride": 16},
        PART,
        BetaTCVAE(width=0.1, batch_size=16),
        MSVAE.fast(latents=5, width=0.1, z_prior="normal", beta=PART),
        (4, 4),
        1,
    ),
    "desk": Setting(
        "celeba",
        {"size": 32},
        PART,
        BetaTCVAE(width=0.5, adam=Adam(lr=1e-3, end=0.05)),
        MSVAE.fast(latents=50, width=0.5, z_prior="normal", beta=PART),
        (1_200, 1_500),
        3,
    ),
    "paper": Setting(
        "celeba",
        {},
        1.0,
        BetaTCVAE(),
        MSVAE(latents=100, styles="places", details=DETAILS),
        (300_000, 300_000),
        1,
    ),
}
PAPER_SETTING = {
    "data": "CelebA, 64×64",
    "stage 1": f"β-TCVAE, β = {BETA:g}, {CODES} c",
    "stage 2": "MS-VAE, number of z not given; authors' notebook: 100",
    "batch of stage 1": "64",
    "weights": "1, and β of the total correlation",
    "draws of y": str(DRAWS),
    "figures": "none: pictures (13, 14, 32, 33)",
    "seeds": "1",
}


def trials(scale: Scale) -> list[Trial]:
    """With ten draws of y for each face, and with one, behind the same stage 1."""
    s, made = SETTINGS[scale], []
    first = replace(s.first, latents=CODES, alpha=s.weight, beta=BETA * s.weight, gamma=s.weight)
    for seed in range(s.seeds):
        for group, draws in ((MANY, DRAWS), (ONE, 1)):
            stages = (first, replace(s.second, draws=draws))
            made.append(Trial(group, s.data, stages, s.steps, seed, s.arguments))
    return made


def drawn(run: Run, rows: NDArray[np.int64]) -> list[NDArray[np.float32]]:
    """y and x̂ in [0, 1], each [draw, face, …]: c is drawn anew, z is the mean of its posterior given that y."""
    torch.manual_seed(mix(run.plan.seed, "drawn"))
    x = run.observations(rows)
    first, second = run.chain.stages
    found: list[list[Any]] = [[], []]
    with torch.inference_mode():
        for _ in range(REPEATS):
            y = first.decode(draws_of(first.encode(x)))  # type: ignore[operator]
            made = second.decode(means(second.encode(x, y)), y)  # type: ignore[operator]
            for place, image in zip(found, (y, made), strict=True):
                place.append(image.cpu().numpy())
    return [np.stack(part) for part in found]


def share_of_draws(images: NDArray[np.float32]) -> float:
    """The share of the variance of images [draw, face, …] that lies between draws for one face.

    Example:
        >>> faces = np.arange(4.0).reshape(1, 4, 1).repeat(3, 0).astype(np.float32)
        >>> share_of_draws(faces)
        0.0
    """
    within = images.var(axis=0, ddof=1).sum(axis=tuple(range(1, images.ndim - 1))).mean()
    total = images.reshape(-1, *images.shape[2:]).var(axis=0).sum()
    return float(within / total)


@lru_cache(maxsize=1)
def spreads(folder: Path) -> tuple[float, float, float, float]:
    """Of y and of x̂: the share of variance between draws, and the root mean squared change from draw to draw."""
    run = Run.open(folder)
    parts = drawn(run, choose_rows(len(run.data), FACES, 0))
    shares = [share_of_draws(part) for part in parts]
    changes = [float(np.sqrt(part.var(axis=0, ddof=1).mean())) for part in parts]
    return shares[0], shares[1], changes[0], changes[1]


def spread(run: Run, place: int) -> float:
    """One of the four."""
    return spreads(run.folder)[place]


MEASURES: Mapping[str, Callable[[Run], float]] = {
    **chains.errors(),
    "y-share": partial(spread, place=0),
    "x-share": partial(spread, place=1),
    "y-change": partial(spread, place=2),
    "x-change": partial(spread, place=3),
    **chains.conditionings(),
    **{name: exchanged.MEASURES[name] for name in ("M3-other", "M4-other", "floor")},
    **followed.MEASURES,
    **single_codes.measures(),
}
COLUMNS = {
    "first-l2": ("L2 of y", 4),
    "l2": ("L2 of x̂", 4),
    "y-share": ("variance of y between draws", 3),
    "x-share": ("of x̂", 3),
    "y-change": ("change of y from draw to draw", 4),
    "x-change": ("of x̂", 4),
    **{name: (name, 3) for name in ("M2", "M1", "M3", "M4")},
    "M3-other": ("M3, another's z", 3),
    "M4-other": ("M4, another's y", 3),
    "floor": ("floor", 3),
}
TRAVERSED = {
    "follows": ("x̂ changes as y does", 3),
    "follows-another": ("as y does with another code", 3),
    "detail-y": ("detail of y, data = 1", 3),
    "detail-made": ("detail of x̂, data = 1", 3),
}


def pictures(folder: Path, stem: str, finished: Sequence[Finished]) -> None:
    """Figures 14, 13, and 32 with 33."""
    runs = {group: Run.open(found[0].folder) for group, found in tables.groups(finished).items()}
    run = runs.get(MANY) or next(iter(runs.values()))
    rows = np.random.default_rng(3).permutation(len(run.data))[:12]
    shown = [("faces", np.asarray(run.data.observations[rows])), ("β-TCVAE", chains.outputs(run, rows)[0])]
    shown += [(group, chains.outputs(one, rows)[-1]) for group, one in runs.items()]
    plots.image_rows(folder / f"{stem}.png", shown)
    chains.traversals(folder / f"{stem}-traversals.png", run, row=int(rows[1]), codes=5)
    faces, lines = rows[:SHOWN], []
    parts = [as_stored(torch.from_numpy(part).flatten(0, 1)) for part in drawn(run, faces)]
    y, made = (part.reshape(REPEATS, SHOWN, *part.shape[1:]) for part in parts)
    for number, face in enumerate(faces):
        lines.append(("face", np.asarray(run.data.observations[[face]]).repeat(REPEATS, 0)))
        lines += [("y, drawn five times", y[:, number]), ("x̂", made[:, number])]
    plots.image_rows(folder / f"{stem}-draws.png", lines)


def page(scale: Scale, finished: Sequence[Finished], folder: Path, stem: str) -> str:
    """The study as Markdown, with its pictures beside it."""
    s = SETTINGS[scale]
    pictures(folder, stem, finished)
    first, second = finished[0].trial.stages
    side = s.arguments.get("size", 64)
    ours = {
        "data": f"{s.data}, {side}×{side}, {len(Run.open(finished[0].folder).data):,} images",
        "stage 1": f"β = {BETA:g}, {CODES} c, all weights times {s.weight:g}; {chains.described(first, s.steps[0])}",
        "stage 2": f"network {s.second.network}, {s.second.latents} z, {chains.described(second, s.steps[1])}",
        "batch of stage 1": mostly_kl(s.first.batch_size),
        "weights": f"{s.weight:g} of the paper's, as the images have of its pixels, the KL of stage 2 too",
        "draws of y": f"{DRAWS}, and 1",
        "figures": "below",
        "seeds": str(s.seeds),
    }
    return tables.document(
        f"MS-VAE: faces ({scale} scale)",
        "Appendices B and I. With a large β the posterior of c is wide, and y differs from draw to draw (figure 32). "
        "Trained on ten draws of y for each face, MS-VAE is said to give back the face with little variance "
        "(figure 33).",
        tables.setting(ours, PAPER_SETTING),
        chains.sizes(finished),
        tables.section(
            "Results",
            f"Variance between draws: of {REPEATS} draws of c for each of {FACES} faces, in parts of the variance over "
            "draws and faces; change: its root mean square for each value, in [0, 1]. For each draw z is inferred "
            "from x − y. Means over seeds with 95 % Student intervals.",
        ),
        tables.summary(finished, COLUMNS),
        "Reconstructions (figure 14):",
        f"![faces, y and x̂]({stem}.png)",
        "The codes that say most, moved over the range of the data (figure 13); y and x̂ in alternate rows, z stays:",
        f"![traversals]({stem}-traversals.png)",
        "The same in numbers: of 500 faces each code c that tells something is given another face's value while z "
        "stays. Cosine between the changes of x̂ and of y over all values (−1 to 1), and its size for the change that "
        "another code makes to y; detail is the mean absolute difference of neighbouring pixels.",
        tables.summary(finished, TRAVERSED),
        f"{single_codes.EXPLAINED} The codes are stage 1's, a β-TCVAE's (Chen et al. 2018, figures 1 and 7).",
        tables.summary(finished, single_codes.COLUMNS),
        "The attributes that single codes of the first run tell well:",
        single_codes.named(Run.open(finished[0].folder)),
        "Five draws of y for each of five faces (figures 32 and 33):",
        f"![draws of y and what becomes of them]({stem}-draws.png)",
        tables.every_run(finished, COLUMNS | TRAVERSED | single_codes.COLUMNS),
    )


STUDY = Study(
    name="ms-vae/faces",
    title="CelebA, appendices B and I: faces given back, and ten draws of y for each",
    trials=trials,
    measures=MEASURES,
    page=page,
)
