"""What to tell whoever estimates a total correlation from batches that are too small for it."""

from __future__ import annotations

from unbraid.ops.batch_bias import acting_beta, tc_slope

LATENTS, NATS = 5, 6.0  # codes that tell a little: with more, the slope is larger still
LARGE = 0.5  # slope from which most of what is added to the KL's weight is no matter of correlation


def small_batch_cautions(name: str, batch_size: int, beta: float, alpha: float = 1.0) -> list[str]:
    """A sentence where the estimate of the total correlation (`mws`) acts largely as a KL; else none.

    Args:
        name: of the method.
        batch_size: of its training.
        beta: weight of the total correlation.
        alpha: of the other parts of the KL.

    Returns:
        One sentence, or nothing.

    Example:
        >>> print(*small_batch_cautions("beta-tcvae", 64, beta=6.0))
        beta-tcvae estimates total correlation from batches of 64: where 5 independent codes tell 6 nats, the estimate \
rises by 0.74 for each nat of KL, so that β = 6 acts like a β-VAE of 4.7; --batch-size 512 or more estimates it better.
        >>> small_batch_cautions("beta-tcvae", 2048, beta=6.0)
        []
    """
    if beta <= alpha or batch_size >= 512:
        return []
    slope = tc_slope(batch_size, latents=LATENTS, kl=NATS)
    if slope <= LARGE:
        return []
    return [
        f"{name} estimates total correlation from batches of {batch_size}: where {LATENTS} independent codes tell "
        f"{NATS:g} nats, the estimate rises by {slope:.2f} for each nat of KL, so that β = {beta:g} acts like a β-VAE "
        f"of {acting_beta(beta, alpha, slope):.1f}; --batch-size 512 or more estimates it better."
    ]
