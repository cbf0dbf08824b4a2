"""Rows of images that show what the codes of a model with classes change (PartedVAE, figures 4, 5, 6 and 8)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.api import Run
from unbraid.core import HasClasses
from unbraid.evaluation.class_priors import class_prior, typical_z
from unbraid.evaluation.classes import class_method, class_names, classify
from unbraid.runs.codes import choose_rows
from unbraid.training.batches import as_stored

Rows = list[tuple[str, NDArray[Any]]]  # a name and images [n, height, width, channel] each
SEEN = 2_000  # observations among which those of a class are looked for
REACH = 2.0  # deviations to both sides


def free_rows(run: Run, steps: int = 9) -> Rows:
    """A typical observation of the likeliest class as each z goes from −2 to 2."""
    method = class_method(run)
    with torch.inference_mode():
        z, u = typical_z(run), likeliest_codes(method)
        rows = []
        for code in range(len(z)):
            moved = z.repeat(steps, 1)
            moved[:, code] = torch.linspace(-REACH, REACH, steps)
            rows.append((f"z{code + 1}", as_stored(method.decode({"u": u.expand(steps, -1), "z": moved}))))
    return rows


def likeliest_codes(method: HasClasses) -> torch.Tensor:
    """Expected u where every variable is of its likeliest class, [1, code]."""
    return method.class_codes(0, method.class_modes(0).shares.argmax()[None])


def class_rows(run: Run, steps: int = 9) -> Rows:
    """A typical observation as the first u of each variable goes over the range of its modes."""
    variables = range(len(class_method(run).class_sizes))
    return [(class_names(run, k)[0], class_prior(run, k, marks=steps).observations) for k in variables]


def rows_within(run: Run, classes: tuple[int, ...], steps: int = 9) -> Rows:
    """One observation of each class as the u that varies most within the class takes the values that it has there."""
    method = class_method(run)
    chosen = choose_rows(len(run.data), SEEN, run.plan.seed)
    observations = np.ascontiguousarray(run.data.observations[chosen])
    named = classify(run, observations)[0].argmax(1)
    names, made = class_names(run, 0)[1], []
    with torch.inference_mode():
        for which in classes:
            if (named == which).sum() < 2:
                continue
            seen = [method.encode(x) for x in run.inputs(observations[named == which])]
            u, z = (torch.cat([one[key].mean for one in seen]) for key in ("u", "z"))
            code, middle = int(u.var(0).argmax()), u.mean(0)
            moved = middle.repeat(steps, 1)
            moved[:, code] += torch.linspace(-REACH, REACH, steps) * u[:, code].std()
            typical = z[(z - z.mean(0)).square().sum(1).argmin()]
            images = as_stored(method.decode({"u": moved, "z": typical.expand(steps, -1)}))
            made.append((f"{names[which]}: u{code + 1}", images))
    return made


def transfer_rows(run: Run, contents: int = 6, styles: int = 8) -> Rows:
    """Observations of the first row lend all but their class to those that begin the other rows."""
    chosen = choose_rows(len(run.data), contents + styles, run.plan.seed + 1)
    observations = np.ascontiguousarray(run.data.observations[chosen])
    content, style = observations[:contents], observations[contents:]
    made = run.transfer(content, style)
    rows = [("given by", np.concatenate([np.full_like(style[:1], 255), style]))]
    return rows + [("given to", np.concatenate([one[None], row])) for one, row in zip(content, made, strict=True)]
