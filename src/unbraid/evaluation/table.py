"""Metrics of the codes' table: every one that `unbraid.metrics` has for codes and factors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid import metrics
from unbraid.core import HasLikelihood
from unbraid.errors import InputError
from unbraid.evaluation.measure import LEAST_FOR_TABLES, Measure, MeasureOptions
from unbraid.metrics import Score, Table
from unbraid.metrics.suite import failure
from unbraid.runs.codes import CodeTable
from unbraid.runs.directory import RunDirectory
from unbraid.util.progress import Steps
from unbraid.util.seeds import mix

NEEDS_NO_FACTORS = ("codes", "means, log-variances")
# With one factor these are 1 for any code that varies, or not defined.
TELL_FACTORS_APART = (
    "factor_score",
    "factor_score_parted",
    "beta_score",
    "z_diff",
    "dci",
    "modularity",
    "mig_sup",
    "infomec",
)


def compute(run: RunDirectory, names: Sequence[str], options: MeasureOptions, labels: bool) -> dict[str, Score]:
    """Metrics of codes and factors, from one encoding of the data."""
    found = run.codes(labels=labels, show=options.show).of(options.part)
    scores: dict[str, Score] = {}
    if "elbo_terms" in names:
        losses = row_losses(run, found.rows, options.show)
        log_var = found.arrays["log_var"]
        try:
            terms = metrics.elbo_terms(found.codes, log_var, seed=run.plan.seed, reconstruction=losses)
            scores |= {f"elbo_terms/{term}": score for term, score in terms.items()}
        except Exception as error:  # the other metrics' values are not lost
            scores["elbo_terms"] = failure(error, run.plan.seed)
    with Steps("metrics", len(names), show=options.show) as bar:
        scores |= metrics.suite(
            steering_table(run, found),
            metrics=[name for name in names if name != "elbo_terms"],
            seed=run.plan.seed,
            progress=show_metric(bar),
        )
    return scores


def refusal(run: RunDirectory, name: str) -> str | None:
    """What a metric reads must be there; data without factors have no scores that need them."""
    needs, first = metrics.METRICS[name].needs, run.config(1)
    if not run.plan.data["factors"] and needs not in NEEDS_NO_FACTORS:
        return f"{run.plan.data['name']} has no factors, which {name} would need; ask for l1 and l2."
    if len(run.plan.data["factors"]) == 1 and name in TELL_FACTORS_APART:
        return f"{name} tells factors apart, and {run.plan.data['name']} has only one: it would say nothing."
    if name == "elbo_terms" and not first.standard_prior:
        return f"elbo_terms takes the prior of the codes to be standard normal, which {first.name}'s is not."
    if "log-variances" in needs and "log_var" not in run.codes(show=False).arrays:
        return f"{name} needs Gaussian codes, which {first.name} does not have."
    if name == "attribute_classification" and not any(factor["size"] == 2 for factor in run.plan.data["factors"]):
        return f"attribute_classification needs factors with two values, which {run.plan.data['name']} does not have."
    return None


def steering_table(run: RunDirectory, found: CodeTable) -> Table:
    """The codes that the model is steered by: stage 1's, or what a last stage has in their place (c, then its z)."""
    table = found.table()
    if not replaces_codes(run):
        return table
    own = found.table(len(run.plan.stages))
    count = table.codes.shape[1]
    return replace(
        own, codes=own.codes[:, :count], columns=own.columns[:count], log_vars=None, information=None, memo={}
    )


def replaces_codes(run: RunDirectory) -> bool:
    """Whether the last stage has codes in place of stage 1's."""
    return run.config(len(run.plan.stages)).replaces_codes


def row_losses(run: RunDirectory, rows: NDArray[np.int64], show: bool) -> NDArray[np.float32] | None:
    """−log p(x | z) of each row under stage 1, where it has a likelihood."""
    method = run.stage(1)
    if not isinstance(method, HasLikelihood):
        return None
    torch.manual_seed(mix(run.plan.seed, "elbo"))
    with torch.inference_mode():
        parts = [method.nll_rows(x).cpu().numpy() for x, _ in run.batches(rows, "likelihoods", show=show)]
    return np.concatenate(parts)


def show_metric(bar: Steps) -> Callable[[str, int, int], None]:
    """A callback that moves the bar and names the metric that is computed."""

    def report(name: str, done: int, total: int) -> None:
        bar.total = total
        bar.advance(done, note=name)

    return report


def known_metrics(names: Sequence[str]) -> None:
    """Refuse what compares several models."""
    if "udr" in names:
        raise InputError("udr compares several models: call unbraid.metrics.udr with the codes of each of them.")


MEASURE = Measure(tuple(metrics.SUITE), compute, refusal, least_rows=LEAST_FOR_TABLES)
