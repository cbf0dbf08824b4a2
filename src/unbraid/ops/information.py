"""The variational lower bound on the information between codes and what is made of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from unbraid.ops import gaussian

UNIFORM_ENTROPY = math.log(2.0)  # of a code that is uniform on [−1, 1], in nats


def information_bound(log_q: Tensor, entropy: float) -> Tensor:
    """E[log Q(c | x)] + H(c) ≤ I(c; x), from samples of (c, x).

    Args:
        log_q: log Q of the true code, summed over codes, [b].
        entropy: H(c), of all codes together.

    Returns:
        The bound in nats, one number.

    Reference:
        Chen et al. 2016, eq. 5; Barber & Agakov 2003.

    Example:
        >>> information_bound(torch.tensor([-1.0, -2.0]), entropy=3.5).item()
        2.0
    """
    return log_q.mean() + entropy


@dataclass(frozen=True)
class RecognisedCode:
    """Q(c | x): a Gaussian guess at codes that were drawn uniformly from [−1, 1].

    Example:
        >>> sure, unsure = torch.tensor([[-8.0]]), torch.tensor([[3.0]])
        >>> zero = torch.zeros(1, 1)
        >>> [round(RecognisedCode(zero, spread).kl_per_latent().item(), 2) for spread in (sure, unsure)]
        [3.27, 0.0]
    """

    mean: Tensor  # [b, code]
    log_var: Tensor  # [b, code]

    def rsample(self) -> Tensor:
        """A draw of the guess."""
        return self.mean + (0.5 * self.log_var).exp() * torch.randn_like(self.mean)

    def log_prob(self, codes: Tensor) -> Tensor:
        """log Q(c | x), summed over codes, [b]."""
        return gaussian.log_prob(codes, self.mean, self.log_var).sum(1)

    def kl_per_latent(self) -> Tensor:
        """How much surer the guess is than the prior, in nats: H(c) − H(Q), and 0 where it is no surer."""
        entropy = 0.5 * (gaussian.LOG_2PI + 1 + self.log_var)
        return (UNIFORM_ENTROPY - entropy).clamp(min=0)


@dataclass(frozen=True)
class UniformCode:
    """Codes that are uniform on [−1, 1]: InfoGAN's prior.

    Example:
        >>> bool(UniformCode(torch.zeros(100, 2)).rsample().abs().max() <= 1)
        True
    """

    mean: Tensor  # [b, code], zero

    def rsample(self) -> Tensor:
        """A draw."""
        return 2 * torch.rand_like(self.mean) - 1

    def kl_per_latent(self) -> Tensor:
        """Zero: this is the prior."""
        return torch.zeros_like(self.mean)
