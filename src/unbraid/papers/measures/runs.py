"""Figures that studies take from a finished run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid import metrics
from unbraid.api import Run
from unbraid.training.log import read_log

TC_POINTS = 1024
Z_DIFF_POINTS = 2000
LOGGED_SHARE = 0.1  # the last tenth of the log stands for the end of training


def score(
    run: Run,
    name: str,
    *,
    codes: NDArray[Any] | None = None,
    labels: bool = True,
    without: tuple[str, ...] = (),
    part: str = "all",
    **options: Any,
) -> float:
    """A metric of a run's code table; factors that have one value only are left out.

    Args:
        run: the finished run.
        name: of the metric.
        codes: of the same rows, to be scored in place of stage 1's.
        labels: whether an encoder that reads labels is given them.
        without: names of factors to leave out.
        part: of the data: all, training or held-out.
        **options: of the metric, such as its convention.

    Returns:
        Its value, without an interval.
    """
    table, factors = run.encode(labels=labels, show=False).of(part), run.data.factor_info
    keep = [number for number, factor in enumerate(factors) if factor.name not in without and factor.size != 1]
    kinds = tuple(factors[number].kind for number in keep)
    metric: Callable[..., metrics.Score] = getattr(metrics, name)
    codes = table.codes if codes is None else codes
    return float(metric(codes, table.factors[:, keep], kinds=kinds, seed=run.plan.seed, replicates=0, **options))


def mig_chen(run: Run, *, without: tuple[str, ...] = ()) -> float:
    """MIG as Chen et al. 2018 have it: by the posteriors of all rows, not by bins of their means."""
    log_vars = run.encode(show=False).arrays["log_var"]
    return score(run, "mig", without=without, convention="chen", log_vars=log_vars)


mig = partial(score, name="mig")
sap = partial(score, name="sap")
sap_dip = partial(score, name="sap", mode="dip")


def z_diff(run: Run) -> float:
    """Z-diff (Kumar et al. 2018, §4) from fewer points than usual: codes that tell little make its SVMs slow."""
    points = Z_DIFF_POINTS if len(run.data) > Z_DIFF_POINTS else len(run.data) // 50
    return score(run, "z_diff", train=points, test=points)


factor_score = partial(score, name="factor_score")


def total_correlation(run: Run) -> float:
    """TC(z) = KL[q(z) ‖ ∏ⱼ q(zⱼ)] in nats, where q is the mixture of the encoded rows' posteriors."""
    table = run.encode(show=False)
    terms = metrics.elbo_terms(
        table.codes, table.arrays["log_var"], method="stratified", points=TC_POINTS, seed=run.plan.seed, replicates=0
    )
    return float(terms["total_correlation"])


def squared_error(run: Run) -> float:
    """Squared error of reconstructions from mean codes, for each value."""
    return float(run.evaluate(["l2"], show=False)["l2"]["value"])


def logged(run: Run, term: str) -> float:
    """The mean of a logged term over the last tenth of training."""
    lines = read_log(run.stage_folder(1) / "log.jsonl")
    last = lines[-max(1, int(LOGGED_SHARE * len(lines))) :]
    return float(np.mean([line[term] for line in last]))


def active_latents(run: Run) -> float:
    """Latents that tell more than a hundredth of a nat about the observation."""
    return float((run.encode(show=False).arrays["information"] > 0.01).sum())


negative_log_likelihood = partial(logged, term="vae/reconstruction")
divergence = partial(logged, term="vae/kl")
