"""Which latents of a table carry something."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unbraid.metrics._shared.table import Table

# A latent below this mean KL moves nothing that one could see, and one whose mean hardly differs between observations
# says nothing of them, whatever its KL (Burda et al. 2016); it does not count as in use.
IN_USE = 0.05
ACTIVE = 0.01


def in_use(table: Table) -> NDArray[np.bool_]:
    """Which latents of a stage carry information worth a look, [latent]."""
    used: NDArray[np.bool_] = table.codes.var(axis=0) >= ACTIVE
    if table.information is not None:
        used &= table.information >= IN_USE
    return used
