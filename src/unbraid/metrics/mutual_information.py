"""The matrix of mutual information between latents and factors, which the report shows as a heat map."""

from __future__ import annotations

from typing import Unpack

from numpy.typing import ArrayLike

from unbraid.metrics._shared.bootstrap import Array
from unbraid.metrics._shared.checks import TableOptions, as_table
from unbraid.metrics._shared.information import POINTS, binned_information
from unbraid.metrics._shared.table import BINS, Table


def mutual_information_matrix(
    codes: ArrayLike | Table,
    factors: ArrayLike | None = None,
    *,
    bins: int = BINS,
    points: int | None = POINTS,
    normalise: bool = False,
    seed: int = 0,
    **about: Unpack[TableOptions],
) -> Array:
    """Mutual information I(z_j; v_k) of every latent and every factor, in nats.

    Args:
        codes: mean codes [n, latent], or a `Table`.
        factors: true factors [n, factor]; NaN where unknown.
        bins: equal-width bins of each latent.
        points: rows to draw; None for all.
        normalise: divide by the factor's entropy, so that 1 is all there is to know.
        seed: of the draw.
        **about: `kinds`, `names`, `sizes`, as in `as_table`.

    Returns:
        The matrix [latent, factor].

    Example:
        >>> from unbraid.metrics._shared.examples import perfect_table
        >>> mutual_information_matrix(*perfect_table(), normalise=True).round(2)
        array([[1., 0., 0.],
               [0., 1., 0.],
               [0., 0., 1.]])
    """
    found = binned_information(as_table(codes, factors, **about), bins, points, seed)
    return found.matrix / found.entropy if normalise else found.matrix
