"""QLAE (Hsu et al. 2023): every latent has a codebook of a few numbers, and weights are kept small."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

import torch
from torch import Tensor, nn

from unbraid.core import Adam, Batch, DataSpec, Posterior, Terms, Update
from unbraid.methods.autoencoding import AutoencodingConfig
from unbraid.methods.options import NetworkOptions
from unbraid.methods.quantised.autoencoder import PointModel
from unbraid.ops.quantise import OneOfValues, nearest, straight_through
from unbraid.util.schema import option, with_default


@dataclass(frozen=True, kw_only=True)
class QLAE(AutoencodingConfig):
    """QLAE: an autoencoder whose latents take one of a few learned values each, with strong weight decay.

    Use it for data that are a function of a few factors with few values each (rendered scenes), and train long: weight
    decay acts through learning rate × steps, and short trainings need more of it (`--adam.decay`).

    Reference:
        Hsu et al. 2023, section 3. Their terms are means over pixels and over latents; here all are multiplied by the
        number of values of an observation, which leaves their proportions as they are.

    Example:
        >>> QLAE(values=12).adam.decay
        0.1
    """

    name: ClassVar[str] = "qlae"
    title: ClassVar[str] = "QLAE"
    paper: ClassVar[str] = "Hsu et al. 2023"
    when: ClassVar[str] = (
        "Where factors take few values: each latent has its own small set of learned values, which names of "
        "values can be given to."
    )
    standard_prior: ClassVar[bool] = False
    values: int = option(10, "values that each latent can take", least=2)
    quantization: float = option(0.01, "weight of the codebooks' distance to the codes, for each value", least=0)
    commitment: float = option(0.01, "weight of the codes' distance to the codebooks, for each value", least=0)
    adam: Adam = with_default(NetworkOptions, "adam", Adam(lr=1e-3, decay=0.1, clip=1.0))

    def build(self, data: DataSpec) -> QLAEModel:
        """The untrained model."""
        return QLAEModel(self, data)


class QLAEModel(PointModel):
    """Hsu et al. 2023, section 3."""

    config: QLAE

    def __init__(self, config: QLAE, data: DataSpec) -> None:
        super().__init__(config, data)
        self.codebook = nn.Parameter(torch.linspace(-0.5, 0.5, config.values).repeat(config.latents, 1))

    def code(self, continuous: Tensor) -> Tensor:
        """The nearest value of each latent's codebook; the gradient passes straight through."""
        return straight_through(continuous, nearest(continuous, self.codebook))

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | z) + D·(λq·‖sg(c) − z‖² + λc·‖c − sg(z)‖²)/L, for D values and L latents."""
        continuous = self.encoded(batch.x)
        quantised = nearest(continuous, self.codebook)
        reconstruction = self.reconstruction(straight_through(continuous, quantised), batch.x)
        values = prod(self.data.shape)
        quantization = values * (continuous.detach() - quantised).square().mean()
        commitment = values * (continuous - quantised.detach()).square().mean()
        config = self.config
        total = reconstruction + config.quantization * quantization + config.commitment * commitment
        weighted = {"quantization": (config.quantization, quantization), "commitment": (config.commitment, commitment)}
        return Terms(total, reconstruction=reconstruction, **weighted)

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """The code, under the key `z`."""
        return {"z": OneOfValues(self.codebook.detach(), self.drawn_codes(x))}

    def prior(self, n: int) -> dict[str, Posterior]:
        """Each latent's values, all as likely."""
        return {"z": OneOfValues(self.codebook.detach(), n=n)}

    def updates(self) -> tuple[Update, ...]:
        """One step for encoder, decoder and codebooks."""
        parts = ("encoder", "decoder", "codebook")
        return (Update("autoencoder", self.loss, parts, self.config.adam, self.config.batch_size),)
