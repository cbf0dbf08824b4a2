"""InfoMEC: modularity, compactness and explicitness by information."""

from __future__ import annotations

import numpy as np

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import REPEATS, Array, interval, resampled_means, stream
from unbraid.metrics._shared.calibration import calibration
from unbraid.metrics._shared.checks import table_metric
from unbraid.metrics._shared.correlation import standard
from unbraid.metrics._shared.neighbours import NeighbourColumn
from unbraid.metrics._shared.numbers import ratio
from unbraid.metrics._shared.predictive import held_out_losses
from unbraid.metrics._shared.table import Table
from unbraid.metrics.record import Display, Metric, register
from unbraid.metrics.score import Score


@table_metric
@calibration(draws=3)
def infomec(
    table: Table,
    *,
    points: int | None = 5000,
    neighbours: int = 10,
    active: float = 1 / 20,
    train: int = 4000,
    test: int = 2000,
    seed: int = 0,
    replicates: int = REPEATS,
) -> dict[str, Score]:
    """InfoM, InfoC, InfoE: whether a latent knows one factor, a factor is in one latent, and can be read off linearly.

    With N_jk = I(z_j; v_k)/H(v_k) by nearest neighbours, over the latents in use:
    InfoM = (mean_j max_k N_jk/Σ_k N_jk − 1/K)/(1 − 1/K), InfoC = (mean_k max_j N_jk/Σ_j N_jk − 1/d)/(1 − 1/d), and
    InfoE = mean_k (log L_k − loss_k)/log L_k, where loss_k is the cross-entropy of a multinomial logistic regression
    without penalty, values weighed alike, and L_k the number of values.

    The authors' program scores InfoE on the rows that the regression was fitted to; here it is on held-out rows, and
    may be below 0. Shares of estimates near 0 are far from 1/K: pure noise gets an InfoM of about a half, so read it
    beside its chance level.

    Args:
        codes, factors: mean codes [n, latent] and factors [n, factor], or a `Table`.
        points: rows to draw for InfoM and InfoC; None for all.
        neighbours: k of the estimate of mutual information.
        active: latents whose range is at most this part of the largest take no part in InfoM and InfoC.
        train: rows to fit the regressions on.
        test: rows to test them on.
        seed: of draws, split and bootstrap.
        replicates: bootstrap samples: of latents for InfoM, of factors for InfoC, of test rows for InfoE; 0 for none.

    Returns:
        A score for each of `modularity` (InfoM), `compactness` (InfoC) and `explicitness` (InfoE); `details` of the
        first two hold N as `information` [latent, factor].

    Reference:
        Hsu et al. 2023, «Disentanglement via latent quantization», §4.

    Example:
        >>> from unbraid.metrics._shared.examples import perfect_table
        >>> {name: round(score.value, 1) for name, score in infomec(*perfect_table(), replicates=0).items()}
        {'modularity': 1.0, 'compactness': 1.0, 'explicitness': 1.0}
    """
    if len(table.names) < 2:
        raise InputError("InfoMEC compares factors; the table has only one, so leave it out.")
    reach = np.ptp(table.codes, axis=0)
    used = (reach > active * reach.max()) & (reach > 0)
    shares = normalised_information(table, points, neighbours, seed)[used]
    details = {
        "seed": seed,
        "neighbours": neighbours,
        "rows": len(table.sample(points, seed)),
        "active": int(used.sum()),
        "information": shares,
    }
    by_latent = _concentration(shares, axis=1)
    by_factor = _concentration(shares, axis=0)
    return {
        "modularity": _mean(by_latent, {**details, "per_latent": by_latent}, seed, replicates),
        "compactness": _mean(by_factor, {**details, "per_factor": table.by_factor(by_factor)}, seed, replicates),
        "explicitness": _explicitness(table, train, test, seed, replicates),
    }


def normalised_information(table: Table, points: int | None, neighbours: int, seed: int) -> Array:
    """I(z_j; v_k)/H(v_k) by nearest neighbours, [latent, factor]."""
    rows = table.sample(points, seed)

    def sort() -> list[NeighbourColumn]:
        noise = stream(seed, "ties").standard_normal(len(rows))  # one for all, so that no latent has a place of its own
        return [NeighbourColumn(table.codes[rows, j], noise) for j in range(d)]

    d, k = table.codes.shape[1], len(table.names)
    columns = table.shared_by_codes(("neighbours", points, seed), sort)
    out = np.zeros((d, k))
    for f in range(k):
        label = table.groups(f)[0][rows]
        share = np.bincount(label[label >= 0]) / max(1, int((label >= 0).sum()))
        entropy = -(share * np.log(np.where(share > 0, share, 1.0))).sum()
        out[:, f] = [column.information(label, neighbours) / max(entropy, 1e-12) for column in columns]
    return out


def _concentration(shares: Array, axis: int) -> Array:
    """The largest part along an axis, mapped so that equal parts are 0 and a single one 1; 0 where all are 0."""
    outcomes = shares.shape[axis]
    if outcomes < 2:
        return np.where(shares.sum(axis=axis) > 0, 1.0, 0.0)
    part = ratio(shares.max(axis=axis, initial=0.0), shares.sum(axis=axis), 1 / outcomes)
    return np.asarray((part - 1 / outcomes) / (1 - 1 / outcomes))


def _mean(each: Array, details: dict[str, object], seed: int, replicates: int) -> Score:
    if not len(each):
        return Score(0.0, (0.0, 0.0) if replicates else None, details)
    spread = None
    if replicates:
        spread = interval(float(each.mean()), resampled_means(each, seed=seed, replicates=replicates), 0, 1)
    return Score(float(each.mean()), spread, details)


def _explicitness(table: Table, train: int, test: int, seed: int, replicates: int) -> Score:
    fit, held = table.split(train, test, seed)
    x = standard(table.codes)
    each, again = [], []
    for f in range(len(table.names)):
        losses, plain = held_out_losses(table, f, x, fit, held, balanced=True, penalty=np.inf)
        each.append(1.0 - losses.mean() / plain.mean())
        if replicates:
            again.append(1.0 - resampled_means(losses, seed=seed, replicates=replicates) / plain.mean())
    value = float(np.mean(each))
    details = {"seed": seed, "train": len(fit), "test": len(held), "per_factor": table.by_factor(np.array(each))}
    return Score(value, interval(value, np.mean(again, axis=0), high=1) if replicates else None, details)


register(
    Metric(
        name="infomec",
        title="InfoMEC",
        description="modularity, compactness, explicitness by information",
        when="For continuous or quantised codes, where bins would decide the score; three parts say what is wrong.",
        function=infomec,
        reference="Hsu et al. 2023",
        unchanged_by=("shift", "scale of each", "common scale"),
        parts={
            "modularity": Display("InfoM", "each latent knows one factor", "higher", (0.0, 1.0)),
            "compactness": Display("InfoC", "each factor is in one latent", "higher", (0.0, 1.0)),
            "explicitness": Display("InfoE", "factors can be read off linearly, held out", "higher", (None, 1.0)),
        },
    )
)
