"""Observation models of counts: Poisson and negative binomial, from logarithms of rates."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from torch import Tensor

CountLikelihood = Literal["poisson", "negative-binomial"]
COUNT_LIKELIHOODS: tuple[str, ...] = get_args(CountLikelihood)
GREATEST_LOG_RATE = 25.0  # e²⁵ is beyond any count, and an overflow would end a training


def split_output(likelihood: str, output: Tensor) -> tuple[Tensor, Tensor | None]:
    """Logarithms of rates [b, value] and, of a negative binomial, of dispersions θ [b, value].

    Example:
        >>> rates, dispersions = split_output("negative-binomial", torch.arange(4.0)[None])
        >>> rates.tolist(), dispersions.tolist()
        ([[0.0, 1.0]], [[2.0, 3.0]])
    """
    if likelihood == "poisson":
        return output.clamp(max=GREATEST_LOG_RATE), None
    rates, dispersions = output.chunk(2, dim=1)
    return rates.clamp(max=GREATEST_LOG_RATE), dispersions


def with_total(log_rates: Tensor, x: Tensor) -> Tensor:
    """Logarithms of the same shares of as many counts as each observation has.

    Example:
        >>> with_total(torch.zeros(1, 2), torch.tensor([[6.0, 2.0]])).exp().tolist()
        [[4.0, 4.0]]
    """
    total = x.sum(1, keepdim=True).clamp(min=1.0)
    return log_rates.log_softmax(1) + total.log()


def count_nll_rows(likelihood: str, output: Tensor, x: Tensor, *, own_total: bool = False) -> Tensor:
    """−log p(x | output) for each observation, summed over its values.

    Poisson: λ − x·log λ + log x!. Negative binomial with mean λ and variance λ + λ²/θ: a Poisson whose rate varies by a
    gamma distribution. θ without bound is the Poisson.

    Args:
        likelihood: poisson or negative-binomial.
        output: of the decoder, logarithms of rates and, for a negative binomial, of θ beside them.
        x: counts, [b, value].
        own_total: whether rates are shares of each observation's own total (its library size).

    Returns:
        [b], in nats.

    Example:
        >>> round(count_nll_rows("poisson", torch.zeros(1, 1), torch.tensor([[2.0]])).item(), 4)  # 1 + log 2
        1.6931
    """
    log_rates, log_dispersions = split_output(likelihood, output)
    if own_total:
        log_rates = with_total(log_rates, x)
    if log_dispersions is None:
        return (log_rates.exp() - x * log_rates + torch.lgamma(x + 1)).sum(1)
    dispersions = log_dispersions.exp()
    both = torch.logaddexp(log_dispersions, log_rates)
    ways = torch.lgamma(x + dispersions) - torch.lgamma(dispersions) - torch.lgamma(x + 1)
    return -(ways + dispersions * (log_dispersions - both) + x * (log_rates - both)).sum(1)


def sample_counts(likelihood: str, output: Tensor) -> Tensor:
    """A draw of counts, shaped like their rates.

    Example:
        >>> sample_counts("poisson", torch.full((1, 2), -25.0)).tolist()
        [[0.0, 0.0]]
    """
    log_rates, log_dispersions = split_output(likelihood, output)
    rates = log_rates.exp()
    if log_dispersions is not None:
        dispersions = log_dispersions.exp()
        rates = torch.distributions.Gamma(dispersions, dispersions / rates).sample()
    return torch.poisson(rates)
