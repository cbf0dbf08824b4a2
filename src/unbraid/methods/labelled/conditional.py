"""What methods with a conditional prior p(z | u) share: options, networks, encode and decode."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from torch import Tensor, nn

from unbraid.core import DataSpec, Method, Posterior
from unbraid.methods.options import check_likelihood, network_options
from unbraid.methods.vae.gaussian import GaussianConfig
from unbraid.nets.critic import SLOPE
from unbraid.nets.observed import Encoding, ObservedLabels
from unbraid.nets.resolution import Resolution
from unbraid.nets.stacks import Encoder, decoder, scaled
from unbraid.ops import gaussian, likelihood
from unbraid.ops.gaussian import DiagonalGaussian
from unbraid.util.schema import option


@dataclass(frozen=True, kw_only=True)
class ConditionalConfig(GaussianConfig, ABC):
    """Options of the methods with a conditional prior. The paper takes as many latents as there are factors."""

    uses_labels: ClassVar[bool] = True
    encoder_needs_labels: ClassVar[bool] = True
    standard_prior: ClassVar[bool] = False
    beta: float = option(1.0, "weight of the KL to the conditional prior (the paper tries 1, 2, 4, 6, 8, 16)", least=0)
    encoding: Encoding = option("scaled", "categorical labels as numbers in [0, 1] (the paper's) or one-hot")
    prior_units: int = option(1000, "units in each of the three layers of the prior's networks, at width 1", least=1)


class ConditionalVAE(Method, ABC):
    """q(z | x, u), p(x | z) and p(z | u). u joins the encoder's last layer (Mita et al. 2021, table 2)."""

    config: ConditionalConfig

    def __init__(self, config: ConditionalConfig, data: DataSpec) -> None:
        super().__init__()
        self.config = config
        check_likelihood(config.likelihood, data)
        self.likelihood, self.scale, self.latents = config.likelihood, config.scale, config.latents
        self.observed = ObservedLabels(data, config.encoding)
        self.resolution = Resolution(data.shape, config.resolution)
        seen = self.resolution.shape
        nets = network_options(config, data)
        self.encoder = Encoder(seen, 2 * config.latents, extra=self.observed.values, **nets)
        self.decoder = decoder(config.latents, seen, **nets)
        self.prior_encoder = prior_network(
            self.observed.values, 2 * config.latents, scaled(config.prior_units, config.width)
        )

    @abstractmethod
    def auxiliary(self, x: Tensor, labels: Tensor | None) -> Tensor:
        """u for observations whose labels may be missing, after training."""

    def posterior(self, x: Tensor, u: Tensor) -> DiagonalGaussian:
        """q(z | x, u)."""
        return DiagonalGaussian.from_parameters(self.encoder(self.resolution.down(x), u))

    def conditional_prior(self, u: Tensor) -> DiagonalGaussian:
        """p(z | u)."""
        return DiagonalGaussian.from_parameters(self.prior_encoder(u))

    def conditional_prior_of(self, labels: Tensor) -> DiagonalGaussian:
        """p(z | u) for labels [n, factor], all of them known."""
        return self.conditional_prior(self.observed(labels))

    def reconstruction_rows(self, z: Tensor, x: Tensor) -> Tensor:
        """−log p(x | z), for each observation, [b]."""
        seen = self.resolution.down(x)
        own_total = self.config.library_size
        rows = likelihood.nll_rows(self.likelihood, self.decoder(z), seen, self.scale, own_total=own_total)
        return self.resolution.weight * rows

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """q(z | x, u), under the key `z`. Its KL is to the standard normal: a bound on what z says of x and u."""
        return {"z": self.posterior(x, self.auxiliary(x, labels))}

    def decode(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """The mean of p(x | z)."""
        return self.resolution.up(likelihood.mean(self.likelihood, self.decoder(codes["z"])))


def kl_rows(q: DiagonalGaussian, p: DiagonalGaussian) -> Tensor:
    """KL[q ‖ p], summed over latents.

    Args:
        q: [b, latent].
        p: [b, latent].

    Returns:
        [b], in nats.

    Example:
        >>> import torch
        >>> zero = torch.zeros(1, 2)
        >>> kl_rows(DiagonalGaussian(zero + 1, zero), DiagonalGaussian(zero, zero)).item()
        1.0
    """
    return gaussian.kl(q.mean, q.log_var, p.mean, p.log_var).sum(1)


def prior_network(inputs: int, outputs: int, units: int) -> nn.Sequential:
    """Three layers with LeakyReLU, then a linear one.

    Args:
        inputs: values that come in.
        outputs: values that go out.
        units: of each of the three layers.

    Returns:
        A network from [b, inputs] to [b, outputs].

    Reference:
        Mita et al. 2021, table 3.

    Example:
        >>> import torch
        >>> prior_network(3, 20, units=8)(torch.randn(2, 3)).shape
        torch.Size([2, 20])
    """
    activation = partial(nn.LeakyReLU, SLOPE)
    layers: list[nn.Module] = []
    for before in (inputs, units, units):
        layers += [nn.Linear(before, units), activation()]
    return nn.Sequential(*layers, nn.Linear(units, outputs))
