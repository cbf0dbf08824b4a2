"""Whether a second stage keeps to the first stage's codes: M1–M4 of the MS-VAE paper."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from unbraid.errors import InputError
from unbraid.metrics.bootstrap import REPLICATES, Array, interval, resampled_means
from unbraid.metrics.information import joint_counts, pointwise_information
from unbraid.metrics.score import Score
from unbraid.metrics.table import BINS, equal_width, numbers


def conditioning(
    c_r: ArrayLike,
    c_y: ArrayLike,
    c_x: ArrayLike,
    c_zeps: ArrayLike,
    c_yeps: ArrayLike,
    *,
    bins: int = BINS,
    seed: int = 0,
    replicates: int = REPLICATES,
) -> dict[str, Score]:
    """The conditioning terms of a two-stage model (MS-VAE, §4 and appendix G).

    With E the mean of the first stage's encoder and G the second stage's decoder, all `[n, d]` and row by row of
    the same observations: `c_r` = E(X), `c_y` = E(Y), `c_x` = E(G(Y, Z)), `c_zeps` = E(G(Y, ε)) and
    `c_yeps` = E(G(ε, Z)). M1 = MI[C_R; C_Y], M2 = MI[C_R; C_X], M3 = MI[C_R; C_zε], M4 = MI[C_R; C_Yε].
    The second stage adds what Z knows if M2 > M1, and keeps to the codes if M1 > M3 ≫ M4.
    """
    others = {"M1": c_y, "M2": c_x, "M3": c_zeps, "M4": c_yeps}
    return {
        name: code_information(c_r, codes, bins=bins, seed=seed, replicates=replicates)
        for name, codes in others.items()
    }


def code_information(
    c_r: ArrayLike, c: ArrayLike, *, bins: int = BINS, seed: int = 0, replicates: int = REPLICATES
) -> Score:
    """MI[C_R; C] = 1/d Σ_i I(c_i; c_R,i)/H(c_R,i) (eq. 6), each code in 20 bins of equal width over its range.

    A dimension of C_R that is constant knows nothing and counts 0. The interval resamples rows.
    """
    real, other = numbers(c_r, "c_r"), numbers(c, "the codes to compare with c_r")
    if real.ndim != 2 or real.shape != other.shape or len(real) < 2:
        raise InputError(
            f"codes of shapes {real.shape} and {other.shape} cannot be compared; "
            "give the codes of the same observations, [n, d] both."
        )
    n, d = real.shape
    left, right = equal_width(real, bins), equal_width(other, bins)
    parts = np.empty((n, d, 2))
    for i in range(d):
        joint = joint_counts(right[:, i : i + 1], left[:, i], bins, bins)
        pointwise, surprise = pointwise_information(joint)
        parts[:, i, 0], parts[:, i, 1] = pointwise[0, right[:, i], left[:, i]], surprise[left[:, i]]
    each = _ratio(parts.mean(axis=0))
    value = float(each.mean())
    spread = None
    if replicates:
        again = _ratio(resampled_means(parts, seed=seed, replicates=replicates)).mean(axis=1)
        spread = interval(value, again, 0, 1)
    return Score(value, spread, {"bins": bins, "seed": seed, "rows": n, "per_latent": each})


def _ratio(parts: Array) -> Array:
    information, entropy = parts[..., 0], parts[..., 1]
    return np.asarray(np.divide(information, entropy, out=np.zeros_like(entropy), where=entropy > 1e-12))
