"""How much of the KL a minibatch's estimate of the total correlation takes for correlation.

The estimate sees a posterior among the batch's others. The fewer these are, the more it is each code's own posterior
that stands out, in all latents at once: the codes look dependent, and the more so the more they tell. A loss with
β·TC then weighs the KL itself.
"""

from __future__ import annotations

import torch

from unbraid.ops.total_correlation import Estimator, mixture_weights, stratified_weights, weighted_mixture

ROWS = 4096  # samples whose slopes are averaged: a standard error of about 0.01


def tc_slope(
    batch: int,
    *,
    latents: int = 5,
    kl: float = 6.0,
    estimator: Estimator = "mws",
    dataset_size: int = 1_000_000,
    rows: int = ROWS,
    seed: int = 0,
) -> float:
    """The slope of the estimated total correlation against the KL, of codes whose total correlation is 0.

    Posteriors N(μ, s²·I) with μ ~ N(0, (1 − s²)·I) make q(z) the standard normal whatever s is, so that TC = 0 and
    KL = −D·log s. The slope is the derivative of the expected estimate by the KL, at draws that are kept the same. An
    estimate that tells correlation from information has slope 0; slope 1 makes it another KL.

    Args:
        batch: observations in a training batch.
        latents: that carry information.
        kl: what they carry together, in nats.
        estimator: of q(z), `mws` or `mss`.
        dataset_size: N, which matters to `mss` alone.
        rows: samples to average over.
        seed: of the draws.

    Returns:
        Nats of estimated total correlation for a nat of KL.

    Reference:
        Chen et al. 2018, appendix B and H.2, where the bias is named and batches are 2048.

    Example:
        >>> tc_slope(32) > 0.7 > 0.5 > tc_slope(512)
        True
    """
    draw = torch.Generator().manual_seed(seed)
    nats = torch.tensor(float(kl), requires_grad=True)
    deviation = (-nats / latents).exp()
    each = min(batch, max(1, rows // 4))  # of a large batch, some samples among all of its posteriors
    slopes = []
    for _ in range(max(1, rows // each)):
        start, noise = (torch.randn((size, latents), generator=draw) for size in (batch, each))
        mean = (1 - deviation.square()).sqrt() * start
        z = mean[:each] + deviation * noise
        if estimator == "mss":  # its odd components are drawn by the seed, too
            odd = torch.randint(1, max(2, batch), (batch,), generator=draw)
            weights = stratified_weights(batch, dataset_size, odd)
        else:
            weights = mixture_weights(batch, dataset_size, estimator, z.device)
        joint, product = weighted_mixture(z, mean, 2 * deviation.log().expand_as(mean), weights[:each])
        slopes.append(torch.autograd.grad((joint - product).mean(), nats, retain_graph=True)[0])
    return float(torch.stack(slopes).mean())


def acting_beta(beta: float, alpha: float, slope: float) -> float:
    """The weight that the KL has in α·KL + (β − α)·TC where the estimate of TC rises with the KL.

    Args:
        beta: weight of the total correlation.
        alpha: of the other terms of the KL.
        slope: as `tc_slope` has it.

    Returns:
        α + (β − α)·slope: the β of the β-VAE that it acts like on codes that are independent.

    Example:
        >>> acting_beta(6.0, 1.0, 0.5)
        3.5
    """
    return alpha + (beta - alpha) * slope
