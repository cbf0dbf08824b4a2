"""Every metric of one table, with the work that they share done once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Unpack

from numpy.typing import ArrayLike

from unbraid.errors import InputError, unknown
from unbraid.metrics._shared.bootstrap import REPEATS
from unbraid.metrics._shared.checks import TableOptions, as_table, unlabelled_table
from unbraid.metrics._shared.table import Table
from unbraid.metrics.keys import MetricKey
from unbraid.metrics.record import CODES, METRICS, POSTERIOR, POSTERIOR_TABLE, TABLE
from unbraid.metrics.score import Score
from unbraid.metrics.sparse import sparse_suite, too_many

Progress = Callable[[str, int, int], None]
SUITE = tuple(name for name, metric in METRICS.items() if metric.needs in (TABLE, POSTERIOR_TABLE, CODES, POSTERIOR))
_ELBO_POINTS = 2048


def suite(
    codes: ArrayLike | Table,
    factors: ArrayLike | None = None,
    *,
    metrics: Sequence[str] | None = None,
    dci_mode: str = "fast",
    seed: int = 0,
    replicates: int = REPEATS,
    calibrate: bool = True,
    progress: Progress | None = None,
    **about: Unpack[TableOptions],
) -> dict[str, Score]:
    """All metrics of a table by name, or those in `metrics`; each score as its own function gives it.

    Discretisation, mutual information, draws, pairs and one-vs-rest probes are made once.

    Args:
        codes: mean codes [n, latent] as an array, a tensor of torch, a sparse matrix of SciPy (of thousands of latents,
            what `sparse_suite` can do), or a `Table`.
        factors: true factors [n, factor]; NaN where unknown. Without them, only what needs none is computed.
        metrics: names from `SUITE`; left out, everything that the table allows: with `log_vars`, also `mig_chen` and
            the ELBO's terms (`elbo_terms/…`, by stratified sampling).
        dci_mode: the `mode` of `dci`.
        seed: of all draws; no metric's draws depend on which others ran.
        replicates: bootstrap samples; 0 for no intervals.
        calibrate: place each score between chance and ceiling on this table; costs as much again, at most twice.
        progress: called as `progress(name, done, total)` before each metric and at the end.
        **about: `kinds`, `names`, `sizes`, `columns` and `log_vars`, as in `as_table`.

    Returns:
        The scores by key (see `MetricKey`). A factor with fewer than two values is skipped, and every score says so in
        `details["skipped_factors"]`. A metric that cannot be computed has the value NaN and says why in
        `details["error"]`.

    Example:
        >>> from unbraid.metrics._shared.examples import perfect_table
        >>> scores = suite(*perfect_table(), metrics=["mig", "mcc"], replicates=0)
        >>> {name: round(score.value, 2) for name, score in scores.items()}
        {'mig': 1.0, 'mcc': 1.0}
    """
    if too_many(codes) and factors is not None:
        return sparse_suite(codes, factors, metrics=metrics, seed=seed, calibrate=calibrate, **about)
    if factors is None and not isinstance(codes, Table):
        table = unlabelled_table(codes, columns=about.get("columns"), log_vars=about.get("log_vars"))
    else:
        table = as_table(codes, factors, allow_constant=True, **about)
    table = table.varying()
    chosen = _chosen(metrics, table)
    scores: dict[str, Score] = {}
    for i, name in enumerate(chosen):
        if progress:
            progress(name, i, len(chosen))
        scores |= _scores(name, table, dci_mode, seed, replicates, calibrate)
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


def _scores(name: str, table: Table, dci_mode: str, seed: int, replicates: int, calibrate: bool) -> dict[str, Score]:
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
            return {str(MetricKey(name, term)): score for term, score in terms.items()}
        options: dict[str, Any] = {"mode": dci_mode} if name == "dci" else {}
        metric = METRICS[name]
        if calibrate and getattr(getattr(metric.function, "func", metric.function), "calibrates", False):
            options["calibrate"] = metric.chance_draws or True
        found = metric.function(table, seed=seed, replicates=replicates, **options)
        if isinstance(found, Score):
            return {name: found}
        return {str(MetricKey(name, part)): score for part, score in found.items()}
    except Exception as error:  # one metric's failure must not lose the others' values
        return {name: failure(error, seed)}


def failure(error: Exception, seed: int) -> Score:
    """What stands in place of a score that could not be computed: no value, and the reason in its details."""
    why = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    return Score(math.nan, None, {"error": why, "seed": seed})
