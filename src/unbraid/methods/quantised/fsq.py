"""An autoencoder with finite scalar quantisation (Mentzer et al. 2024): fixed, evenly spaced values."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from unbraid.core import Batch, DataSpec, Posterior, Terms, Update
from unbraid.methods.autoencoding import AutoencodingConfig
from unbraid.methods.quantised.autoencoder import PointModel
from unbraid.ops.quantise import OneOfValues, finite_scalar
from unbraid.util.schema import option


@dataclass(frozen=True, kw_only=True)
class FSQ(AutoencodingConfig):
    """FSQ: an autoencoder whose latents are rounded to a few values between −1 and 1; nothing is weighed.

    Use it for codes of few values without weights to choose; Tripod adds to it what makes codes independent.

    Reference:
        Mentzer et al. 2024; as a disentangler the quantiser of Hsu et al. 2024 (Tripod).

    Example:
        >>> FSQ(values=5).values
        5
    """

    name: ClassVar[str] = "fsq"
    title: ClassVar[str] = "FSQ"
    paper: ClassVar[str] = "Mentzer et al. 2024"
    when: ClassVar[str] = "As QLAE with fixed values and nothing to weigh: the simplest quantised codes."
    standard_prior: ClassVar[bool] = False
    values: int = option(12, "values that each latent can take", least=2)

    def build(self, data: DataSpec) -> FSQModel:
        """The untrained model."""
        return FSQModel(self, data, self.values)


class RoundedModel(PointModel, ABC):
    """An autoencoder through rounded codes; what is minimised differs."""

    levels: Tensor

    def __init__(self, config: AutoencodingConfig, data: DataSpec, values: int) -> None:
        super().__init__(config, data)
        self.values = values
        self.register_buffer("levels", torch.linspace(-1, 1, values).repeat(config.latents, 1), persistent=False)

    def code(self, continuous: Tensor) -> Tensor:
        """The rounded code; the gradient passes straight through."""
        return finite_scalar(continuous, self.values)[1]

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """The code, under the key `z`."""
        return {"z": OneOfValues(self.levels, self.drawn_codes(x))}

    def prior(self, n: int) -> dict[str, Posterior]:
        """Each latent's values, all as likely."""
        return {"z": OneOfValues(self.levels, n=n)}


class FSQModel(RoundedModel):
    """Reconstruction alone, through rounded codes."""

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | z)."""
        reconstruction = self.reconstruction(self.drawn_codes(batch.x), batch.x)
        return Terms(reconstruction, reconstruction=reconstruction)

    def updates(self) -> tuple[Update, ...]:
        """One step for encoder and decoder."""
        return (Update("autoencoder", self.loss, ("encoder", "decoder"), self.config.adam, self.config.batch_size),)
