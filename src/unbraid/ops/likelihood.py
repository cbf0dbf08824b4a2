"""Observation models p(x | decoder output): negative log-likelihood and mean."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from unbraid.errors import InputError
from unbraid.ops.counts import COUNT_LIKELIHOODS, count_nll_rows, sample_counts, split_output
from unbraid.ops.gaussian import LOG_2PI

Likelihood = Literal["auto", "bernoulli", "gaussian", "laplace", "gaussian-optimal", "poisson", "negative-binomial"]
LIKELIHOODS = (
    "observation model: auto (chosen from the data), bernoulli, gaussian, laplace, "
    "gaussian-optimal (its scale follows the error), or for counts poisson and negative-binomial"
)
# Of `gaussian-optimal`: a thousandth, about the step between two of a byte's values. A density without a floor would
# grow without bound where the data are learned by heart.
LEAST_VARIANCE = 1e-6


def mean(likelihood: Likelihood, output: Tensor) -> Tensor:
    """The mean of p(x | output). Image decoders end in logits, so every image model has a mean in [0, 1].

    Decoders of counts end in logarithms of rates, with dispersions beside them for a negative binomial.

    Args:
        likelihood: the observation model.
        output: of the decoder, [b, channel, height, width] or [b, value].

    Returns:
        The mean, shaped like `output`.

    Example:
        >>> mean("gaussian", torch.tensor([[3.0]])).tolist(), mean("bernoulli", torch.zeros(1, 1, 1, 1)).item()
        ([[3.0]], 0.5)
    """
    if likelihood in COUNT_LIKELIHOODS:
        return split_output(likelihood, output)[0].exp()
    bounded = likelihood == "bernoulli" or output.ndim == 4
    return output.sigmoid() if bounded else output


def cut_to_unit(image: Tensor) -> Tensor:
    """An image whose values are cut to [0, 1], as a mean: its gradient passes as if they were not.

    Where the observation lies at that end (white, black) there is no error and no gradient, however far beyond the end
    the value is; elsewhere the value is called back. The slope of the cut itself is 0 and would leave it there.

    Args:
        image: of a decoder whose output is an image and not logits.

    Returns:
        The same within [0, 1].

    Example:
        >>> image = torch.tensor([1.5, 1.5, 0.5], requires_grad=True)
        >>> error = torch.tensor([1.0, 0.5, 0.5]) - cut_to_unit(image)
        >>> error.square().sum().backward()
        >>> image.grad.abs().tolist()
        [0.0, 1.0, 0.0]
    """
    return image + (image.clamp(0, 1) - image).detach()


def nll(likelihood: Likelihood, output: Tensor, x: Tensor, scale: float = 1.0, *, own_total: bool = False) -> Tensor:
    """−log p(x | output): **summed over the values of an observation, averaged over the batch**.

    Args:
        likelihood: the observation model.
        output: of the decoder, [b, …].
        x: the observations, [b, …].
        scale: standard deviation (gaussian) or width (laplace); others have none.
        own_total: of counts, whether rates are shares of each observation's own total.

    Returns:
        One number, in nats.

    Example:
        >>> round(nll("laplace", torch.zeros(2, 3), torch.ones(2, 3)).item(), 4)  # 3·(1 + log 2)
        5.0794
    """
    return nll_rows(likelihood, output, x, scale, own_total=own_total).mean()


def nll_rows(
    likelihood: Likelihood, output: Tensor, x: Tensor, scale: float = 1.0, *, own_total: bool = False
) -> Tensor:
    """−log p(x | output) for each observation, summed over its values.

    Bernoulli is a cross-entropy with logits; counts have probabilities, `count_nll_rows`; all others are densities of
    the error, `error_rows`.

    Args:
        likelihood: the observation model.
        output: of the decoder, [b, …].
        x: the observations, [b, …].
        scale: standard deviation (gaussian) or width (laplace); others have none.
        own_total: of counts, whether rates are shares of each observation's own total.

    Returns:
        [b], in nats.

    Example:
        >>> rows = nll_rows("gaussian", torch.zeros(2, 1), torch.tensor([[0.0], [2.0]]))
        >>> [round(row, 4) for row in rows.tolist()]
        [0.9189, 2.9189]
    """
    if likelihood in COUNT_LIKELIHOODS:
        return count_nll_rows(likelihood, output, x, own_total=own_total)
    if likelihood == "bernoulli":
        return F.binary_cross_entropy_with_logits(output, x, reduction="none").flatten(1).sum(1)
    return error_rows(likelihood, x - mean(likelihood, output), scale)


def error_rows(likelihood: Likelihood, error: Tensor, scale: float = 1.0) -> Tensor:
    """−log p(error), the error of an observation's mean, summed over its values, [b].

    Gaussian and Laplace have the fixed standard deviation or width `scale`; their constants are kept, so the ELBO is a
    bound on a density. `gaussian-optimal` takes the variance that makes the batch likeliest, its mean squared error
    (Rybkin et al. 2021): averaged over the batch, that is ½·D·(log 2πσ² + 1) for D values. σ² is held fixed in the
    gradient, which is the same with and without, because the likelihood is flat in σ² at its best; so a row's own term
    tells what that row costs at the batch's σ². Of processes that train together each takes its part's.

    Args:
        likelihood: any but bernoulli.
        error: x minus its mean, [b, …].
        scale: standard deviation (gaussian) or width (laplace).

    Returns:
        [b], in nats.

    Example:
        >>> [round(row, 4) for row in error_rows("gaussian", torch.tensor([[0.0], [2.0]])).tolist()]
        [0.9189, 2.9189]
    """
    error = error.flatten(1)
    values = error.shape[1]
    if likelihood == "gaussian-optimal":
        variance = error.detach().square().mean().clamp(min=LEAST_VARIANCE)
        return 0.5 * (error.square().sum(1) / variance + values * (LOG_2PI + variance.log()))
    if likelihood == "gaussian":
        return 0.5 * (error.square().sum(1) / scale**2 + values * (LOG_2PI + 2 * math.log(scale)))
    return error.abs().sum(1) / scale + values * math.log(2 * scale)


def sample(likelihood: Likelihood, output: Tensor, scale: float = 1.0) -> Tensor:
    """A draw from p(x | output).

    Args:
        likelihood: the observation model.
        output: of the decoder, [b, …].
        scale: standard deviation (gaussian) or width (laplace).

    Returns:
        Observations shaped like `output`; of a bernoulli model, zeros and ones.

    Example:
        >>> sorted(sample("bernoulli", torch.zeros(200, 1)).unique().tolist())
        [0.0, 1.0]
    """
    if likelihood in COUNT_LIKELIHOODS:
        return sample_counts(likelihood, output)
    centre = mean(likelihood, output)
    if likelihood == "bernoulli":
        return torch.bernoulli(centre)
    if likelihood == "gaussian-optimal":
        raise InputError("gaussian-optimal keeps no scale to draw with: choose --likelihood gaussian and a --scale.")
    if likelihood == "gaussian":
        return centre + scale * torch.randn_like(centre)
    uniform = torch.rand_like(centre) - 0.5
    return centre - scale * uniform.sign() * torch.log1p(-2 * uniform.abs())
