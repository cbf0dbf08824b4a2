"""What the classes of a PartedVAE have become, as arrays for the report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.evaluation.classes import class_names, class_prior, classify, transfer
from unbraid.methods.labelled.parted_vae import PartedVAEModel
from unbraid.runs.directory import Run
from unbraid.training.batches import mix

CONTENTS, STYLES = 4, 6
# Among so many observations, chosen at random, one of each class is looked for.
SEEN = 256


def class_pictures(run: Run) -> dict[str, NDArray[Any]]:
    """The prior of every discrete variable's first code, and for images a grid of transfers; empty without classes."""
    method = run.stage(1)
    if not isinstance(method, PartedVAEModel):
        return {}
    arrays: dict[str, NDArray[Any]] = {}
    for k in range(len(method.sizes)):
        prior = class_prior(run, k)
        arrays |= {
            f"classes/{k + 1}/values": prior.values,
            f"classes/{k + 1}/densities": prior.densities,
            f"classes/{k + 1}/marks": prior.marks,
            f"classes/{k + 1}/observations": prior.observations,
            f"classes/{k + 1}/names": np.array(prior.classes, dtype=str),
            f"classes/{k + 1}/title": np.array(prior.name, dtype=str),
            f"classes/{k + 1}/code": np.array(f"u{k * method.config.class_latents + 1}", dtype=str),
        }
    return arrays | (transfer_pictures(run, method) if run.data.observations.ndim == 4 else {})


def transfer_pictures(run: Run, method: PartedVAEModel) -> dict[str, NDArray[Any]]:
    """Observations of as many classes of the first variable as there are, and their classes given to some others."""
    rows = np.random.default_rng(mix(run.plan.seed, "classes")).permutation(len(run.data))[:SEEN]
    observations = np.ascontiguousarray(run.data.observations[rows])
    likeliest = [q.argmax(1) for q in classify(run, observations)]
    found = np.sort(np.unique(likeliest[0], return_index=True)[1])  # the first of each class
    contents = found[:CONTENTS]
    styles = np.setdiff1d(np.arange(len(rows)), contents)[:STYLES]
    if not len(styles):
        return {}
    known = [class_names(run, k) for k in range(len(method.sizes))]
    names = [", ".join(said(*words, int(c[i])) for words, c in zip(known, likeliest, strict=True)) for i in contents]
    content, style = observations[contents], observations[styles]
    return {
        "transfer/content": content,
        "transfer/names": np.array(names, dtype=str),
        "transfer/style": style,
        "transfer/made": transfer(run, content, style),
    }


def said(variable: str, classes: Sequence[str], which: int) -> str:
    """One class by its name; a mere number says nothing without its variable."""
    name = classes[which]
    return f"{variable}\u00a0=\u00a0{name}" if name.isdigit() else name  # not to be broken into lines


def lacks_classes(run: Run, path: Path) -> bool:
    """Whether these pictures were made before runs with classes showed them."""
    if not isinstance(run.stage(1), PartedVAEModel):
        return False
    with np.load(path, allow_pickle=False) as file:
        return "classes/1/code" not in file.files
