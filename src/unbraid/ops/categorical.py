"""Discrete codes: categorical posteriors, drawn by Gumbel-softmax so that gradients flow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F


def gumbel_like(logits: Tensor) -> Tensor:
    """Gumbel noise: −log of a standard exponential.

    Args:
        logits: a tensor whose shape, type and device the noise takes.

    Returns:
        Independent draws, shaped like `logits`.

    Example:
        >>> gumbel_like(torch.zeros(2, 3)).shape
        torch.Size([2, 3])
    """
    return -torch.empty_like(logits).exponential_().log()


def relaxed_log_sample(logits: Tensor, temperature: float) -> Tensor:
    """The logarithm of a Gumbel-softmax draw, through which gradients flow.

    Args:
        logits: of one discrete variable, [b, class].
        temperature: above 0; the lower, the nearer draws are to one-hot.

    Returns:
        log c, [b, class]; its exponentials sum to one in every row.

    Reference:
        Jang et al. 2017, eq. 2; Maddison et al. 2017, eq. 10.

    Example:
        >>> c = relaxed_log_sample(torch.zeros(4, 3), temperature=0.67).exp()
        >>> bool(torch.allclose(c.sum(1), torch.ones(4)))
        True
    """
    return F.log_softmax((logits + gumbel_like(logits)) / temperature, dim=1)


def relaxed_log_prob(log_sample: Tensor, logits: Tensor, temperature: float) -> Tensor:
    """The log-density of what `relaxed_log_sample` draws.

    It is the density of the logarithms, which over- and underflow less than the simplex; ratios of two such densities
    are those on the simplex.

    Args:
        log_sample: draws, […, class].
        logits: of the distribution, […, class]; shapes broadcast.
        temperature: that of the draws.

    Returns:
        The log-density, summed over classes, […].

    Reference:
        Maddison et al. 2017, eq. 25.

    Example:
        >>> draws = relaxed_log_sample(torch.zeros(4, 3), 0.67)
        >>> relaxed_log_prob(draws[:, None], torch.zeros(1, 5, 3), 0.67).shape
        torch.Size([4, 5])
    """
    classes = log_sample.shape[-1]
    shifted = F.log_softmax(logits, dim=-1) - temperature * log_sample
    constant = math.lgamma(classes) + (classes - 1) * math.log(temperature)
    return constant + shifted.sum(-1) - classes * shifted.logsumexp(-1)


@dataclass(frozen=True)
class Categorical:
    """q(c | x) for one or more independent discrete variables side by side; the prior of each is uniform.

    Example:
        >>> q = Categorical(torch.tensor([[0.0, 2.0, 1.0, 0.0]]), sizes=(2, 2))
        >>> q.mean.tolist()
        [[0.0, 1.0, 1.0, 0.0]]
    """

    logits: Tensor  # [b, Σ sizes]
    sizes: tuple[int, ...]
    temperature: float = 0.67  # of draws; Dupont 2018

    @property
    def blocks(self) -> tuple[Tensor, ...]:
        """Logits of each variable."""
        return tuple(self.logits.split(self.sizes, dim=1))

    @property
    def probabilities(self) -> Tensor:
        """The probability of every value, [b, Σ sizes]."""
        return self._joined([block.softmax(1) for block in self.blocks])

    @property
    def mean(self) -> Tensor:
        """The likeliest value of each variable as one-hot, which is how observations are represented after training."""
        return self._joined([F.one_hot(b.argmax(1), b.shape[1]).to(b.dtype) for b in self.blocks])

    def rsample(self) -> Tensor:
        """A relaxed one-hot draw of each variable, with gradient to the logits."""
        return self._joined([relaxed_log_sample(block, self.temperature).exp() for block in self.blocks])

    def kl_per_latent(self) -> Tensor:
        """KL to the uniform prior, shared out over values: each p·log(pL) − p + 1/L ≥ 0, [b, Σ sizes]."""
        return self._joined([_kl_per_value(block) for block in self.blocks])

    def kl(self) -> Tensor:
        """KL to the uniform prior: summed over variables, averaged over the batch."""
        return self.kl_per_latent().sum(1).mean()

    def _joined(self, blocks: list[Tensor]) -> Tensor:
        return torch.cat(blocks, dim=1) if blocks else self.logits


def _kl_per_value(logits: Tensor) -> Tensor:
    log_p, size = F.log_softmax(logits, dim=1), logits.shape[1]
    return log_p.exp() * (log_p + math.log(size)) - log_p.exp() + 1 / size


def capacity_limit(sizes: Sequence[int]) -> float:
    """The most that uniform discrete variables can say: Σ log L, in nats.

    Args:
        sizes: the number of values L of each variable.

    Returns:
        The limit in nats.

    Example:
        >>> round(capacity_limit([3, 2]), 3)
        1.792
    """
    return sum(math.log(size) for size in sizes)


def entropy(q: Categorical) -> Tensor:
    """H(q(c | x)): summed over variables, averaged over the batch.

    Args:
        q: the posterior of a batch.

    Returns:
        One number, in nats.

    Example:
        >>> round(entropy(Categorical(torch.zeros(5, 4), sizes=(4,))).item(), 3)
        1.386
    """
    per_variable = [-(block.softmax(1) * F.log_softmax(block, dim=1)).sum(1).mean() for block in q.blocks]
    return torch.stack(per_variable).sum()


def aggregate_kl(q: Categorical, prior: Tensor) -> Tensor:
    """KL[q(c) ‖ p(c)], summed over variables, with q(c) the mean of q(c | x) over the batch.

    Args:
        q: the posterior of a batch.
        prior: p(c) of each variable, one after another, [Σ sizes].

    Returns:
        One number, in nats.

    Example:
        >>> sure = Categorical(torch.tensor([[50.0, 0.0], [0.0, 50.0]]), sizes=(2,))
        >>> round(abs(aggregate_kl(sure, torch.tensor([0.5, 0.5])).item()), 3)
        0.0
    """
    least = torch.finfo(prior.dtype).tiny  # a value that no one has, and no one expects, adds nothing
    aggregate = q.probabilities.mean(0)
    return (aggregate * (aggregate.clamp(min=least).log() - prior.clamp(min=least).log())).sum()
