"""What every method with Gaussian codes shares: options, networks, encode and decode."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from unbraid.config import option
from unbraid.core import Adam, DataSpec, Method, MethodConfig, Posterior
from unbraid.errors import InputError
from unbraid.nets.stacks import Encoder, NetworkName, decoder
from unbraid.ops import likelihood
from unbraid.ops.gaussian import DiagonalGaussian
from unbraid.ops.likelihood import Likelihood


@dataclass(frozen=True, kw_only=True)
class GaussianConfig(MethodConfig, ABC):
    """Options of the methods with one group of Gaussian codes."""

    latents: int = option(10, "number of codes")
    likelihood: Likelihood = option("bernoulli", "observation model: bernoulli, gaussian, gaussian-optimal or laplace")
    scale: float = option(1.0, "standard deviation (gaussian) or width (laplace) of the observation model")
    network: NetworkName = option(
        "auto", "conv, broadcast, conv-bn, conv-celeba, conv-mnist (images), mlp, conv1d (signals)"
    )
    width: float = option(1.0, "fraction of the paper's units in every layer")
    adam: Adam = option(Adam(), "optimiser of encoder and decoder")


class GaussianVAE(Method, ABC):
    """An encoder to q(z | x), a decoder to p(x | z) and a standard normal prior; what is minimised differs."""

    def __init__(self, config: GaussianConfig, data: DataSpec) -> None:
        super().__init__()
        check_likelihood(config.likelihood, data)
        self.data = data
        self.likelihood, self.scale, self.latents = config.likelihood, config.scale, config.latents
        self.encoder = Encoder(data.shape, 2 * config.latents, network=config.network, width=config.width)
        self.decoder = decoder(config.latents, data.shape, network=config.network, width=config.width)

    def posterior(self, x: Tensor) -> DiagonalGaussian:
        """q(z | x)."""
        return DiagonalGaussian.from_parameters(self.encoder(x))

    def reconstruction(self, z: Tensor, x: Tensor) -> Tensor:
        """−log p(x | z), summed over values and averaged over the batch."""
        return likelihood.nll(self.likelihood, self.decoder(z), x, self.scale)

    def reconstruction_rows(self, z: Tensor, x: Tensor) -> Tensor:
        """−log p(x | z), for each observation, [b]."""
        return likelihood.nll_rows(self.likelihood, self.decoder(z), x, self.scale)

    def nll_rows(self, x: Tensor) -> Tensor:
        """−log p(x | z) at a draw of q(z | x), for each observation, [b]."""
        return self.reconstruction_rows(self.posterior(x).rsample(), x)

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """q(z | x), under the key `z`."""
        return {"z": self.posterior(x)}

    def prior(self, n: int) -> dict[str, Posterior]:
        """z ~ N(0, 1)."""
        return {"z": DiagonalGaussian.standard(n, self.latents, next(self.parameters()))}

    def decode(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """The mean of p(x | z)."""
        return likelihood.mean(self.likelihood, self.decoder(codes["z"]))

    def sample_x(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """A draw from p(x | z)."""
        return likelihood.sample(self.likelihood, self.decoder(codes["z"]), self.scale)


def check_likelihood(name: Likelihood, data: DataSpec) -> None:
    """Bernoulli means values in [0, 1], which vectors do not promise."""
    if name == "bernoulli" and not data.is_image:
        raise InputError("a bernoulli likelihood needs images; for vectors pass --likelihood gaussian or laplace.")
