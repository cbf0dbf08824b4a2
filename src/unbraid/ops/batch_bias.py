"""How much of the KL a minibatch's estimate of the total correlation takes for correlation.

The estimate sees a posterior among the batch's others. The fewer these are, the more it is each code's own posterior
that stands out, in all latents at once: the codes look dependent, and the more so the more they tell. A loss with
β·TC then weighs the KL itself.
"""

from __future__ import annotations

import torch
from torch import Tensor

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
        weights = drawn_weights(batch, dataset_size, estimator, draw)
        joint, product = weighted_mixture(z, mean, 2 * deviation.log().expand_as(mean), weights[:each])
        slopes.append(torch.autograd.grad((joint - product).mean(), nats, retain_graph=True)[0])
    return float(torch.stack(slopes).mean())


def slope_at(
    mean: Tensor, log_var: Tensor, batch: int, *, estimator: Estimator = "mws", batches: int = 200, seed: int = 0
) -> float:
    """The same slope at the posteriors of a data set, which need not add up to a normal distribution.

    Few images cannot: with n of them the codes tell the index at most, log n nats, however large their KL. All
    deviations shrink by one factor, at draws that are kept the same; means stay.

    Args:
        mean: of every observation's posterior, [n, latent].
        log_var: its log variance, [n, latent].
        batch: observations in a training batch, n at most.
        estimator: of q(z), `mws` or `mss`.
        batches: to average over.
        seed: of the draws.

    Returns:
        Nats of estimated total correlation for a nat of KL.

    Example:
        >>> mean = torch.cartesian_prod(torch.arange(8.0), torch.arange(8.0))  # as independent as can be
        >>> slopes = [slope_at(mean, torch.zeros(64, 2) - 2, batch) for batch in (16, 64)]
        >>> slopes[0] > 0.1 > abs(slopes[1])
        True
    """
    draw = torch.Generator().manual_seed(seed)
    shrink = torch.zeros((), requires_grad=True)
    correlation, information = 0.0, 0.0
    for _ in range(batches):
        rows = torch.randperm(len(mean), generator=draw)[:batch]
        deviation = (log_var[rows] / 2 - shrink).exp()
        z = mean[rows] + deviation * torch.randn(deviation.shape, generator=draw)
        weights = drawn_weights(batch, len(mean), estimator, draw)
        joint, product = weighted_mixture(z, mean[rows], 2 * deviation.log(), weights)
        correlation += float(torch.autograd.grad((joint - product).mean(), shrink)[0])
        information += float((1 - deviation.detach().square()).sum(1).mean())  # the KL's own derivative
    return correlation / information


def drawn_weights(batch: int, dataset_size: int, estimator: Estimator, draw: torch.Generator) -> Tensor:
    """log weights of a batch's posteriors in q(z); the odd components of `mss` are drawn by the generator, too."""
    if estimator == "mss":
        odd = torch.randint(1, max(2, batch), (batch,), generator=draw)
        return stratified_weights(batch, dataset_size, odd)
    return mixture_weights(batch, dataset_size, estimator, torch.device("cpu"))


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
