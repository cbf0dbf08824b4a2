"""How dependent codes are on each other, from kernel densities of a batch of them."""

from __future__ import annotations

import math

from torch import Tensor

from unbraid.ops.gaussian import log_prob


def kernel_multi_information(codes: Tensor, spread: Tensor) -> Tensor:
    """log q(z) − Σⱼ log q(zⱼ) at each code, with densities that are sums of Gaussian kernels at the batch's codes.

    The joint density's kernels have Silverman's width for so many latents; those of the marginals have the codes' own
    standard deviation, as in the authors' code: smooth enough that a gradient reaches codes which have few values.

    Args:
        codes: [b, latent].
        spread: the codes' standard deviation, [latent].

    Returns:
        [b], in nats; its mean is the estimate of the multi-information (total correlation).

    Reference:
        Hsu et al. 2024 (Tripod), latent multiinformation; Silverman 1986 for the width.

    Example:
        >>> import torch
        >>> line, few = torch.linspace(-1, 1, 25), torch.linspace(-1, 1, 5)
        >>> diagonal, square = torch.stack([line, line], dim=1), torch.cartesian_prod(few, few)
        >>> values = [kernel_multi_information(z, z.std(0)).mean() for z in (diagonal, square)]
        >>> bool(values[0] > values[1])
        True
    """
    n, latents = codes.shape
    silverman = (4 / (latents + 2)) ** (1 / (latents + 4)) * n ** (-1 / (latents + 4))
    marginal = kernel_log_densities(codes, spread).logsumexp(1) - math.log(n)  # [b, latent]
    joint = kernel_log_densities(codes, silverman * spread).sum(2).logsumexp(1) - math.log(n)  # [b]
    return joint - marginal.sum(1)


def kernel_log_densities(codes: Tensor, width: Tensor) -> Tensor:
    """log N(zᵢ; zⱼ, width²) of all pairs of a batch's codes, [b, b, latent]."""
    return log_prob(codes[:, None], codes[None], 2 * width.log())
