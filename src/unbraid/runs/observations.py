"""Whether observations look like those that a run was trained on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import InputError
from unbraid.runs.plan import Plan


def check_observations(plan: Plan, x: NDArray[Any]) -> None:
    """Refuse observations that are not stored as the run's own are.

    Args:
        plan: the run's plan, which knows the shape of its data.
        x: [n, height, width, channel] bytes for images, [n, value] float32 for vectors.
    """
    if not len(x):
        raise InputError("there are no observations: give at least one.")
    shape = tuple(plan.data["shape"])
    is_image = len(shape) == 3
    stored = (*shape[1:], shape[0]) if is_image else shape
    kind = np.dtype(np.uint8 if is_image else np.float32)
    values = int(np.prod(x.shape[1:]))
    if not is_image and values != stored[0]:
        raise InputError(f"observations have {values:,} values, and those that the run was trained on {stored[0]:,}.")
    if x.shape[1:] != stored or x.dtype != kind:
        raise InputError(
            f"observations must be {kind} of shape [n, {', '.join(map(str, stored))}], "
            f"not {x.dtype} of shape {list(x.shape)}."
        )
