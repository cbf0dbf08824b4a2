"""Pictures of learned class priors (PartedVAE, figures 7 and 10)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from unbraid.evaluation.class_priors import ClassPrior
from unbraid.util.files import complete_file

if TYPE_CHECKING:
    from matplotlib.figure import SubFigure


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
