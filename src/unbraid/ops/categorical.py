"""Discrete codes: categorical posteriors, drawn by Gumbel-softmax so that gradients flow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F


def gumbel_like(logits: Tensor) -> Tensor:
    """Gumbel noise: −log of a standard exponential."""
    return -torch.empty_like(logits).exponential_().log()


def relaxed_log_sample(logits: Tensor, temperature: float) -> Tensor:
    """The logarithm of a Gumbel-softmax draw (Jang et al. 2017, eq. 2; Maddison et al. 2017, eq. 10), [b, class]."""
    return F.log_softmax((logits + gumbel_like(logits)) / temperature, dim=1)


def relaxed_log_prob(log_sample: Tensor, logits: Tensor, temperature: float) -> Tensor:
    """The density of `relaxed_log_sample` (Maddison et al. 2017, eq. 25), summed over classes.

    Shapes broadcast; the last dimension is the class. It is the density of the logarithms, which over- and underflow
    less than the simplex; ratios of two such densities are those on the simplex.
    """
    classes = log_sample.shape[-1]
    shifted = F.log_softmax(logits, dim=-1) - temperature * log_sample
    constant = math.lgamma(classes) + (classes - 1) * math.log(temperature)
    return constant + shifted.sum(-1) - classes * shifted.logsumexp(-1)


@dataclass(frozen=True)
class Categorical:
    """q(c | x) for one or more independent discrete variables side by side; the prior of each is uniform."""

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
    """The most that uniform discrete variables can say: Σ log L, in nats."""
    return sum(math.log(size) for size in sizes)


def entropy(q: Categorical) -> Tensor:
    """H(q(c | x)): summed over variables, averaged over the batch."""
    per_variable = [-(block.softmax(1) * F.log_softmax(block, dim=1)).sum(1).mean() for block in q.blocks]
    return torch.stack(per_variable).sum()


def aggregate_kl(q: Categorical, prior: Tensor) -> Tensor:
    """KL[q(c) ‖ p(c)], summed over variables, with q(c) the mean of q(c | x) over the batch; prior is [Σ sizes]."""
    least = torch.finfo(prior.dtype).tiny  # a value that no one has, and no one expects, adds nothing
    aggregate = q.probabilities.mean(0)
    return (aggregate * (aggregate.clamp(min=least).log() - prior.clamp(min=least).log())).sum()
