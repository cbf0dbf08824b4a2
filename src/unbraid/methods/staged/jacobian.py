"""Jacobian supervision (Lezama 2019): a student with more codes keeps its teacher's Jacobian. A baseline of MS-VAE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.core import Adam, Batch, Condition, DataSpec, LaterStage, Method, MethodConfig, Posterior, Terms, Update
from unbraid.errors import InputError
from unbraid.methods.options import NetworkOptions
from unbraid.methods.staged.ms_vae import required_y
from unbraid.nets.from_codes import DecoderFromCodes
from unbraid.nets.residual import residual_trunk
from unbraid.ops.given import Point
from unbraid.util.schema import later_option, option, with_default


@dataclass(frozen=True, kw_only=True)
class JacobianSupervision(LaterStage, NetworkOptions):
    """Jacobian supervision: an autoencoder that copies its teacher's codes and what changes when they do.

    Reference:
        Lezama 2019, eqs. 4 to 6.

    Example:
        >>> JacobianSupervision().replaces_codes
        True
    """

    name: ClassVar[str] = "jacobian"
    title: ClassVar[str] = "Jacobian supervision"
    paper: ClassVar[str] = "Lezama 2019"
    when: ClassVar[str] = "As MS-VAE's baseline: detail by a larger autoencoder that copies its teacher's codes."
    replaces_codes: ClassVar[bool] = True
    condition: Condition = option(
        "mean", "what is copied: the teacher's mean codes and what it makes of them (mean), or a draw (sample)"
    )
    latents: int = option(5, "number of codes z beside the teacher's", least=1)
    code_weight: float = option(0.25, "λ_y, weight of the distance from the teacher's codes", least=0)
    difference_weight: float = option(0.1, "λ_diff, weight of the difference of Jacobians", least=0)
    covariance_weight: float = option(1e-3, "λ_xcov, weight of the covariance between old and new codes", least=0)
    batch_norm: bool = later_option(
        False, "batch norm and leaky units as in the authors' code, for images; without them plain layers as wide"
    )
    batch_size: int = with_default(MethodConfig, "batch_size", 128)
    adam: Adam = with_default(NetworkOptions, "adam", Adam(lr=3e-4))

    @property
    def uses_codes(self) -> bool:
        """The teacher's codes are what the student learns first."""
        return True

    def build(self, data: DataSpec) -> JacobianSupervisionModel:
        """The untrained student."""
        return JacobianSupervisionModel(self, data)


class JacobianSupervisionModel(Method):
    """Lezama 2019, eqs. 4–6. All terms are **means** over values, as the author's weights presuppose.

    The teacher is stage 1: its codes c_T and outputs y are all that the loss needs of it. The student relearns c
    from x; at test time nothing of the teacher is used, so y and stage 1's codes do not move its output.
    """

    config: JacobianSupervision

    def __init__(self, config: JacobianSupervision, data: DataSpec) -> None:
        super().__init__()
        self.config, self.is_image, self.sizes = config, data.is_image, [data.codes, config.latents]
        norm = nn.BatchNorm2d if config.batch_norm and data.is_image else None
        trunk, features = residual_trunk(data.shape, config.width, norm=norm, leaky=norm is not None)
        self.encoder = nn.Sequential(trunk, nn.Linear(features, sum(self.sizes)))
        self.decoder = DecoderFromCodes(
            data.shape, data.codes, config.latents, config.width, concatenate=True, norm=norm
        )

    def make(self, c: Tensor, z: Tensor) -> Tensor:
        """D(c, z)."""
        output = self.decoder(c, z)
        return output.sigmoid() if self.is_image else output  # type: ignore[no-any-return]

    def loss(self, batch: Batch, step: int) -> Terms:
        """Reconstruction, the teacher's codes, its Jacobian by differences between pairs, and no shared covariance."""
        if batch.codes is None:
            raise InputError("jacobian learns from a teacher: name a first stage, as in --method beta-tcvae jacobian.")
        c, z = self.encoder(batch.x).split(self.sizes, dim=1)
        output, y = self.make(c, z), required_y(batch.y)
        other = torch.randperm(len(c), device=c.device)  # the pairs: each observation takes over another's c
        reconstruction = F.mse_loss(output, batch.x)
        code = F.mse_loss(c, batch.codes)
        difference = F.mse_loss(output - self.make(c[other], z), y - y[other])
        covariance = cross_covariance(c, z)
        total = (
            reconstruction
            + self.config.code_weight * code
            + self.config.difference_weight * difference
            + self.config.covariance_weight * covariance
        )
        return Terms(
            total,
            reconstruction=reconstruction,
            code=(self.config.code_weight, code),
            difference=(self.config.difference_weight, difference),
            covariance=(self.config.covariance_weight, covariance),
        )

    def updates(self) -> tuple[Update, ...]:
        """One step for the student; the teacher is frozen."""
        return (Update("student", self.loss, ("encoder", "decoder"), self.config.adam, self.config.batch_size),)

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """The student's own codes: c, which follow the teacher's, and z."""
        c, z = self.encoder(x).split(self.sizes, dim=1)
        return {"c": Point(c), "z": Point(z)}

    def decode(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """D(c, z)."""
        return self.make(codes["c"], codes["z"])


def cross_covariance(c: Tensor, z: Tensor) -> Tensor:
    """½ Σᵢⱼ Cov(cᵢ, zⱼ)² over the batch.

    Args:
        c: [b, code].
        z: [b, other code].

    Returns:
        One number; zero where no code of one varies with a code of the other.

    Reference:
        Cheung et al. 2014, eq. 3.

    Example:
        >>> cross_covariance(torch.tensor([[-1.0], [1.0]]), torch.tensor([[-2.0], [2.0]])).item()
        2.0
    """
    matrix = (c - c.mean(0)).T @ (z - z.mean(0)) / len(c)
    return 0.5 * matrix.square().sum()
