"""FID and KID of what a run makes, from the same Inception features: looking at images is what takes time."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid import metrics
from unbraid.api import Run
from unbraid.evaluation import inception
from unbraid.papers.measures import chains
from unbraid.runs.chain import draws_of, means, priors
from unbraid.runs.codes import choose_rows
from unbraid.training.batches import as_stored
from unbraid.util.seeds import mix

Made = Literal["last", "first", "random"]
Name = Literal["fid", "kid"]
NAMES: tuple[Name, ...] = get_args(Name)
Images = Callable[[Run], int]  # of a run: how many images it is judged by; none: it is not measured


def with_random_z(run: Run, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
    """What the last stage makes of these rows' own y and a z from N(0, 1): «Random Z» of MS-VAE's appendix A."""
    torch.manual_seed(mix(run.plan.seed, "random z"))
    parts = []
    with torch.inference_mode():
        for x, labels in run.batches(rows, "random z", show=False):
            earlier = [means(q) for q in run.chain.encode(x, labels)[:-1]]
            z = draws_of(priors(run.chain.stages[-1]).prior(len(x)))
            parts.append(as_stored(run.chain.decode([*earlier, z])[-1]))
    return np.concatenate(parts).astype(np.uint8)


@lru_cache(maxsize=4)
def features_of(folder: Path, made: Made, images: int) -> NDArray[np.float32]:
    """Inception features of what a run makes of the rows that every run is judged by."""
    run = Run.open(folder)
    rows = choose_rows(len(run.data), images, 0)
    found = with_random_z(run, rows) if made == "random" else chains.outputs(run, rows)[0 if made == "first" else -1]
    return inception.features(chains.network()[0], found, "", False)


def distance(run: Run, *, name: Name, made: Made, images: Images) -> float:
    """FID or KID between images of the data and what the run makes of the same ones."""
    count = images(run)
    if not count or (made == "first" and not chains.has_second_stage(run)):
        return chains.NOTHING
    if made == "random" and not chains.adds_to_stage_1(run):
        return chains.NOTHING
    network, identity = chains.network()
    real = inception.cached_features(network, identity, run, choose_rows(len(run.data), count, 0), False)
    return float(metrics.METRICS[name].function(real, features_of(run.folder, made, count), replicates=0))


def distances(last: Images, first: Images, random: Images) -> chains.Measures:
    """FID and KID of the final output, of stage 1's, and with random z, each over its own number of images."""
    found: chains.Measures = {}
    ways: tuple[tuple[Made, str, Images], ...] = (
        ("last", "", last),
        ("first", "first-", first),
        ("random", "random-", random),
    )
    for made, prefix, images in ways:
        for name in NAMES:
            found[f"{prefix}{name}"] = partial(distance, name=name, made=made, images=images)
    return found
