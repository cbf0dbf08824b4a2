"""UDR: which of several models is disentangled, judged by how well they agree; no labels are read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.errors import InputError, unknown
from unbraid.metrics._shared.bootstrap import REPEATS, Array, interval, stream
from unbraid.metrics._shared.lasso import lasso
from unbraid.metrics._shared.numbers import numbers, ratio
from unbraid.metrics.record import Metric, register
from unbraid.metrics.score import Score

PENALTY = 0.1  # of the lasso, as in the paper


def udr(
    codes: Sequence[ArrayLike],
    *,
    information: Sequence[ArrayLike] | None = None,
    method: str = "spearman",
    threshold: float = 0.01,
    points: int | None = 10_000,
    seed: int = 0,
    replicates: int = REPEATS,
) -> Score:
    """Unsupervised disentanglement ranking of models that encode the same observations.

    UDR_ab = 1/(d_a + d_b) [Σ_j r_j²/Σ_i R_ij + Σ_i r_i²/Σ_j R_ij], r the largest similarity of a latent, over
    the informative latents of both models; a model's score is the median over all other models.

    Args:
        codes: for each model its mean codes [n, latent] of the same observations in the same order.
        information: for each model the mean KL of its latents in nats [latent]; a latent is informative if it exceeds
            `threshold`. Without it, if its variance is at least 0.05.
        method: R is the absolute `spearman` correlation, or the absolute weights of a `lasso` (penalty 0.1, codes
            standardised).
        threshold: of the information.
        points: rows to draw; None for all.
        seed: of the draw and of the bootstrap.
        replicates: bootstrap samples of the models; 0 for no interval.

    Returns:
        The mean over models; `details["per_model"]` ranks them, and `details["best"]` is the place of the first choice
        in `codes`.

    Reference:
        Duan et al. 2020, eq. 3.

    Example:
        >>> from unbraid.metrics._shared.examples import mixed_table, perfect_table
        >>> codes, mixed = perfect_table()[0], mixed_table()[0]
        >>> udr([mixed, codes, -codes[:, ::-1]]).details["best"]
        1
    """
    from scipy.stats import rankdata  # deferred: importing the metrics should not import SciPy

    if method not in ("spearman", "lasso"):
        raise unknown("method of UDR", method, ("spearman", "lasso"))
    tables = [numbers(c, f"codes of model {i}") for i, c in enumerate(codes)]
    if len(tables) < 2:
        raise InputError(f"UDR compares models; {len(tables)} was given: train at least one more with another seed.")
    for i, table in enumerate(tables):
        if table.ndim != 2 or len(table) != len(tables[0]) or len(table) < 2:
            raise InputError(
                f"codes of model {i} have shape {table.shape} and those of model 0 {tables[0].shape}; "
                "encode the same observations, in the same order, with every model."
            )
    masks = _informative(tables, information, threshold)
    if points is not None and points < len(tables[0]):
        rows = stream(seed, "udr").choice(len(tables[0]), points, replace=False)
        tables = [table[rows] for table in tables]
    active = [
        _unit(rankdata(t[:, m], axis=0) if method == "spearman" else t[:, m])
        for t, m in zip(tables, masks, strict=True)
    ]
    count = len(tables)
    pairwise = _by_lasso(active) if method == "lasso" else _by_correlation(active)
    per_model = np.nanmedian(pairwise, axis=1)
    value = float(per_model.mean())
    spread = None
    if replicates and count > 2:
        draws = stream(seed, "udr models").integers(count, size=(replicates, count))
        spread = interval(value, _resampled(pairwise, draws, value), 0, 1)
    return Score(
        value,
        spread,
        {
            "method": method,
            "seed": seed,
            "per_model": per_model,
            "best": int(per_model.argmax()),
            "pairwise": pairwise,
            "informative": [int(mask.sum()) for mask in masks],
        },
    )


def _resampled(pairwise: Array, draws: NDArray[np.int64], value: float) -> Array:
    """The score among models drawn with replacement [draw, model]; a model is never compared with itself."""
    several = np.ptp(draws, axis=1) > 0
    found = np.full(len(draws), value)
    among = pairwise[draws[several][:, :, None], draws[several][:, None, :]]
    found[several] = np.nanmedian(among, axis=2).mean(axis=1)
    return found


def _informative(
    tables: list[Array], information: Sequence[ArrayLike] | None, threshold: float
) -> list[NDArray[np.bool_]]:
    if information is None:
        return [table.var(axis=0) >= 0.05 for table in tables]
    if len(information) != len(tables):
        raise InputError(f"there are {len(tables)} models and information for {len(information)}; give one for each.")
    masks = []
    for i, (table, values) in enumerate(zip(tables, information, strict=True)):
        kl = numbers(values, f"information of model {i}")
        if kl.shape != (table.shape[1],):
            raise InputError(f"information of model {i} has shape {kl.shape}; give one value a latent.")
        # A latent that never moves has no correlation, whatever its KL.
        masks.append((kl > threshold) & (np.ptp(table, axis=0) > 0))
    return masks


def _unit(values: Array) -> Array:
    centred = values - values.mean(axis=0)
    scale = centred.std(axis=0)
    return np.where(np.ptp(values, axis=0) > 0, centred / np.where(scale > 0, scale, 1.0), 0.0)


def _by_correlation(active: list[Array]) -> Array:
    """Agreement of every pair of models; NaN of a model with itself."""
    pairwise = np.full((len(active), len(active)), np.nan)
    for i, a in enumerate(active):
        for j, b in enumerate(active[:i]):
            pairwise[i, j] = pairwise[j, i] = _relative_strength(np.abs(a.T @ b) / len(a))
    return pairwise


def _by_lasso(active: list[Array]) -> Array:
    """The same with the weights by which one model's latents foretell another's: both directions, averaged."""
    pairwise = np.full((len(active), len(active)), np.nan)
    ends = np.cumsum([0, *(table.shape[1] for table in active)])
    everyone = np.hstack(active)
    for i, a in enumerate(active):
        weights = np.abs(lasso(a, everyone, PENALTY))
        for j in range(len(active)):
            if j != i:
                pairwise[i, j] = _relative_strength(weights[:, ends[j] : ends[j + 1]])
    return np.asarray((pairwise + pairwise.T) / 2)


def _relative_strength(similarity: Array) -> float:
    if not similarity.size:
        return 0.0

    def side(matrix: Array) -> float:
        total = matrix.sum(axis=0)
        best = np.square(matrix.max(axis=0))
        return float(ratio(best, total, 0.0).sum())

    return (side(similarity) + side(similarity.T)) / sum(similarity.shape)


register(
    Metric(
        name="udr",
        title="UDR",
        description="agreement between models: choose one without labels",
        when="Without labels, to choose among several trained models: those that find the same codes.",
        function=udr,
        needs="codes of several models",
        reference="Duan et al. 2020, eq. 3",
    )
)
