"""Tripod (Hsu et al. 2024): rounded codes, independent of each other, whose effects do not mix."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from torch import Tensor, nn

from unbraid.core import Batch, DataSpec, Posterior, Terms, Update
from unbraid.errors import InputError
from unbraid.methods.autoencoding import AutoencodingConfig
from unbraid.methods.quantised.fsq import RoundedModel
from unbraid.nets.additive import GROUP_SIZES
from unbraid.ops.curvature import normalised_hessian_penalty
from unbraid.ops.given import Point
from unbraid.ops.kernel_information import kernel_multi_information
from unbraid.ops.precision import at_least_single, no_half
from unbraid.util.schema import later_option, option

LEAST_SPREAD = 1e-6


@dataclass(frozen=True, kw_only=True)
class Tripod(AutoencodingConfig):
    """Tripod: FSQ with penalties on dependent codes and on codes whose effects in the decoder mix.

    Use it where QLAE would be used and weights can be searched for; a step costs several times QLAE's.

    Good weights differ by orders of magnitude between data sets: the authors have 1e-4 and 1e-2 (Shapes3D), 1e-8 and
    1e-4 (MPI3D), 1e-10 and 1e-2 (Falcor3D), 1e-4 and 1e-8 (Isaac3D). With a weight of 0 a term is not computed.

    Reference:
        Hsu et al. 2024. Their reconstruction is a mean over pixels; here all terms are multiplied by the number of
        values of an observation, which leaves their proportions as they are.

    Example:
        >>> Tripod(hessian=0.0).independence
        0.0001
    """

    name: ClassVar[str] = "tripod"
    title: ClassVar[str] = "Tripod"
    paper: ClassVar[str] = "Hsu et al. 2024"
    when: ClassVar[str] = (
        "Where quantised codes are still mixed, and there is time to search its two weights, which differ "
        "between data sets."
    )
    standard_prior: ClassVar[bool] = False
    models_counts: ClassVar[bool] = False  # its penalty looks at the layers of a decoder of values
    values: int = option(12, "values that each latent can take", least=2)
    independence: float = option(1e-4, "weight of the codes' multi-information, for each value", least=0)
    hessian: float = option(1e-2, "weight of the mixed second derivatives, for each value", least=0)
    rounded: bool = later_option(True, "whether codes are rounded; without, any number between −1 and 1")

    def check(self, data: DataSpec) -> None:
        """Refuse decoders that have no layers one after another for the penalty to look at."""
        super().check(data)
        if self.hessian and self.network in (*GROUP_SIZES, "mlp-pca"):
            raise InputError(
                f"tripod's Hessian penalty has no layers to look at with network {self.network!r}: --hessian 0."
            )

    def build(self, data: DataSpec) -> TripodModel:
        """The untrained model."""
        return TripodModel(self, data)


class TripodModel(RoundedModel):
    """Hsu et al. 2024."""

    config: Tripod

    def __init__(self, config: Tripod, data: DataSpec) -> None:
        super().__init__(config, data, config.values)

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | z) + D·(λ₁·(log q(z) − Σⱼ log q(zⱼ)) + λ₂·mixed share of ∂²layers/∂z²), for D values."""
        continuous = self.encoded(batch.x)
        bounded, z = continuous.tanh(), self.code(continuous)
        reconstruction = self.reconstruction(z, batch.x)
        spread = bounded.std(0, correction=0) + LEAST_SPREAD
        values, config = prod(self.data.shape), self.config
        total, parts = reconstruction, {"reconstruction": (1.0, reconstruction)}
        if config.independence:
            dependence = values * kernel_multi_information(z, spread).mean()
            total, parts["independence"] = total + config.independence * dependence, (config.independence, dependence)
        if config.hessian:
            with no_half(z.device):  # differences of outputs, divided by a square
                share = normalised_hessian_penalty(self.hidden_layers, at_least_single(z), spread)
            mixed = values * share.mean()
            total, parts["hessian"] = total + config.hessian * mixed, (config.hessian, mixed)
        return Terms(total, **parts)

    def code(self, continuous: Tensor) -> Tensor:
        """The rounded code; where it is not to be rounded, the same before it would be."""
        return super().code(continuous) if self.config.rounded else continuous.tanh()

    def hidden_layers(self, z: Tensor) -> list[Tensor]:
        """What the decoder's layers give, from the second to the last but one: the first is linear in z."""
        kinds = (nn.Linear, nn.Conv2d, nn.ConvTranspose2d, nn.Conv1d, nn.ConvTranspose1d)
        made, value = [], z
        for layer in self.decoder:
            value = layer(value)
            if isinstance(layer, kinds):
                made.append(value)
        return made[1:-1]

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """The code, under the key `z`."""
        return super().encode(x, y, labels) if self.config.rounded else {"z": Point(self.drawn_codes(x))}

    def updates(self) -> tuple[Update, ...]:
        """One step for encoder and decoder."""
        return (Update("autoencoder", self.loss, ("encoder", "decoder"), self.config.adam, self.config.batch_size),)
