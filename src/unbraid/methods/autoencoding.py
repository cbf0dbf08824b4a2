"""What every model with one encoder, one decoder and one group of codes between them shares, whatever the codes are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from torch import Tensor

from unbraid.core import DataSpec, Method
from unbraid.methods.options import ObservedNetworks, check_likelihood, network_options
from unbraid.nets.broadcast import start_at_colour
from unbraid.nets.linear_start import WithInput, start_as_pca
from unbraid.nets.resolution import Resolution
from unbraid.nets.stacks import Encoder, decoder
from unbraid.ops import likelihood
from unbraid.util.schema import later_option, option


@dataclass(frozen=True, kw_only=True)
class AutoencodingConfig(ObservedNetworks, ABC):
    """Options of the methods with one group of codes."""

    latents: int = option(10, "number of codes", least=1)
    resolution: int = later_option(
        0, "side of the images that the networks work on, if less than the data's (0: the data's)", least=0
    )


class AutoencodingModel(Method, ABC):
    """An encoder, a decoder to p(x | z), and how observations are compared; what the encoder's output means differs.

    Args:
        config: its options.
        data: what it is built for.
        outputs: of the encoder for each latent: 1 for a point, 2 for a mean and a log-variance.
    """

    config: AutoencodingConfig

    def __init__(self, config: AutoencodingConfig, data: DataSpec, outputs: int) -> None:
        super().__init__()
        self.config = config
        check_likelihood(config.likelihood, data)
        self.data = data
        self.likelihood, self.scale, self.latents = config.likelihood, config.scale, config.latents
        self.resolution = Resolution(data.shape, config.resolution)
        seen = self.resolution.shape
        nets = network_options(config, data)
        self.encoder = Encoder(seen, outputs * config.latents, **nets)
        self.decoder = decoder(config.latents, seen, **nets)

    @abstractmethod
    def drawn_codes(self, x: Tensor) -> Tensor:
        """Codes of observations as training draws them, [b, latent]."""

    def encoded(self, x: Tensor) -> Tensor:
        """What the encoder makes of observations, [b, output]."""
        return self.encoder(self.resolution.down(x))  # type: ignore[no-any-return]

    def prepare(self, x: Iterator[Tensor]) -> None:
        """Start from the data's mean colour, where the decoder paints places one by one, or from their PCA."""
        if self.config.network == "broadcast":
            start_at_colour(self.decoder, next(x).mean((0, 2, 3)))
        if isinstance(self.encoder.trunk[0], WithInput):
            start_as_pca(self.encoder.head, self.decoder, x, getattr(self.config, "beta", 1.0))

    def reconstruction(self, z: Tensor, x: Tensor) -> Tensor:
        """−log p(x | z), summed over values and averaged over the batch."""
        return self.reconstruction_rows(z, x).mean()

    def reconstruction_rows(self, z: Tensor, x: Tensor) -> Tensor:
        """−log p(x | z), for each observation, [b]."""
        seen = self.resolution.down(x)
        own_total = self.config.library_size
        rows = likelihood.nll_rows(self.likelihood, self.decoder(z), seen, self.scale, own_total=own_total)
        return self.resolution.weight * rows

    def nll_rows(self, x: Tensor) -> Tensor:
        """−log p(x | z) at codes of x as training draws them, for each observation, [b]."""
        return self.reconstruction_rows(self.drawn_codes(x), x)

    def decode(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """The mean of p(x | z)."""
        return self.resolution.up(likelihood.mean(self.likelihood, self.decoder(codes["z"])))

    def sample_x(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """A draw from p(x | z)."""
        return self.resolution.up(likelihood.sample(self.likelihood, self.decoder(codes["z"]), self.scale))
