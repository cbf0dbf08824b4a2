"""PartedVAE in use: as a classifier, to transfer attributes, and to look at its learned priors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid import metrics
from unbraid.data.factor_data import Factor
from unbraid.errors import InputError
from unbraid.methods.labelled.parted_vae import PartedVAEModel
from unbraid.metrics.score import Score
from unbraid.ops.gaussian import log_prob
from unbraid.ops.mixture import bhattacharyya
from unbraid.runs.codes import choose_rows
from unbraid.runs.directory import Run
from unbraid.training.batches import as_stored
from unbraid.util.files import complete_file

if TYPE_CHECKING:
    from matplotlib.figure import SubFigure


@dataclass(frozen=True)
class ClassPrior:
    """The learned prior of one class-related code, and what the model makes along it (figures 7 and 10)."""

    name: str
    classes: tuple[str, ...]
    values: NDArray[np.float32]  # [step] of the code
    densities: NDArray[np.float32]  # [class, step]: p(c)·p(u | c)
    marks: NDArray[np.float32]  # [mark] values at which observations were generated
    observations: NDArray[Any]  # [mark, …], stored as the data set's are
    overlaps: NDArray[np.float32]  # [class, class] Bhattacharyya coefficients of the modes, over all codes of the class


def classify(run: Run, x: NDArray[Any]) -> list[NDArray[np.float32]]:
    """q(c | x) for each discrete variable of the run, [n, value]; x are stored as the data set's observations are."""
    method = parted(run)
    with torch.inference_mode():
        parts = [method.classify(batch) for batch in run.inputs(x)]
    return [torch.cat(columns).cpu().numpy() for columns in zip(*parts, strict=True)]


def class_scores(run: Run, rows: int = 10_000) -> dict[str, Score]:
    """How many observations q(c | x) names right, for each discrete variable: of those whose label was withheld.

    Where every label was shown in training there is nothing else to score, and the details say so. Without any labels
    classes are named as suits them best.
    """
    variables = labelled_variables(run)
    if run.plan.labels is None or not run.plan.labels.factors:
        raise InputError(f"class_accuracy compares classes with labels, and {run.data.name} has none.")
    scores: dict[str, Score] = {}
    for variable, factor in variables.items():
        truth = run.data.column(factor.name)
        withheld = np.flatnonzero(~np.isnan(truth) & np.isnan(run.visible_labels[:, variable]))
        seen = not len(withheld)
        candidates = np.flatnonzero(~np.isnan(truth)) if seen else withheld
        chosen = candidates[choose_rows(len(candidates), rows, run.plan.seed)]
        guessed = classify(run, np.ascontiguousarray(run.data.observations[chosen]))[variable].argmax(1)
        score = metrics.class_accuracy(
            guessed, truth[chosen], naming="given" if taught(run, variable) else "best", seed=run.plan.seed
        )
        scores[f"class_accuracy/{factor.name}"] = replace(score, details={**score.details, "seen_in_training": seen})
    if not scores:
        raise InputError("class_accuracy needs a labelled factor with as many values as there are classes.")
    return scores


def labelled_variables(run: Run) -> dict[int, Factor]:
    """The discrete variables that a factor of the labels stands beside, with as many values, whether shown or not."""
    sizes, known = parted(run).sizes, () if run.plan.labels is None else run.plan.labels.info(run.data)
    return {k: known[k] for k in range(min(len(sizes), len(known))) if known[k].size == sizes[k]}


def taught(run: Run, variable: int) -> bool:
    """Whether any label of this discrete variable was shown; else its classes have names by chance."""
    return not bool(np.isnan(run.visible_labels[:, variable]).all())


def transfer(run: Run, content: NDArray[Any], style: NDArray[Any]) -> NDArray[Any]:
    """[content, style, …]: each of `content` with all but its class taken from each of `style` (fig. 5)."""
    method = parted(run)
    with torch.inference_mode():
        u = torch.cat([method.encode(batch)["u"].mean for batch in run.inputs(content)])
        z = torch.cat([method.encode(batch)["z"].mean for batch in run.inputs(style)])
        rows = [as_stored(method.decode({"u": one.expand(len(z), -1), "z": z})) for one in u]
    return np.stack(rows)


def class_prior(run: Run, variable: int = 0, code: int = 0, *, marks: int = 9, steps: int = 241) -> ClassPrior:
    """The prior of code `code` of discrete variable `variable`, with observations generated along it.

    Other codes u are held at the mean of the likeliest class, and z at that of the observation that is nearest to the
    average: where its capacity is met by an offset, no observation has a z near zero, and nothing is seen there.
    """
    method = parted(run)
    if not (0 <= variable < len(method.sizes) and 0 <= code < method.config.class_latents):
        raise InputError(f"there are {len(method.sizes)} variables with {method.config.class_latents} codes each.")
    with torch.inference_mode():
        modes = method.mode_list[variable]
        mean, log_var = modes.mean[:, code], modes.log_var[:, code]
        deviation = (0.5 * log_var).exp()
        low, high = float((mean - 3 * deviation).min()), float((mean + 3 * deviation).max())
        values, marked = torch.linspace(low, high, steps), torch.linspace(low, high, marks + 2)[1:-1]
        shares = method.class_shares.split(method.sizes)[variable].cpu()
        weighted = [
            shares[:, None] * log_prob(at, mean.cpu()[:, None], log_var.cpu()[:, None]).exp() for at in (values, marked)
        ]
        u = expected_codes(method, variable, weighted[1].argmax(0).to(run.device))
        u[:, variable * method.config.class_latents + code] = marked.to(run.device)
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


def typical_z(run: Run, rows: int = 500) -> Tensor:
    """z of the observation, among some, that is nearest to their average, [code]."""
    chosen = choose_rows(len(run.data), rows, run.plan.seed)
    observations = np.ascontiguousarray(run.data.observations[chosen])
    z = torch.cat([parted(run).encode(x)["z"].mean for x in run.inputs(observations)])
    return z[(z - z.mean(0)).square().sum(1).argmin()]


def expected_codes(method: PartedVAEModel, variable: int, classes: Tensor) -> Tensor:
    """u of observations that have these classes in one variable and the likeliest class in the others, [n, code]."""
    parts = []
    for k, (modes, shares) in enumerate(zip(method.mode_list, method.class_shares.split(method.sizes), strict=True)):
        chosen = classes if k == variable else shares.argmax().expand(len(classes))
        parts.append(modes.mean[chosen])
    return torch.cat(parts, dim=1).clone()


def class_names(run: Run, variable: int) -> tuple[str, tuple[str, ...]]:
    """What a discrete variable and its values are called: as the labels call them, where there are labels."""
    factor = labelled_variables(run).get(variable)
    if factor is not None and taught(run, variable):
        return factor.name, factor.values or tuple(map(str, range(factor.size)))
    return f"c{variable + 1}", tuple(map(str, range(parted(run).sizes[variable])))


def draw_class_prior(prior: ClassPrior, path: str | Path) -> Path:
    """The densities with the generated observations under them, as a PNG (figure 7)."""
    return draw_class_priors({"": prior}, path)


def draw_class_priors(priors: Mapping[str, ClassPrior], path: str | Path) -> Path:
    """The same for several models, one below another under their names (figure 10)."""
    import matplotlib
    from matplotlib.figure import Figure

    path = Path(path)
    with matplotlib.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(8, 3.4 * len(priors)), layout="constrained")
        for part, (name, prior) in zip(
            figure.subfigures(len(priors), squeeze=False)[:, 0], priors.items(), strict=True
        ):
            draw_prior_into(part, prior)
            if name:
                part.suptitle(name, x=0.01, ha="left", fontsize=10)
        with complete_file(path) as place:
            figure.savefig(place, dpi=130, format="png", metadata={"Software": None})
    return path


def draw_prior_into(figure: SubFigure, prior: ClassPrior) -> None:
    """One prior: a curve for each class, and an observation at every mark."""
    are_images = prior.observations.ndim == 4
    panels = figure.subplot_mosaic(
        [["curve"] * len(prior.marks), [f"x{k}" for k in range(len(prior.marks))]], height_ratios=[2.4, 1]
    )
    for name, density in zip(prior.classes, prior.densities, strict=True):
        panels["curve"].fill_between(prior.values, density, alpha=0.25)
        panels["curve"].plot(prior.values, density, lw=1.2, label=name)
    for k, (mark, made) in enumerate(zip(prior.marks, prior.observations, strict=True)):
        panels["curve"].axvline(mark, color="#76797f", ls=":", lw=0.8)
        panel = panels[f"x{k}"]
        panel.set_axis_off()
        if are_images:
            panel.imshow(made.squeeze(), cmap="gray", vmin=0, vmax=255)
        else:
            panel.plot(made, lw=0.8, color="#1c1d1f")
    panels["curve"].set(xlabel=f"u of {prior.name}", yticks=[], xlim=(prior.values[0], prior.values[-1]))
    panels["curve"].legend(frameon=False, ncols=2, loc="upper right")


def parted(run: Run) -> PartedVAEModel:
    """The trained PartedVAE of a run."""
    method = run.stage(1)
    if not isinstance(method, PartedVAEModel):
        raise InputError(f"{run.plan.stages[0][0].name} has no classes: this is for runs of parted-vae.")
    return method
