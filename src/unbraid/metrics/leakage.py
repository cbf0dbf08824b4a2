"""Leakage: what a group of codes still knows of factors that it should not."""

from __future__ import annotations

from collections.abc import Sequence

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import REPEATS, interval
from unbraid.metrics._shared.calibration import calibration
from unbraid.metrics._shared.checks import table_metric
from unbraid.metrics._shared.predictive import predicted_shares
from unbraid.metrics._shared.table import Table
from unbraid.metrics.record import Display, Metric, register
from unbraid.metrics.score import Score

_RANGE = (None, 1.0)


@table_metric
@calibration(draws=3, ceiling=False)
def leakage(
    table: Table,
    *,
    latents: Sequence[int | str] | None = None,
    train: int = 4000,
    test: int = 2000,
    seed: int = 0,
    replicates: int = REPEATS,
) -> Score:
    """Leakage: the share of each factor's entropy that a group of codes gives away.

    1/K Σ_k (H(v_k) − loss_k)/H(v_k), where loss_k is the cross-entropy on held-out rows of a multinomial logistic
    regression (C = 1) on the standardised codes and, of up to 20 of them, their products: a lower bound of the mutual
    information between all codes of the group together and the factor. Give the factors that the group should not know,
    such as the class for PartedVAE's codes that are free of it, another factor for the code of one, or what stage 1
    holds for a later stage. It may be below 0 by chance.

    Args:
        codes, factors: mean codes [n, latent] and factors [n, factor], or a `Table`.
        latents: the group, by the columns' names or places (0 is the first); left out, all codes.
        train: rows to fit on.
        test: rows to test on.
        seed: of the split and of the bootstrap.
        replicates: bootstrap samples of the test rows; 0 for no interval.

    Returns:
        The share, at most 1; `details["per_factor"]` has each factor's and `details["nats"]` the information itself.

    Reference:
        Xu et al. 2020 for predictive information; Träuble et al. 2021 for factors that leak.

    Example:
        >>> from unbraid.metrics._shared.examples import perfect_table
        >>> codes, factors = perfect_table()
        >>> own, other = (leakage(codes, factors[:, 0], latents=[j]).value for j in ("z1", "z2"))
        >>> own > 0.9, abs(other) < 0.02
        (True, True)
    """
    chosen = _columns(latents, table)
    each, nats, again = predicted_shares(table, chosen, train, test, seed, replicates)
    fit, held = table.split(train, test, seed)
    value = float(each.mean())
    details = {
        "seed": seed,
        "latents": [table.columns[j] for j in chosen],
        "train": len(fit),
        "test": len(held),
        "per_factor": table.by_factor(each),
        "nats": table.by_factor(nats),
    }
    return Score(value, interval(value, again.mean(axis=1), high=1) if replicates else None, details)


def _columns(latents: Sequence[int | str] | None, table: Table) -> list[int]:
    if latents is None:
        return list(range(len(table.columns)))
    names = list(table.columns)
    try:
        chosen = [names.index(one) if isinstance(one, str) else range(len(names))[one] for one in latents]
    except (ValueError, IndexError):
        chosen = []
    if not chosen:
        raise InputError(f"latents {list(latents)} are not columns of the codes; choose from {', '.join(names)}.")
    return chosen


register(
    Metric(
        name="leakage",
        title="Leakage",
        description="share of a factor that a group of codes gives away",
        when="To ask what a group of codes gives away that it should not know.",
        function=leakage,
        needs="codes of a group, factors",
        better="lower",
        range=_RANGE,
        chance=0.0,
        reference="Xu et al. 2020; Träuble et al. 2021",
        parts={
            "class": Display(
                "Leakage of classes", "what class-independent codes know of the class", "lower", (None, 1.0)
            ),
            "later": Display(
                "Leakage to later stages", "what later stages’ z knows of the factors", "neither", (None, 1.0)
            ),
        },
    )
)
