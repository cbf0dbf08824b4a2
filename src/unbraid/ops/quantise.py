"""Codes of few values: the nearest of them, with a gradient that passes straight through."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor


def nearest(continuous: Tensor, values: Tensor) -> Tensor:
    """Of each latent's own values the nearest to each code.

    Args:
        continuous: [b, latent].
        values: [latent, value].

    Returns:
        [b, latent], with a gradient to the values and none to the codes.

    Example:
        >>> nearest(torch.tensor([[0.1, 0.9]]), torch.tensor([[-0.5, 0.5], [0.0, 1.0]])).tolist()
        [[0.5, 1.0]]
    """
    near = -(continuous.detach()[:, :, None] - values).abs()  # [b, latent, value]
    place = near.argmax(2, keepdim=True)
    # A sum over a mask, not an index: every runtime that a model is exported to knows it.
    mask = place == torch.arange(values.shape[1], device=values.device)
    return (mask.to(values.dtype) * values).sum(2)


def straight_through(continuous: Tensor, quantised: Tensor) -> Tensor:
    """The quantised value, with the gradient of the continuous one.

    Example:
        >>> x = torch.tensor([0.3], requires_grad=True)
        >>> y = straight_through(x, x.round())
        >>> y.sum().backward(); y.item(), x.grad.item()
        (0.0, 1.0)
    """
    return continuous + (quantised - continuous).detach()


def finite_scalar(continuous: Tensor, levels: int) -> tuple[Tensor, Tensor]:
    """Finite scalar quantisation: tanh, then the nearest of `levels` values evenly spaced over [−1, 1].

    Args:
        continuous: the encoder's output, [b, latent].
        levels: how many values, at least 2.

    Returns:
        The codes within [−1, 1] before rounding, and after it with the gradient straight through.

    Reference:
        Mentzer et al. 2024; in this form Hsu et al. 2024 (Tripod).

    Example:
        >>> bounded, rounded = finite_scalar(torch.tensor([[0.0, 0.4, 9.0]]), levels=3)
        >>> rounded.tolist()
        [[0.0, 0.0, 1.0]]
    """
    bounded = continuous.tanh()
    steps = (levels - 1) / 2
    return bounded, straight_through(bounded, ((bounded + 1) * steps + 0.5).floor() / steps - 1)


@dataclass(frozen=True)
class OneOfValues:
    """A code that is one of its latent's values, or (with no code) a uniform draw of them: the prior.

    Example:
        >>> prior = OneOfValues(torch.tensor([[-1.0, 0.0, 1.0]]), n=4)
        >>> prior.mean.tolist(), set(prior.rsample().flatten().tolist()) <= {-1.0, 0.0, 1.0}
        ([[0.0], [0.0], [0.0], [0.0]], True)
    """

    values: Tensor  # [latent, value]
    code: Tensor | None = None  # [b, latent]
    n: int = 0  # how many draws, where there is no code

    @property
    def mean(self) -> Tensor:
        """The code; of the prior the mean of its values."""
        return self.values.mean(1).repeat(self.n, 1) if self.code is None else self.code

    def rsample(self) -> Tensor:
        """The code itself; of the prior independent draws, each value as likely."""
        if self.code is not None:
            return self.code
        latents, count = self.values.shape
        place = torch.randint(count, (self.n, latents, 1), device=self.values.device)
        return self.values.expand(self.n, -1, -1).gather(2, place)[:, :, 0]

    def kl_per_latent(self) -> Tensor:
        """Of a code log V: it is one of V values that were as likely. Of the prior 0."""
        mean = self.mean
        return torch.full_like(mean, 0.0 if self.code is None else math.log(self.values.shape[1]))
