"""Whether a second stage keeps to the first stage's codes: M1–M4 of the MS-VAE paper."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from unbraid.errors import InputError
from unbraid.metrics._shared.bootstrap import REPEATS, Array, interval, resampled_means, stream
from unbraid.metrics._shared.information import joint_counts, pointwise_information
from unbraid.metrics._shared.numbers import equal_width, numbers, ratio
from unbraid.metrics._shared.table import BINS
from unbraid.metrics.record import Display, Metric, register
from unbraid.metrics.score import Chance, Score

_DRAWS = 5  # random orders for the chance level


def conditioning(
    c_r: ArrayLike,
    c_y: ArrayLike,
    c_x: ArrayLike,
    c_zeps: ArrayLike,
    c_yeps: ArrayLike,
    *,
    bins: int = BINS,
    seed: int = 0,
    replicates: int = REPEATS,
    calibrate: bool = False,
) -> dict[str, Score]:
    """The conditioning terms M1 to M4 of a two-stage model.

    With E the mean of the first stage's encoder and G the second stage's decoder, all codes [n, latent] and row by row
    of the same observations: M1 = MI[C_R; C_Y], M2 = MI[C_R; C_X], M3 = MI[C_R; C_zε], M4 = MI[C_R; C_Yε]. The second
    stage adds what Z knows if M2 > M1, and keeps to the codes if M1 > M3 ≫ M4.

    Args:
        c_r: E(X), codes of the observations.
        c_y: E(Y), of the first stage's output.
        c_x: E(G(Y, Z)), of the second stage's output.
        c_zeps: E(G(Y, ε)), with noise in place of Z.
        c_yeps: E(G(ε, Z)), with noise in place of Y.
        bins: equal-width bins of each latent.
        seed: of the bootstrap.
        replicates: bootstrap samples of the rows; 0 for no intervals.
        calibrate: also what rows in a random order give, and what C_R itself gives.

    Returns:
        A score for each of `M1`, `M2`, `M3` and `M4`, in [0, 1].

    Reference:
        The MS-VAE paper, §4 and appendix G.

    Example:
        >>> from unbraid.metrics._shared.examples import perfect_table
        >>> codes, _ = perfect_table()
        >>> terms = conditioning(codes, codes, codes, codes, 0 * codes)
        >>> {name: round(score.value, 2) for name, score in terms.items()}
        {'M1': 1.0, 'M2': 1.0, 'M3': 1.0, 'M4': 0.0}
    """
    others = {"M1": c_y, "M2": c_x, "M3": c_zeps, "M4": c_yeps}
    return {
        name: code_information(c_r, codes, bins=bins, seed=seed, replicates=replicates, calibrate=calibrate)
        for name, codes in others.items()
    }


def code_information(
    c_r: ArrayLike,
    c: ArrayLike,
    *,
    bins: int = BINS,
    seed: int = 0,
    replicates: int = REPEATS,
    calibrate: bool = False,
) -> Score:
    """Information that codes C hold on the codes C_R: 1/d Σ_i I(c_i; c_R,i)/H(c_R,i).

    A latent of C_R that is constant knows nothing and counts 0.

    Args:
        c_r: codes of the observations [n, latent].
        c: codes of what was made of them, row by row, of the same shape.
        bins: equal-width bins of each latent, over its range.
        seed: of the bootstrap.
        replicates: bootstrap samples of the rows; 0 for no interval.
        calibrate: also what rows in a random order give, and what C_R itself gives.

    Returns:
        The mean in [0, 1]; `details["per_latent"]` has each latent's share, [latent].

    Reference:
        The MS-VAE paper, eq. 6.

    Example:
        >>> code_information([[0.0], [0.0], [1.0], [1.0]], [[5.0], [5.0], [7.0], [7.0]], replicates=0).value
        1.0
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
    each = _shares(parts.mean(axis=0))
    value = float(each.mean())
    spread = None
    if replicates:
        again = _shares(resampled_means(parts, seed=seed, replicates=replicates)).mean(axis=1)
        spread = interval(value, again, 0, 1)
    score = Score(value, spread, {"bins": bins, "seed": seed, "rows": n, "per_latent": each})
    if not calibrate:
        return score
    draws = stream(seed, "chance")
    orders = [draws.permutation(n) for _ in range(_DRAWS)]
    drawn = tuple(code_information(real, other[order], bins=bins, replicates=0).value for order in orders)
    ceiling = code_information(real, real, bins=bins, replicates=0).value
    return replace(score, chance=Chance(drawn), ceiling=ceiling)


def _shares(parts: Array) -> Array:
    return ratio(parts[..., 0], parts[..., 1], 0.0, least=1e-12)


register(
    Metric(
        name="conditioning",
        title="Conditioning",
        description="M1–M4: whether a second stage keeps to the codes",
        when="For every chain of two stages or more: whether the second stage still obeys the codes.",
        function=conditioning,
        needs="codes of a chain",
        better="neither",
        reference="the MS-VAE paper, §4 and appendix G",
        parts={
            "M1": Display("M1", "information of y’s codes on x’s", "higher", (0.0, 1.0)),
            "M2": Display("M2", "of x̂’s codes", "higher", (0.0, 1.0)),
            "M3": Display("M3", "of x̂’s codes with noise for z", "higher", (0.0, 1.0)),
            "M4": Display("M4", "of x̂’s codes with noise for y", "lower", (0.0, 1.0)),
        },
    )
)
