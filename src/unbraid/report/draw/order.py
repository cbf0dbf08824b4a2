"""The order in which latents are shown."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def by_information(information: NDArray[Any] | None, count: int) -> list[int]:
    """Latents from the most to the least informative; ties and unknown information keep their place."""
    if information is None or len(information) != count:
        return list(range(count))
    return [int(j) for j in np.argsort(-np.nan_to_num(information, nan=-np.inf), kind="stable")]
