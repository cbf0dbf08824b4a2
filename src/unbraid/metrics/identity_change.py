"""How far identity changes as the first stage's codes move."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import REPEATS, Array, interval, resampled_means
from unbraid.metrics._shared.numbers import ratio
from unbraid.metrics.record import Metric, register
from unbraid.metrics.score import Score


def identity_change(features: ArrayLike, *, seed: int = 0, replicates: int = REPEATS) -> Score:
    """The share of features' variance that moves with the pose while identity stays.

    0: every identity looks the same in every pose. 1: poses explain all there is, so that identities differ in nothing
    (or change with every pose).

    Args:
        features: [identity, pose, …]: of images made with the codes of one identity and of one pose.
        seed: of the bootstrap.
        replicates: bootstrap samples of the identities; 0 for no interval.

    Returns:
        The share in [0, 1].

    Reference:
        The MS-VAE paper, appendix F.

    Example:
        >>> import numpy as np
        >>> identities = np.array([[[0.0], [0.0]], [[1.0], [1.0]]])
        >>> identity_change(identities).value, identity_change(identities.swapaxes(0, 1)).value
        (0.0, 1.0)
    """
    values = np.asarray(features, dtype=np.float64)
    if values.ndim < 3 or min(values.shape[:2]) < 2:
        raise InputError(f"identity change needs features [identity, pose, feature], not {values.shape}.")
    values = values.reshape(*values.shape[:2], -1)
    centre = values.mean(axis=1)  # [identity, feature]
    within = values.var(axis=1).sum(axis=1)  # [identity]
    square = np.square(values).sum(axis=2).mean(axis=1)
    parts = np.concatenate([within[:, None], square[:, None], centre], axis=1)
    value = float(_share(parts.mean(axis=0)))
    spread = None
    if replicates:
        spread = interval(value, _share(resampled_means(parts, seed=seed, replicates=replicates)), 0, 1)
    return Score(value, spread, {"identities": values.shape[0], "poses": values.shape[1], "seed": seed})


def _share(parts: Array) -> Array:
    total = parts[..., 1] - np.square(parts[..., 2:]).sum(axis=-1)
    return np.asarray(np.clip(ratio(parts[..., 0], total, 1.0, least=1e-12), 0, 1))


register(
    Metric(
        name="identity_change",
        title="Identity change",
        description="share of variance that moves with c while all other codes stay",
        when="For chains and GANs, without labels: how much else changes as c moves; read it beside the traversals.",
        function=identity_change,
        needs="features of a chain",
        better="neither",
        reference="the MS-VAE paper, appendix F",
    )
)
