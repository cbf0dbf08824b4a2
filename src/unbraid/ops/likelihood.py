"""Observation models p(x | decoder output): negative log-likelihood and mean."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from unbraid.ops.gaussian import LOG_2PI
from unbraid.ops.optimal_sigma import optimal_gaussian_nll, optimal_variance

Likelihood = Literal["bernoulli", "gaussian", "gaussian-optimal", "laplace"]


def mean(likelihood: Likelihood, output: Tensor) -> Tensor:
    """The mean of p(x | output). Image decoders end in logits, so every image model has a mean in [0, 1]."""
    bounded = likelihood == "bernoulli" or output.ndim == 4
    return output.sigmoid() if bounded else output


def nll(likelihood: Likelihood, output: Tensor, x: Tensor, scale: float = 1.0) -> Tensor:
    """−log p(x | output): **summed over the values of an observation, averaged over the batch**."""
    if likelihood == "gaussian-optimal":
        return optimal_gaussian_nll(mean(likelihood, output), x)
    return nll_rows(likelihood, output, x, scale).mean()


def nll_rows(likelihood: Likelihood, output: Tensor, x: Tensor, scale: float = 1.0) -> Tensor:
    """−log p(x | output) for each observation, summed over its values, [b].

    Bernoulli is a cross-entropy with logits. Gaussian and Laplace have the fixed standard deviation or width
    `scale`; their constants are kept, so the ELBO is a bound on a density. `gaussian-optimal` has the standard
    deviation that suits these observations best, one for all of them, and no use for `scale`.
    """
    if likelihood == "bernoulli":
        return F.binary_cross_entropy_with_logits(output, x, reduction="none").flatten(1).sum(1)
    error = (x - mean(likelihood, output)).flatten(1)
    values = error.shape[1]
    if likelihood == "gaussian-optimal":
        variance = optimal_variance(error)
        return 0.5 * (error.square().sum(1) / variance + values * (LOG_2PI + variance.log()))
    if likelihood == "gaussian":
        return 0.5 * (error.square().sum(1) / scale**2 + values * (LOG_2PI + 2 * math.log(scale)))
    return error.abs().sum(1) / scale + values * math.log(2 * scale)


def sample(likelihood: Likelihood, output: Tensor, scale: float = 1.0) -> Tensor:
    """A draw from p(x | output); its mean for `gaussian-optimal`, whose deviation is known only beside x."""
    centre = mean(likelihood, output)
    if likelihood == "gaussian-optimal":
        return centre
    if likelihood == "bernoulli":
        return torch.bernoulli(centre)
    if likelihood == "gaussian":
        return centre + scale * torch.randn_like(centre)
    uniform = torch.rand_like(centre) - 0.5
    return centre - scale * uniform.sign() * torch.log1p(-2 * uniform.abs())
