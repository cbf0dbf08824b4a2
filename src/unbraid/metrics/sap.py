"""SAP: how much better the best single latent predicts a factor than the second best."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import InputError, unknown
from unbraid.metrics._shared.bootstrap import REPEATS, Array, interval, resampled_means
from unbraid.metrics._shared.calibration import calibration
from unbraid.metrics._shared.checks import table_metric
from unbraid.metrics._shared.correlation import squared_correlation, standard
from unbraid.metrics._shared.information import gaps
from unbraid.metrics._shared.solvers import SortedColumn
from unbraid.metrics._shared.strata import TEST, TRAIN
from unbraid.metrics._shared.table import Table
from unbraid.metrics._shared.thresholds import best_intervals, best_split, segments
from unbraid.metrics.record import CHANGES, Metric, register
from unbraid.metrics.score import Score

Rows = NDArray[np.int64]
Latents = NDArray[np.bool_]
MODES = ("auto", "svm", "threshold", "regression", "dip")
# Variance of a latent that counts as collapsed («close to 0» in the DIP-VAE paper), as in the FactorVAE score.
COLLAPSED = 0.05


@table_metric
@calibration(draws=3, train=2000)
def sap(
    table: Table,
    *,
    mode: str = "auto",
    train: int = TRAIN,
    test: int = TEST,
    penalty: float = 0.01,
    inactive: float | None = None,
    group_above: float | None = None,
    seed: int = 0,
    replicates: int = REPEATS,
) -> Score:
    """Separated attribute predictability: 1/K Σ_k (S_{j(k) k} − max_{j≠j(k)} S_jk).

    S_jk says how well latent j alone predicts factor k.

    Args:
        codes, factors: mean codes [n, latent] and factors [n, factor], or a `Table`.
        mode: `svm` (Locatello et al. 2019): test accuracy of a linear SVM, class-balanced as in liblinear.
            `threshold` (the paper's own): the balanced accuracy of the best thresholds on the latent, at most one
            fewer than the factor has values, fitted on the test rows (beyond two values, cut at no more than 512
            quantiles). `regression`: squared correlation with the factor's values; with cosine and sine for a
            cyclic factor, with the class means for a categorical one. `auto`: `svm` for discrete factors,
            `regression` for continuous ones. `dip`: as the DIP-VAE paper has it, `regression` for factors with an
            order and `threshold` for categories.
        train: rows to fit on.
        test: rows to test on.
        penalty: C of the SVM.
        inactive: a latent whose variance is at most this scores 0, for one that has collapsed may still copy a factor
            and would leave it no gap; left out, 0.05, or 0.05 of the largest variance where that is below 1.
        group_above: latents whose correlation exceeds this in size count as one, which predicts as well as the best of
            them (§3 of the paper); left out, none do.
        seed: of the split and of the bootstrap.
        replicates: bootstrap samples of the test rows, with the probes as fitted; 0 for no interval.

    Returns:
        The score in [0, 1]; `details["scores"]` has S [latent, factor].

    Reference:
        Kumar et al. 2018, §3.

    Example:
        >>> from unbraid.metrics._shared.examples import mixed_table, perfect_table
        >>> sap(*perfect_table()).value > 2 * sap(*mixed_table()).value
        True
    """
    if mode not in MODES:
        raise unknown("mode of SAP", mode, MODES)
    fit, held = table.split(train, test, seed)
    active = used_latents(table.codes, inactive)
    d, k = table.codes.shape[1], table.factors.shape[1]
    used = [_probe(mode, table, f) for f in range(k)]
    scores, again = np.zeros((d, k)), np.zeros((replicates, d, k))
    for f, how in enumerate(used):
        if how == "regression":
            scores[:, f], again[:, :, f] = squared_correlation(table, f, held, seed, replicates)
            continue
        # One weight per test row and latent, whose mean over the rows is the score.
        if how == "svm":
            credit, share = _svm(table, f, fit, held, active, penalty)
        else:
            credit, share = _threshold(table, f, held, active)
        scores[:, f] = credit.mean(axis=0) / share.mean()
        if replicates:
            means = resampled_means(np.column_stack([credit, share]), seed=seed, replicates=replicates)
            again[:, :, f] = means[:, :d] / np.maximum(means[:, d:], 1e-12)
    scores[~active], again[:, ~active] = 0.0, 0.0
    together = correlated_groups(table.codes, active, group_above)
    grouped, again = (
        np.stack([part[..., rows, :].max(axis=-2) for rows in together], axis=-2) for part in (scores, again)
    )
    gap = gaps(grouped)
    value = float(gap.mean())
    details = {
        "mode": dict(zip(table.names, used, strict=True)),
        "seed": seed,
        "train": len(fit),
        "test": len(held),
        "active": int(active.sum()),
        "per_factor": table.by_factor(gap),
        "scores": scores,
        **({} if group_above is None else {"groups": [[table.columns[j] for j in rows] for rows in together]}),
    }
    return Score(value, interval(value, gaps(again).mean(axis=-1), 0, 1) if replicates else None, details)


def used_latents(codes: Array, inactive: float | None = None) -> Latents:
    """Latents whose variance exceeds `inactive`; left out, 0.05, or that share of the largest where it is below 1."""
    variance = codes.var(axis=0)
    return np.asarray(variance > (COLLAPSED * min(1.0, variance.max()) if inactive is None else inactive))


def _probe(mode: str, table: Table, factor: int) -> str:
    """What predicts a factor in this mode."""
    if mode == "dip":
        return "threshold" if table.kinds[factor] == "categorical" else "regression"
    if mode == "auto":
        return "svm" if table.discrete[factor] else "regression"
    return mode


def correlated_groups(codes: Array, active: Latents, above: float | None) -> list[Rows]:
    """Latents that are tied by correlations larger than `above`, directly or through others; alone without it."""
    d = codes.shape[1]
    if above is None:
        return [np.array([j]) for j in range(d)]
    x = standard(codes) * active
    tied = (np.abs(x.T @ x / len(x)) > above) | np.eye(d, dtype=bool)
    for _ in range(d):
        tied = tied @ tied
    return [np.flatnonzero(tied[j]) for j in range(d) if tied[j].argmax() == j]


def _labelled(table: Table, factor: int, fit: Rows, held: Rows) -> Rows:
    labels, _ = table.groups(factor)
    for rows, name in ((fit, "fit"), (held, "test")):
        if len(np.unique(labels[rows][labels[rows] >= 0])) < 2:
            raise InputError(
                f"factor {table.names[factor]!r} has fewer than two values among the rows to {name} on; "
                "give more rows or leave it out of the factors."
            )
    return labels


def _svm(table: Table, factor: int, fit: Rows, held: Rows, active: Latents, penalty: float) -> tuple[Array, Array]:
    """Whether each test row is classified rightly from each latent, and whether its label is known."""
    labels = _labelled(table, factor, fit, held)
    fit = fit[labels[fit] >= 0]
    truth = labels[held]
    # Values that no training row has cannot be learned; the others keep their order.
    seen, index = np.unique(labels[fit], return_inverse=True)
    credit = np.zeros((len(held), table.codes.shape[1]))
    for j in np.flatnonzero(active):
        column = SortedColumn(table.codes[fit, j])
        slope, intercept = column.svm_one_vs_rest(index, len(seen), penalty)
        decision = np.multiply.outer(table.codes[held, j], slope) + intercept
        guess = decision.argmax(axis=1) if len(seen) > 2 else (decision[:, 0] > 0).astype(np.int64)
        credit[:, j] = seen[guess] == truth
    return credit, (truth >= 0).astype(np.float64)


def _threshold(table: Table, factor: int, held: Rows, active: Latents) -> tuple[Array, Array]:
    """Each test row's part of the balanced accuracy under the best thresholds, latent by latent."""
    labels = _labelled(table, factor, held, held)[held]
    there = np.flatnonzero(labels >= 0)
    _, label = np.unique(labels[there], return_inverse=True)
    counts = np.bincount(label)
    weight = len(there) / (len(counts) * counts[label])  # a class's rows weigh 1/size together
    credit = np.zeros((len(held), table.codes.shape[1]))
    latents = np.flatnonzero(active)
    known = np.zeros(len(held))
    known[there] = 1.0
    if not latents.size:
        return credit, known
    stretch = [segments(table.codes[held[there], j], len(counts)) for j in latents]
    mass = np.zeros((len(latents), max(count for _, count in stretch), len(counts)))
    for i, (segment, _) in enumerate(stretch):
        np.add.at(mass[i], (segment, label), weight)
    guesses = best_split(mass) if len(counts) == 2 else best_intervals(mass)
    for j, guess, (segment, _) in zip(latents, guesses, stretch, strict=True):
        credit[there, j] = weight * (guess[segment] == label)
    return credit, known


register(
    Metric(
        name="sap",
        title="SAP",
        description="gap between the two latents that predict a factor best",
        when="To compare with tables of Locatello et al. 2019. Its ceiling is far below 1: read the relative value.",
        function=sap,
        chance=0.0,
        reference="Kumar et al. 2018, §3; Locatello et al. 2019",
        unchanged_by=("order", "sign"),
    )
)
register(
    Metric(
        name="sap_threshold",
        title="SAP, thresholds",
        description="the same by thresholds on the latent, as in the DIP-VAE paper",
        when="To compare with SAP of categorical factors as the DIP-VAE paper defines it.",
        function=partial(sap, mode="threshold"),
        chance=0.0,
        reference="Kumar et al. 2018, §3",
        unchanged_by=CHANGES,
        chance_draws=3,
    )
)
register(
    Metric(
        name="sap_dip",
        title="SAP, DIP-VAE’s",
        description="the same by R² for ordered factors, collapsed latents cut",
        when="To compare with the DIP-VAE paper's tables, where factors with an order are scored by R².",
        function=partial(sap, mode="dip"),
        chance=0.0,
        reference="Kumar et al. 2018, §3",
        unchanged_by=CHANGES,
        chance_draws=3,
    )
)
