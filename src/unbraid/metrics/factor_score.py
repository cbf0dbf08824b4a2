"""The FactorVAE score: the latent that varies least when a factor is held fixed should name that factor."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import InputError, unknown
from unbraid.metrics._shared.bootstrap import REPEATS, Array, mean_interval
from unbraid.metrics._shared.calibration import calibration
from unbraid.metrics._shared.checks import table_metric
from unbraid.metrics._shared.strata import BATCH, TEST, TRAIN, fixed_factor_batches, share_by_factor
from unbraid.metrics._shared.table import Table
from unbraid.metrics.record import CHANGES, Metric, register
from unbraid.metrics.score import Score

CONVENTIONS = ("kim", "parted")
PARTED_BATCH, PARTED_DEVIATION = 100, 0.1  # of the program of PartedVAE's authors


@table_metric
@calibration(draws=3, rows=False, unless=("parted",), train=1000, test=2000)
def factor_score(
    table: Table,
    *,
    convention: str = "kim",
    batch: int | None = None,
    train: int = TRAIN,
    test: int = TEST,
    inactive: float | None = None,
    seed: int = 0,
    replicates: int = REPEATS,
) -> Score:
    """FactorVAE score: the latent that varies least when a factor is held fixed should name that factor.

    A vote is the arg-min over active latents of Var(z_j given v_k)/Var(z_j) in `batch` rows that share a value of
    factor k; a majority vote per latent is learned from some votes and tested on others. No active latent: 0.

    Args:
        codes, factors: mean codes [n, latent] and factors [n, factor], or a `Table`.
        convention: `kim`: as above. `parted`, the rule of PartedVAE's authors: all latents that vary at all vote, votes
            for one whose deviation is below 0.1 are struck out, and the majority is scored on the votes it was learned
            from.
        batch: rows to a vote; left out, 64, or 100 by convention `parted`.
        train: votes to learn from.
        test: votes to test on; convention `parted` has none.
        inactive: latents whose variance is below this do not vote; the others keep their names and places. Left out,
            0.05; by convention `parted` 0.01, and it strikes out votes instead.
        seed: of the draws.
        replicates: bootstrap samples of the test votes; 0 for no interval.

    Returns:
        The accuracy; `details["votes"]` counts the training votes [latent, factor] and
        `details["active_latents"]` names the latents that took part.

    Reference:
        Kim & Mnih 2018, §4; the program of Hajimiri et al. 2021 for `parted`.

    Example:
        >>> from unbraid.metrics._shared.examples import perfect_table
        >>> score = factor_score(*perfect_table(), train=200, test=100)
        >>> score.value, score.details["active_latents"]
        (1.0, ['z1', 'z2', 'z3'])
    """
    if convention not in CONVENTIONS:
        raise unknown("convention of the FactorVAE score", convention, CONVENTIONS)
    if len(table.names) < 2:  # every vote is then for the only factor, whatever the codes are
        raise InputError("the FactorVAE score tells factors apart; the table has only one, so leave it out.")
    parted = convention == "parted"
    batch = batch or (PARTED_BATCH if parted else BATCH)
    limit = inactive if inactive is not None else PARTED_DEVIATION**2 if parted else 0.05
    variance = table.codes.var(axis=0, ddof=0 if parted else 1)
    active = variance >= limit
    details = {
        "convention": convention,
        "seed": seed,
        "batch": batch,
        "active": int(active.sum()),
        "active_latents": [table.columns[j] for j in np.flatnonzero(active)],
    }
    if not active.any():
        return Score(0.0, (0.0, 0.0) if replicates else None, details)
    k = table.factors.shape[1]
    votes = np.zeros((table.codes.shape[1], k), dtype=np.int64)
    voters = variance > 0 if parted else active
    least, which = _votes(table, variance, voters, train, batch, seed, "factor score, train")
    if parted:
        least, which = least[active[least]], which[active[least]]
    np.add.at(votes, (least, which), 1)
    winner = votes.argmax(axis=1)
    details |= {"votes": votes, "train_accuracy": float(votes.max(axis=1).sum() / max(len(least), 1))}
    if not parted:
        least, which = _votes(table, variance, voters, test, batch, seed, "factor score, test")
    correct = (winner[least] == which).astype(np.float64)
    if not correct.size:  # every vote went to a collapsed latent
        return Score(0.0, (0.0, 0.0) if replicates else None, details)
    details["per_factor"] = table.by_factor(share_by_factor(which, correct, k))
    spread = mean_interval(correct, seed=seed, replicates=replicates, low=0, high=1)
    return Score(float(correct.mean()), spread, details)


def _votes(
    table: Table, variance: Array, voters: NDArray[np.bool_], points: int, batch: int, seed: int, purpose: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The latent, in the table's own numbering, that each batch votes for, and the factor it held fixed."""
    from scipy.sparse import csr_array  # deferred: slow to import

    rows, which = fixed_factor_batches(table, points, batch, seed, purpose)
    z = (table.codes[:, voters] - table.codes[:, voters].mean(axis=0)) / np.sqrt(variance[voters])
    ends = np.arange(0, rows.size + 1, batch)
    members = csr_array((np.ones(rows.size), rows.ravel(), ends), shape=(points, len(table)))
    first, second = np.split(members @ np.hstack([z, z * z]) / batch, 2, axis=1)
    spread = second - first**2
    spread[spread < 1e-12] = 0.0  # of a latent that does not vary at all, rounding must not decide between two
    return np.flatnonzero(voters)[spread.argmin(axis=1)], which


register(
    Metric(
        name="factor_score",
        title="FactorVAE score",
        description="whether the latent that varies least names the fixed factor",
        when="To compare with FactorVAE and later papers. It needs at least two factors, and rows that share values.",
        function=factor_score,
        reference="Kim & Mnih 2018, §4",
        unchanged_by=CHANGES,
    )
)
register(
    Metric(
        name="factor_score_parted",
        title="FactorVAE score, PartedVAE’s",
        description="the same on its own votes, those of deviation < 0.1 struck out",
        when="Only to compare with the PartedVAE paper's tables.",
        function=partial(factor_score, convention="parted"),
        reference="Hajimiri et al. 2021, their program",
        unchanged_by=CHANGES,
        chance_draws=3,
    )
)
