"""What to tell whoever estimates a total correlation from batches that are too small for it."""

from __future__ import annotations

from typing import Protocol

from unbraid.ops.batch_bias import acting_beta, tc_slope
from unbraid.ops.total_correlation import Estimator

LATENTS, NATS = 5, 6.0  # codes that tell a little: with more, the slope is larger still
LARGE = 0.5  # slope from which most of what is added to the KL's weight is no matter of correlation


class Estimates(Protocol):
    """A method with a total correlation in its loss."""

    @property
    def name(self) -> str:
        """Of the method."""

    @property
    def batch_size(self) -> int:
        """Observations in a batch."""

    @property
    def beta(self) -> float:
        """Weight of the total correlation."""

    @property
    def estimator(self) -> Estimator:
        """Of q(z)."""


def small_batch_cautions(method: Estimates, observations: int, alpha: float = 1.0) -> list[str]:
    """A sentence where the estimate of the total correlation acts largely as a KL, or pays for it; else none.

    Args:
        method: with its batch size, β and estimator.
        observations: how many the data set has; `mss` counts them.
        alpha: weight of the other parts of the KL.

    Returns:
        One sentence, or nothing.

    Example:
        >>> from unbraid.methods import BetaTCVAE
        >>> print(*small_batch_cautions(BetaTCVAE(), 10_000))
        beta-tcvae estimates total correlation from batches of 64: where 5 independent codes tell 6 nats, the estimate \
rises by 0.74 for each nat of KL, so that β = 6 acts like a β-VAE of 4.7; --batch-size 512 or more estimates it better.
        >>> small_batch_cautions(BetaTCVAE(batch_size=2048), 10_000)
        []
    """
    batch, beta, mss = method.batch_size, method.beta, method.estimator == "mss"
    if beta <= alpha or (batch >= 512 and not mss):
        return []
    slope = tc_slope(batch, latents=LATENTS, kl=NATS, estimator=method.estimator, dataset_size=observations)
    if abs(slope) <= LARGE:
        return []
    if slope < 0:
        says = f"falls by {-slope:.2f} for each nat of KL, so that codes are paid for what they tell"
        remedy = f"a --batch-size above {batch} or --estimator mws"
    else:
        says = (
            f"rises by {slope:.2f} for each nat of KL, so that β = {beta:g} acts like a β-VAE of "
            f"{acting_beta(beta, alpha, slope):.1f}"
        )
        remedy = "--batch-size 512 or more"
    return [
        f"{method.name} estimates total correlation from batches of {batch}{' by mss' if mss else ''}: where {LATENTS} "
        f"independent codes tell {NATS:g} nats, the estimate {says}; {remedy} estimates it better."
    ]
