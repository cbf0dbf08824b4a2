"""Every metric of one table, with the work that they share done once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from numpy.typing import ArrayLike

from unbraid.errors import InputError, unknown
from unbraid.metrics.bootstrap import REPLICATES
from unbraid.metrics.catalogue import CODES, METRICS, POSTERIOR, POSTERIOR_TABLE, TABLE
from unbraid.metrics.score import Score
from unbraid.metrics.table import Table, as_table, unlabelled_table

Progress = Callable[[str, int, int], None]
SUITE = tuple(name for name, metric in METRICS.items() if metric.needs in (TABLE, POSTERIOR_TABLE, CODES, POSTERIOR))
_ELBO_POINTS = 2048


def suite(
    codes: ArrayLike | Table,
    factors: ArrayLike | None = None,
    *,
    metrics: Sequence[str] | None = None,
    kinds: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    sizes: Sequence[float] | None = None,
    log_vars: ArrayLike | None = None,
    dci_mode: str = "fast",
    seed: int = 0,
    replicates: int = REPLICATES,
    progress: Progress | None = None,
) -> dict[str, Score]:
    """All metrics of a table by name, or those in `metrics`; each score as its own function gives it.

    Discretisation, mutual information, draws, pairs and one-vs-rest probes are made once. Left out, `metrics` is
    everything that the table allows: with `log_vars`, also `mig_chen` and the ELBO's terms (`elbo/…`, by
    stratified sampling); without factors, only what needs none. A factor with fewer than two values is skipped,
    and every score says so in `details["skipped_factors"]`. A metric that cannot be computed has the value NaN and
    says why in `details["error"]`. `progress(name, done, total)` is called before each metric and at the end.
    """
    if isinstance(codes, Table):
        table = codes
    elif factors is None:
        table = unlabelled_table(codes, log_vars)
    else:
        table = as_table(codes, factors, kinds=kinds, names=names, sizes=sizes, log_vars=log_vars, allow_constant=True)
    table = table.varying()
    chosen = _chosen(metrics, table)
    scores: dict[str, Score] = {}
    for i, name in enumerate(chosen):
        if progress:
            progress(name, i, len(chosen))
        scores |= _scores(name, table, dci_mode, seed, replicates)
    if progress:
        progress("", len(chosen), len(chosen))
    if not table.skipped:
        return scores
    note = {"skipped_factors": dict(table.skipped)}
    return {name: replace(score, details={**score.details, **note}) for name, score in scores.items()}


def _chosen(metrics: Sequence[str] | None, table: Table) -> list[str]:
    if metrics is not None:
        for name in metrics:
            if name not in METRICS:
                raise unknown("metric", name, SUITE)
            if name not in SUITE:
                raise InputError(f"{name!r} needs {METRICS[name].needs}, not one table; call it by itself.")
        return list(metrics)
    binary = any(table.discrete[f] and table.groups(f)[1] == 2 for f in range(len(table.names)))

    def possible(name: str) -> bool:
        needs = METRICS[name].needs
        if needs in (TABLE, POSTERIOR_TABLE) and not table.names:
            return False
        if needs in (POSTERIOR, POSTERIOR_TABLE) and table.log_vars is None:
            return False
        return name != "attribute_classification" or binary

    return [name for name in SUITE if possible(name)]


def _scores(name: str, table: Table, dci_mode: str, seed: int, replicates: int) -> dict[str, Score]:
    try:
        if METRICS[name].needs in (TABLE, POSTERIOR_TABLE) and not table.names:
            raise InputError(f"{name} needs a factor with at least two known values; the table has none.")
        if name == "elbo_terms":
            if table.log_vars is None:
                raise InputError("the ELBO's terms need posteriors; give log_vars beside the codes (means).")
            terms = METRICS[name].function(
                table.codes,
                table.log_vars,
                method="stratified",
                points=_ELBO_POINTS,
                seed=seed,
                replicates=replicates,
            )
            return {f"elbo/{term}": score for term, score in terms.items()}
        options = {"mode": dci_mode} if name == "dci" else {}
        return {name: METRICS[name].function(table, seed=seed, replicates=replicates, **options)}
    except Exception as error:  # one metric's failure must not lose the others' values
        return {name: failure(error, seed)}


def failure(error: Exception, seed: int) -> Score:
    """What stands in place of a score that could not be computed: no value, and the reason in its details."""
    why = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    return Score(math.nan, None, {"error": why, "seed": seed})
