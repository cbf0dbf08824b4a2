"""What every distribution over codes can do, whatever its family."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor


class Posterior(Protocol):
    """A distribution over codes given observations, or the prior of codes for a number of observations."""

    @property
    def mean(self) -> Tensor:
        """The code that represents the observation, [b, latent]."""

    def rsample(self) -> Tensor:
        """A draw through which gradients flow, [b, latent]."""

    def kl_per_latent(self) -> Tensor:
        """How far each latent is from its prior, [b, latent]: what it says of the observation, in nats."""
