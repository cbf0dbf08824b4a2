"""The plain autoencoder, and what all autoencoders with codes that are points share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from unbraid.core import Batch, DataSpec, Posterior, Terms, Update
from unbraid.methods.autoencoding import AutoencodingConfig, AutoencodingModel
from unbraid.ops.given import Point


@dataclass(frozen=True, kw_only=True)
class Autoencoder(AutoencodingConfig):
    """Autoencoder: reconstruction alone; its codes are points, not distributions.

    Use it as a baseline, or with `--network additive` where observations are sums of what each code makes.

    Reference:
        Rumelhart et al. 1986; a baseline of Hsu et al. 2023, with weight decay (`--adam.decay`) and without.

    Example:
        >>> Autoencoder(latents=6).latents
        6
    """

    name: ClassVar[str] = "ae"
    title: ClassVar[str] = "Autoencoder"
    paper: ClassVar[str] = "baseline of Hsu et al. 2023"
    when: ClassVar[str] = "As the baseline of quantised codes: what reconstruction alone gives."
    standard_prior: ClassVar[bool] = False

    def build(self, data: DataSpec) -> AutoencoderModel:
        """The untrained model."""
        return AutoencoderModel(self, data)


class PointModel(AutoencodingModel, ABC):
    """An encoder to one point for each observation and a decoder from it; what stands between them differs."""

    def __init__(self, config: AutoencodingConfig, data: DataSpec) -> None:
        super().__init__(config, data, outputs=1)

    @abstractmethod
    def code(self, continuous: Tensor) -> Tensor:
        """The code [b, latent] that stands for the encoder's output, with a gradient to it."""

    def drawn_codes(self, x: Tensor) -> Tensor:
        """The code itself: nothing about it is uncertain."""
        return self.code(self.encoded(x))

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """The code, under the key `z`."""
        return {"z": Point(self.drawn_codes(x))}


class AutoencoderModel(PointModel):
    """Reconstruction alone."""

    def code(self, continuous: Tensor) -> Tensor:
        """The encoder's output itself."""
        return continuous

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | z)."""
        reconstruction = self.reconstruction(self.drawn_codes(batch.x), batch.x)
        return Terms(reconstruction, reconstruction=reconstruction)

    def updates(self) -> tuple[Update, ...]:
        """One step for encoder and decoder."""
        return (Update("autoencoder", self.loss, ("encoder", "decoder"), self.config.adam, self.config.batch_size),)
