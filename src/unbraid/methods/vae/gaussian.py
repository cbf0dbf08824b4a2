"""What every method with Gaussian codes shares: options, networks, encode and decode."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torch import Tensor

from unbraid.core import DataSpec, Method, Posterior
from unbraid.methods.options import ObservedNetworks, check_likelihood, network_options
from unbraid.nets.broadcast import start_at_colour
from unbraid.nets.resolution import Resolution
from unbraid.nets.stacks import Encoder, decoder
from unbraid.ops import likelihood
from unbraid.ops.gaussian import DiagonalGaussian
from unbraid.util.schema import later_option, option


@dataclass(frozen=True, kw_only=True)
class GaussianConfig(ObservedNetworks, ABC):
    """Options of the methods with one group of Gaussian codes."""

    latents: int = option(10, "number of codes", least=1)
    resolution: int = later_option(
        0, "side of the images that the networks work on, if less than the data's (0: the data's)", least=0
    )


class GaussianVAE(Method, ABC):
    """An encoder to q(z | x), a decoder to p(x | z) and a standard normal prior; what is minimised differs."""

    config: GaussianConfig

    def __init__(self, config: GaussianConfig, data: DataSpec) -> None:
        super().__init__()
        self.config = config
        check_likelihood(config.likelihood, data)
        self.data = data
        self.likelihood, self.scale, self.latents = config.likelihood, config.scale, config.latents
        self.resolution = Resolution(data.shape, config.resolution)
        seen = self.resolution.shape
        nets = network_options(config, data)
        self.encoder = Encoder(seen, 2 * config.latents, **nets)
        self.decoder = decoder(config.latents, seen, **nets)

    def posterior(self, x: Tensor) -> DiagonalGaussian:
        """q(z | x)."""
        return DiagonalGaussian.from_parameters(self.encoder(self.resolution.down(x)))

    def reconstruction(self, z: Tensor, x: Tensor) -> Tensor:
        """−log p(x | z), summed over values and averaged over the batch."""
        return self.reconstruction_rows(z, x).mean()

    def prepare(self, x: Iterator[Tensor]) -> None:
        """Start from the data's mean colour, where the decoder paints places one by one."""
        if self.config.network == "broadcast":
            start_at_colour(self.decoder, next(x).mean((0, 2, 3)))

    def reconstruction_rows(self, z: Tensor, x: Tensor) -> Tensor:
        """−log p(x | z), for each observation, [b]."""
        seen = self.resolution.down(x)
        own_total = self.config.library_size
        rows = likelihood.nll_rows(self.likelihood, self.decoder(z), seen, self.scale, own_total=own_total)
        return self.resolution.weight * rows

    def elbo(self, x: Tensor) -> tuple[DiagonalGaussian, Tensor, Tensor]:
        """q(z | x) and the two terms of −ELBO at a draw of it: −log p(x | z) and KL[q(z | x) ‖ p(z)]."""
        q = self.posterior(x)
        return q, self.reconstruction(q.rsample(), x), q.kl()

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
        return self.resolution.up(likelihood.mean(self.likelihood, self.decoder(codes["z"])))

    def sample_x(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """A draw from p(x | z)."""
        return self.resolution.up(likelihood.sample(self.likelihood, self.decoder(codes["z"]), self.scale))
