"""Leakage of one factor into the code of another: what training under tied factors leaves behind."""

from __future__ import annotations

from collections.abc import Sequence

from unbraid.errors import InputError, unknown
from unbraid.metrics._shared.bootstrap import REPEATS
from unbraid.metrics._shared.calibration import calibration
from unbraid.metrics._shared.checks import table_metric
from unbraid.metrics._shared.information import binned_information
from unbraid.metrics._shared.table import Table
from unbraid.metrics.leakage import leakage
from unbraid.metrics.record import Metric, register
from unbraid.metrics.score import Score


@table_metric
@calibration(draws=3, ceiling=False)
def factor_leakage(
    table: Table,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    train: int = 4000,
    test: int = 2000,
    seed: int = 0,
    replicates: int = REPEATS,
) -> dict[str, Score]:
    """What the code of one factor gives away of another, both ways for every pair.

    The code of a factor is the latent that knows most of it (as for MIG), and what that latent knows of the other
    factor is a share of its entropy as in `leakage`. Where factors are independent in the table and codes are of one
    factor each, it is 0. A model that was trained where they went together may hold on to that.

    Args:
        codes, factors: mean codes [n, latent] and factors [n, factor], or a `Table`; of rows where the factors of a
            pair are independent.
        pairs: names of factors that may leak into each other; left out, all of them.
        train: rows to fit the probe on.
        test: rows to test it on.
        seed: of the split and of the bootstrap.
        replicates: bootstrap samples of the test rows; 0 for no interval.

    Returns:
        A score for each direction, called `wall in floor` for what the floor's code knows of the wall;
        `details["latents"]` says which code that is.

    Reference:
        Träuble et al. 2021; Roth et al. 2023, for factors that are tied in training.

    Example:
        >>> from unbraid.metrics._shared.examples import perfect_table
        >>> codes, factors = perfect_table()
        >>> codes[:, 1] += 2 * codes[:, 0]
        >>> found = factor_leakage(codes, factors, names=["shape", "size", "hue"], pairs=[("shape", "size")])
        >>> abs(found["size in shape"].value) < 0.02, found["shape in size"].value > 0.5
        (True, True)
    """
    if len(table.names) < 2:
        raise InputError("a factor leaks into the code of another; the table has only one, so leave it out.")
    names = list(table.names)
    asked = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]] if pairs is None else list(pairs)
    for name in (name for pair in asked for name in pair):
        if name not in names:
            raise unknown("factor", name, names)
    own = binned_information(table, seed=seed).matrix.argmax(axis=0)
    scores = {}
    for holder, other in [way for a, b in asked for way in ((a, b), (b, a))]:
        latent = int(own[names.index(holder)])
        scores[f"{other} in {holder}"] = leakage(
            table.with_factors([names.index(other)]),
            latents=[latent],
            train=train,
            test=test,
            seed=seed,
            replicates=replicates,
        )
    return scores


register(
    Metric(
        name="factor_leakage",
        title="Leakage",
        description="share of one factor that another’s code gives away",
        when="Where training tied factors: whether the code of one gives away the other.",
        function=factor_leakage,
        needs="codes, factors that were tied in training",
        better="lower",
        range=(None, 1.0),
        chance=0.0,
        reference="Träuble et al. 2021; Roth et al. 2023",
    )
)
