"""The plain autoencoder, and what all autoencoders with codes that are points share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from unbraid.core import Batch, DataSpec, Method, Posterior, Terms, Update
from unbraid.methods.options import check_likelihood, network_options
from unbraid.methods.vae.gaussian import GaussianConfig
from unbraid.nets.broadcast import start_at_colour
from unbraid.nets.resolution import Resolution
from unbraid.nets.stacks import Encoder, decoder
from unbraid.ops import likelihood
from unbraid.ops.given import Point


@dataclass(frozen=True, kw_only=True)
class Autoencoder(GaussianConfig):
    """Autoencoder: reconstruction alone; its codes are points, not distributions.

    Reference:
        Rumelhart et al. 1986; a baseline of Hsu et al. 2023, with weight decay (`--adam.decay`) and without.

    Example:
        >>> Autoencoder(latents=6).latents
        6
    """

    name: ClassVar[str] = "ae"
    title: ClassVar[str] = "Autoencoder"
    paper: ClassVar[str] = "baseline of Hsu et al. 2023"
    standard_prior: ClassVar[bool] = False

    def build(self, data: DataSpec) -> AutoencoderModel:
        """The untrained model."""
        return AutoencoderModel(self, data)


class PointModel(Method, ABC):
    """An encoder to one point for each observation and a decoder from it; what stands between them differs."""

    config: GaussianConfig

    def __init__(self, config: GaussianConfig, data: DataSpec) -> None:
        super().__init__()
        self.config = config
        check_likelihood(config.likelihood, data)
        self.data, self.likelihood, self.scale, self.latents = data, config.likelihood, config.scale, config.latents
        self.resolution = Resolution(data.shape, config.resolution)
        seen = self.resolution.shape
        nets = network_options(config, data)
        self.encoder = Encoder(seen, config.latents, **nets)
        self.decoder = decoder(config.latents, seen, **nets)

    @abstractmethod
    def code(self, continuous: Tensor) -> Tensor:
        """The code [b, latent] that stands for the encoder's output, with a gradient to it."""

    def prepare(self, x: Iterator[Tensor]) -> None:
        """Start from the data's mean colour, where the decoder paints places one by one."""
        if self.config.network == "broadcast":
            start_at_colour(self.decoder, next(x).mean((0, 2, 3)))

    def continuous(self, x: Tensor) -> Tensor:
        """What the encoder makes of observations, [b, latent]."""
        return self.encoder(self.resolution.down(x))  # type: ignore[no-any-return]

    def reconstruction(self, code: Tensor, x: Tensor) -> Tensor:
        """−log p(x | code), summed over values and averaged over the batch."""
        return self.nll(code, x).mean()

    def nll(self, code: Tensor, x: Tensor) -> Tensor:
        """−log p(x | code), for each observation, [b]."""
        seen = self.resolution.down(x)
        own_total = self.config.library_size
        rows = likelihood.nll_rows(self.likelihood, self.decoder(code), seen, self.scale, own_total=own_total)
        return self.resolution.weight * rows

    def nll_rows(self, x: Tensor) -> Tensor:
        """−log p(x | code of x), for each observation, [b]."""
        return self.nll(self.code(self.continuous(x)), x)

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """The code, under the key `z`."""
        return {"z": Point(self.code(self.continuous(x)))}

    def decode(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """The mean of p(x | code)."""
        return self.resolution.up(likelihood.mean(self.likelihood, self.decoder(codes["z"])))

    def sample_x(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """A draw from p(x | code)."""
        return self.resolution.up(likelihood.sample(self.likelihood, self.decoder(codes["z"]), self.scale))


class AutoencoderModel(PointModel):
    """Reconstruction alone."""

    def code(self, continuous: Tensor) -> Tensor:
        """The encoder's output itself."""
        return continuous

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | z)."""
        reconstruction = self.reconstruction(self.continuous(batch.x), batch.x)
        return Terms(reconstruction, reconstruction=reconstruction)

    def updates(self) -> tuple[Update, ...]:
        """One step for encoder and decoder."""
        return (Update("autoencoder", self.loss, ("encoder", "decoder"), self.config.adam, self.config.batch_size),)
