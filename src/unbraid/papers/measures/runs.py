"""Figures that studies take from a finished run."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid import metrics
from unbraid.api import Run

TC_POINTS = 1024
LOGGED_SHARE = 0.1  # the last tenth of the log stands for the end of training


def mig(run: Run, *, without: tuple[str, ...] = (), codes: NDArray[Any] | None = None) -> float:
    """The mutual information gap (Locatello's convention) over all factors but those named.

    Of stage 1's codes unless others of the same rows are given.
    """
    table, factors = run.encode(show=False), run.data.factor_info
    keep = [number for number, factor in enumerate(factors) if factor.name not in without]
    kinds = tuple(factors[number].kind for number in keep)
    codes = table.codes if codes is None else codes
    return float(metrics.mig(codes, table.factors[:, keep], kinds=kinds, seed=run.plan.seed, replicates=0))


def sap_score(run: Run) -> float:
    """Separated attribute predictability over all factors."""
    table, kinds = run.encode(show=False), tuple(factor.kind for factor in run.data.factor_info)
    return float(metrics.sap(table.codes, table.factors, kinds=kinds, seed=run.plan.seed, replicates=0))


def factor_score(run: Run) -> float:
    """The FactorVAE score over all factors."""
    table, kinds = run.encode(show=False), tuple(factor.kind for factor in run.data.factor_info)
    return float(metrics.factor_score(table.codes, table.factors, kinds=kinds, seed=run.plan.seed, replicates=0))


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
    lines = (run.stage_folder(1) / "log.jsonl").read_text(encoding="utf-8").splitlines()
    last = lines[-max(1, int(LOGGED_SHARE * len(lines))) :]
    return float(np.mean([json.loads(line)[term] for line in last]))


def active_latents(run: Run) -> float:
    """Latents that tell more than a hundredth of a nat about the observation."""
    return float((run.encode(show=False).arrays["information"] > 0.01).sum())


negative_log_likelihood = partial(logged, term="vae/reconstruction")
divergence = partial(logged, term="vae/kl")
