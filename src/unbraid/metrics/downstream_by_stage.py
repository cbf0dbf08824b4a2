"""What the codes of later stages know beside those of the first."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import REPEATS
from unbraid.metrics._shared.checks import TableOptions, as_table
from unbraid.metrics.downstream import downstream
from unbraid.metrics.record import Display, Metric, register
from unbraid.metrics.score import Score


def downstream_by_stage(
    c: ArrayLike,
    z: ArrayLike,
    factors: ArrayLike,
    *,
    probe: str = "mlp",
    seed: int = 0,
    replicates: int = REPEATS,
    **about: Unpack[TableOptions],
) -> dict[str, Score]:
    """Downstream accuracy from C (codes of stage 1), Z (codes of later stages) and both: `c`, `z` and `c+z`.

    Z complements C if both together know more than either. The three probes are fitted and tested on the same rows.
    Factors with fewer than two values are left out.

    Args:
        c: codes of stage 1 [n, latent].
        z: codes of the later stages [n, latent].
        factors: true factors [n, factor]; NaN where unknown.
        probe: as in `downstream`.
        seed: of the split, the probes and the bootstrap.
        replicates: bootstrap samples of the test rows; 0 for no intervals.
        **about: `kinds`, `names` and `sizes` of the factors, as in `as_table`.

    Returns:
        The scores of `c`, `z` and `c+z`.

    Reference:
        The MS-VAE paper, figure 6.

    Example:
        >>> from unbraid.metrics._shared.examples import perfect_table
        >>> codes, factors = perfect_table()
        >>> found = downstream_by_stage(codes[:, :1], codes[:, 1:], factors[:, :1], probe="linear")
        >>> found["c"].value, found["c+z"].value > found["z"].value
        (1.0, True)
    """
    codes = {"c": np.asarray(c), "z": np.asarray(z), "c+z": np.concatenate([c, z], axis=1)}
    tables = {name: as_table(part, factors, allow_constant=True, **about).varying() for name, part in codes.items()}
    if not tables["c"].names:
        raise InputError("downstream_by_stage needs a factor with at least two known values; the table has none.")
    return {name: downstream(table, probe=probe, seed=seed, replicates=replicates) for name, table in tables.items()}


register(
    Metric(
        name="downstream_by_stage",
        title="Downstream",
        description="accuracy from stage 1's codes, later stages' and both",
        when="For chains: whether the later stage's codes add to what the first stage's know.",
        function=downstream_by_stage,
        needs="codes of a chain, factors",
        reference="the MS-VAE paper, figure 6",
        parts={
            "c": Display("Downstream, C", "accuracy of an MLP from stage 1’s codes", "higher", (0.0, 1.0)),
            "z": Display("Downstream, Z", "from the codes of later stages", "neither", (0.0, 1.0)),
            "c+z": Display("Downstream, C and Z", "from the codes of all stages", "higher", (0.0, 1.0)),
        },
    )
)
