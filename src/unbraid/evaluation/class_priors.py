"""Learned priors of class-related codes, and what a model makes along them and of transferred classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid.core import HasClasses
from unbraid.errors import InputError
from unbraid.evaluation.classes import class_method, class_names, classify, transfer
from unbraid.ops.gaussian import log_prob
from unbraid.ops.mixture import bhattacharyya
from unbraid.runs.codes import choose_rows
from unbraid.runs.directory import RunDirectory
from unbraid.training.batches import as_stored
from unbraid.util.seeds import mix

CONTENTS, STYLES = 4, 6
# Among so many observations, chosen at random, one of each class is looked for.
SEEN = 256


@dataclass(frozen=True)
class ClassPrior:
    """The learned prior of one class-related code, and what the model makes along it (PartedVAE, figures 7 and 10)."""

    name: str
    classes: tuple[str, ...]
    values: NDArray[np.float32]  # [step] of the code
    densities: NDArray[np.float32]  # [class, step]: p(c)·p(u | c)
    marks: NDArray[np.float32]  # [mark] values at which observations were generated
    observations: NDArray[Any]  # [mark, …], stored as the data set's are
    overlaps: NDArray[np.float32]  # [class, class] Bhattacharyya coefficients of the modes, over all codes of the class


def class_prior(run: RunDirectory, variable: int = 0, code: int = 0, *, marks: int = 9, steps: int = 241) -> ClassPrior:
    """The prior of code `code` of discrete variable `variable`, with observations generated along it.

    Other codes u are held at the mean of the likeliest class, and z at that of the observation that is nearest to the
    average: where its capacity is met by an offset, no observation has a z near zero, and nothing is seen there.
    """
    method = class_method(run)
    per_variable = method.codes_per_variable
    if not (0 <= variable < len(method.class_sizes) and 0 <= code < per_variable):
        raise InputError(f"there are {len(method.class_sizes)} variables with {per_variable} codes each.")
    with torch.inference_mode():
        modes = method.class_modes(variable)
        mean, log_var = modes.mean[:, code], modes.log_var[:, code]
        deviation = (0.5 * log_var).exp()
        low, high = float((mean - 3 * deviation).min()), float((mean + 3 * deviation).max())
        values, marked = torch.linspace(low, high, steps), torch.linspace(low, high, marks + 2)[1:-1]
        shares = modes.shares.cpu()
        weighted = [
            shares[:, None] * log_prob(at, mean.cpu()[:, None], log_var.cpu()[:, None]).exp() for at in (values, marked)
        ]
        u = method.class_codes(variable, weighted[1].argmax(0).to(run.device))
        u[:, variable * per_variable + code] = marked.to(run.device)
        made = method.decode({"u": u, "z": typical_z(run).expand(marks, -1)})
        pairs = [bhattacharyya(m, v, modes.mean, modes.log_var) for m, v in zip(modes.mean, modes.log_var, strict=True)]
    names = class_names(run, variable)
    return ClassPrior(
        names[0],
        names[1],
        values.numpy(),
        weighted[0].numpy(),
        marked.numpy(),
        as_stored(made),
        torch.stack(pairs).cpu().numpy(),
    )


def typical_z(run: RunDirectory, rows: int = 500) -> Tensor:
    """z of the observation, among some, that is nearest to their average, [code]."""
    chosen = choose_rows(len(run.data), rows, run.plan.seed)
    observations = np.ascontiguousarray(run.data.observations[chosen])
    z = torch.cat([class_method(run).encode(x)["z"].mean for x in run.inputs(observations)])
    return z[(z - z.mean(0)).square().sum(1).argmin()]


def class_pictures(run: RunDirectory) -> dict[str, NDArray[Any]]:
    """The prior of every discrete variable's first code, and for images a grid of transfers; empty without classes."""
    method = run.stage(1)
    if not isinstance(method, HasClasses):
        return {}
    arrays: dict[str, NDArray[Any]] = {}
    for k in range(len(method.class_sizes)):
        prior = class_prior(run, k)
        arrays |= {
            f"classes/{k + 1}/values": prior.values,
            f"classes/{k + 1}/densities": prior.densities,
            f"classes/{k + 1}/marks": prior.marks,
            f"classes/{k + 1}/observations": prior.observations,
            f"classes/{k + 1}/names": np.array(prior.classes, dtype=str),
            f"classes/{k + 1}/title": np.array(prior.name, dtype=str),
            f"classes/{k + 1}/code": np.array(f"u{k * method.codes_per_variable + 1}", dtype=str),
        }
    return arrays | (transfer_pictures(run, method) if run.is_image else {})


def transfer_pictures(run: RunDirectory, method: HasClasses) -> dict[str, NDArray[Any]]:
    """Observations of as many classes of the first variable as there are, and their classes given to some others."""
    rows = np.random.default_rng(mix(run.plan.seed, "classes")).permutation(len(run.data))[:SEEN]
    observations = np.ascontiguousarray(run.data.observations[rows])
    likeliest = [q.argmax(1) for q in classify(run, observations)]
    found = np.sort(np.unique(likeliest[0], return_index=True)[1])  # the first of each class
    contents = found[:CONTENTS]
    styles = np.setdiff1d(np.arange(len(rows)), contents)[:STYLES]
    if not len(styles):
        return {}
    known = [class_names(run, k) for k in range(len(method.class_sizes))]
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
