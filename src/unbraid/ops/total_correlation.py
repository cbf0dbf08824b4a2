"""Estimates of log q(z) and log ∏ⱼ q(zⱼ) from a minibatch (Chen et al. 2018, appendix B)."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

from unbraid.ops import gaussian
from unbraid.ops.mixture_density import mixture_by_latent

Estimator = Literal["mws", "mss"]
# Numbers [sample, component, latent] up to which all latents go at once: that is faster for small batches only.
_AT_ONCE = 200_000


def stratified_weights(batch: int, dataset_size: int, odd: Tensor) -> Tensor:
    """log weights of minibatch-stratified sampling; each row sums to one.

    With M = batch − 1 others: a row's own component weighs 1/N, one other weighs (N−M)/(NM), and the remaining M−1
    weigh 1/M. A batch that is the whole data set leaves nothing to estimate: all weigh 1/N.

    Args:
        batch: the number of observations in the batch.
        dataset_size: N.
        odd: which other is the odd one, as an offset in 1 … M from the row's own index, [sample].

    Returns:
        [sample, component].

    Reference:
        Chen et al. 2018, appendix B, S6.

    Example:
        >>> weights = stratified_weights(3, dataset_size=10, odd=torch.tensor([1, 2, 1])).exp()
        >>> [[round(w, 2) for w in row] for row in weights.tolist()]
        [[0.1, 0.4, 0.5], [0.4, 0.1, 0.5], [0.4, 0.5, 0.1]]
    """
    others, n = batch - 1, dataset_size
    if n <= batch:
        return torch.full((batch, batch), -math.log(batch), device=odd.device)
    rows = torch.arange(batch, device=odd.device)
    weights = torch.full((batch, batch), -math.log(max(1, others)), device=odd.device)
    weights[rows, (rows + odd) % batch] = math.log((n - others) / (n * max(1, others)))
    weights[rows, rows] = -math.log(n)
    return weights


def aggregate_posterior(
    z: Tensor, mean: Tensor, log_var: Tensor, *, dataset_size: int, estimator: Estimator
) -> tuple[Tensor, Tensor]:
    """log q(z) and Σⱼ log q(zⱼ) for samples z of the posteriors in the same batch.

    `mws` is S4: an unweighted sum over the batch, divided by N·M. It is biased (at full batch it is q(z)/N), which is
    fine for gradients and wrong as a figure. `mss` is S6: unbiased for q(z) and for every q(zⱼ). The weights go in
    once, after the sum over latents for log q(z), and for each latent for log q(zⱼ).

    Args:
        z: samples, [sample, latent].
        mean: of the batch's posteriors, [component, latent].
        log_var: of the batch's posteriors, [component, latent].
        dataset_size: N.
        estimator: `mws` or `mss`.

    Returns:
        log q(z) and Σⱼ log q(zⱼ), each [sample].

    Reference:
        Chen et al. 2018, appendix B, S4 and S6.

    Example:
        >>> z = torch.zeros(4, 2)
        >>> joint, product = aggregate_posterior(z, z, z, dataset_size=4, estimator="mss")
        >>> bool(torch.allclose(joint, product))  # one Gaussian: its latents are independent
        True
    """
    weights = mixture_weights(len(z), dataset_size, estimator, z.device)
    return weighted_mixture(z, mean, log_var, weights)


def decompose(
    q: gaussian.DiagonalGaussian, z: Tensor, prior_log_prob: Tensor, dataset_size: int, estimator: Estimator
) -> tuple[Tensor, Tensor, Tensor]:
    """The KL to the prior in three terms: index-code mutual information, total correlation, dimension-wise KL.

    Args:
        q: the posteriors of a batch.
        z: a sample of each, [sample, latent].
        prior_log_prob: log p(z), [sample], of a prior whose latents are independent.
        dataset_size: N.
        estimator: of q(z), `mws` or `mss`.

    Returns:
        The three terms, one number each.

    Reference:
        Chen et al. 2018, eq. 3.

    Example:
        >>> q = gaussian.DiagonalGaussian(torch.randn(8, 3), torch.zeros(8, 3))
        >>> z = q.rsample()
        >>> prior = gaussian.standard_log_prob(z).sum(1)
        >>> terms = decompose(q, z, prior, dataset_size=8, estimator="mws")
        >>> bool(torch.isclose(sum(terms), (q.log_prob(z) - prior).mean(), atol=1e-4))  # they add up to the KL
        True
    """
    log_qz, log_prod_qz = aggregate_posterior(z, q.mean, q.log_var, dataset_size=dataset_size, estimator=estimator)
    index_code = (q.log_prob(z) - log_qz).mean()
    correlation = (log_qz - log_prod_qz).mean()
    dimension_kl = (log_prod_qz - prior_log_prob).mean()
    return index_code, correlation, dimension_kl


def mixture_weights(batch: int, dataset_size: int, estimator: Estimator, device: torch.device) -> Tensor:
    """log weights of the batch's posteriors in q(z).

    Args:
        batch: the number of observations in the batch.
        dataset_size: N.
        estimator: `mws` or `mss`, which draws its odd components.
        device: where the weights are needed.

    Returns:
        [sample, component].

    Example:
        >>> round(mixture_weights(2, 5, "mws", torch.device("cpu")).exp()[0, 0].item(), 4)  # 1/(N·M)
        0.1
    """
    if estimator == "mws":
        return torch.full((batch, batch), -math.log(dataset_size * batch), device=device)
    odd = torch.randint(1, max(2, batch), (batch,), device=device)
    return stratified_weights(batch, dataset_size, odd)


def weighted_mixture(z: Tensor, mean: Tensor, log_var: Tensor, log_weights: Tensor) -> tuple[Tensor, Tensor]:
    """log Σₘ wₘ N(z; m) over all latents together, and summed over latents one by one.

    Args:
        z: samples, [sample, latent].
        mean: of the components, [component, latent].
        log_var: of the components, [component, latent].
        log_weights: log w, [sample, component].

    Returns:
        Both log-densities, [sample].

    Example:
        >>> zero = torch.zeros(1, 2)
        >>> joint, product = weighted_mixture(zero, zero, zero, torch.zeros(1, 1))
        >>> round(joint.item(), 4), round(product.item(), 4)
        (-1.8379, -1.8379)
    """
    if len(z) * mean.numel() > _AT_ONCE:
        return mixture_by_latent(z, mean, log_var, log_weights)
    pairs = gaussian.log_prob(z[:, None], mean[None], log_var[None])  # [sample, component, latent]
    joint = torch.logsumexp(pairs.sum(2) + log_weights, dim=1)
    product = torch.logsumexp(pairs + log_weights[:, :, None], dim=1).sum(1)
    return joint, product
