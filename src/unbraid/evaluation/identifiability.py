"""Whether a fitted conditional prior p(z | u) meets condition (iv) of the identifiability theorem, and how well."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import qr

from unbraid.core import HasConditionalPrior
from unbraid.errors import InputError
from unbraid.evaluation.measure import Measure, MeasureOptions
from unbraid.metrics import Display, Score
from unbraid.runs.directory import RunDirectory

# What a network computes in single precision is not more exact than this.
TOLERANCE = 1e-5
MOST_POINTS = 10_000
ABOUT = Display("Condition (iv)", "condition number of the prior’s matrix L", "lower", (1.0, None))


@dataclass(frozen=True)
class Identifiability:
    """Condition (iv) (Khemakhem et al. 2020, theorem 1; Mita et al. 2021, appendix A).

    A Gaussian prior over d latents has 2d natural parameters λ(u). There must be 2d + 1 points u₀ … u₂d whose
    differences λ(uᵢ) − λ(u₀) make an invertible matrix L.
    """

    needed: int  # 2d
    rank: int  # of all differences together: L exists if it is 2d
    points: int  # different values of u that were looked at
    condition_number: float  # of L at the points that span the most; infinite where no L is invertible
    singular_values: tuple[float, ...]  # of that L, the largest first

    @property
    def holds(self) -> bool:
        """Whether L can be inverted. With a large condition number it holds on paper only."""
        return self.rank == self.needed


def condition_iv(mean: NDArray[np.float64], log_var: NDArray[np.float64]) -> Identifiability:
    """The condition for priors N(mean, exp(log_var)) at different points u, each [point, latent].

    Latents are first brought to mean 0 and variance 1 over all points, so that the condition number does not depend
    on the units of z.
    """
    if not len(mean):
        return Identifiability(2 * mean.shape[1], 0, 0, float("inf"), ())
    mean, variance = mean.astype(np.float64), np.exp(log_var.astype(np.float64))
    centre, spread = mean.mean(0), mean.var(0) + variance.mean(0)
    mean, variance = (mean - centre) / np.sqrt(spread), variance / spread
    natural = np.concatenate([mean / variance, -0.5 / variance], axis=1)  # λ(u), [point, 2·latent]
    needed, points = natural.shape[1], len(natural)
    start = int(np.argmin(np.square(natural - natural.mean(0)).sum(1)))  # u₀: the point nearest to the middle
    differences = np.delete(natural, start, axis=0).T - natural[start][:, None]  # [2·latent, point]
    singular = np.linalg.svd(differences, compute_uv=False) if points > 1 else np.zeros(1)
    # Noise is relative to λ itself: a prior that ignores u has differences of noise alone, and no rank.
    rank = int((singular > TOLERANCE * max(singular[0], np.linalg.norm(natural))).sum())
    # Pivoting takes, one after another, the point that is farthest from the span of those before it.
    chosen = qr(differences, mode="r", pivoting=True)[1][:needed] if points > 1 else []
    values = np.linalg.svd(differences[:, chosen], compute_uv=False) if points > 1 else np.zeros(1)
    condition = float(values[0] / values[-1]) if rank == needed and values[-1] > 0 else float("inf")
    return Identifiability(needed, rank, points, condition, tuple(float(v) for v in values))


def identifiability(run: RunDirectory, stage: int = 1) -> Identifiability:
    """The condition for the prior of a trained stage, at the labels of the data set."""
    method = run.stage(stage)
    if not isinstance(method, HasConditionalPrior):
        raise InputError(f"{run.config(stage).name} has no conditional prior p(z | u).")
    labels = run.visible_labels
    distinct = np.unique(labels[~np.isnan(labels).any(axis=1)], axis=0)
    if len(distinct) > MOST_POINTS:
        distinct = np.random.default_rng(run.plan.seed).permutation(distinct)[:MOST_POINTS]
    with torch.inference_mode():
        prior = method.conditional_prior_of(torch.from_numpy(distinct.astype(np.float32)).to(run.device))
    return condition_iv(prior.mean.cpu().numpy(), prior.log_var.cpu().numpy())


def compute(run: RunDirectory, names: Sequence[str], options: MeasureOptions, labels: bool) -> dict[str, Score]:
    """Condition (iv) for the prior of stage 1: the condition number of L, and whether L has full rank."""
    found = identifiability(run)
    details = {"holds": found.holds, **dataclasses.asdict(found)}
    return {"identifiability": Score(found.condition_number, None, details, ABOUT)}


def refusal(run: RunDirectory, name: str) -> str | None:
    """Only a conditional prior has something to identify."""
    has_prior = isinstance(run.stage(1), HasConditionalPrior)
    return None if has_prior else f"{run.config(1).name} has no conditional prior to identify."


MEASURE = Measure(("identifiability",), compute, refusal, reads_labels=False, is_free=True)
