"""AnnealedVAE (Burgess et al. 2018): the capacity of the codes grows during training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unbraid.core import Batch, DataSpec, Terms, Update
from unbraid.methods.vae.gaussian import GaussianConfig, GaussianVAE
from unbraid.ops.schedules import linear
from unbraid.util.schema import option


@dataclass(frozen=True, kw_only=True)
class AnnealedVAE(GaussianConfig):
    """AnnealedVAE: the KL is held at a capacity that grows linearly.

    Reference:
        Burgess et al. 2018, eq. 8.

    Example:
        >>> AnnealedVAE(capacity=10.0).capacity
        10.0
    """

    name: ClassVar[str] = "annealed-vae"
    title: ClassVar[str] = "AnnealedVAE"
    paper: ClassVar[str] = "Burgess et al. 2018"
    when: ClassVar[str] = (
        "Where a β-VAE leaves out small details: the codes' capacity grows until they are let in. Try a "
        "smaller γ first where nothing is learned."
    )
    gamma: float = option(1000.0, "weight of the distance between KL and capacity", least=0)
    capacity: float = option(25.0, "capacity at the end, in nats", least=0)
    capacity_steps: int = option(100_000, "steps until the capacity is reached", least=0)

    def build(self, data: DataSpec) -> AnnealedVAEModel:
        """The untrained model."""
        return AnnealedVAEModel(self, data)


class AnnealedVAEModel(GaussianVAE):
    """Burgess et al. 2018, eq. 8."""

    config: AnnealedVAE

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | z) + γ·|KL − C(t)|, the distance taken of the batch's mean KL."""
        _, reconstruction, kl = self.elbo(batch.x)
        capacity = linear(step, 0.0, self.config.capacity, self.config.capacity_steps)
        distance = (kl - capacity).abs()
        total = reconstruction + self.config.gamma * distance
        return Terms(total, reconstruction=reconstruction, kl_distance=(self.config.gamma, distance), kl=lambda: kl)

    def updates(self) -> tuple[Update, ...]:
        """One step for encoder and decoder."""
        return (Update("vae", self.loss, ("encoder", "decoder"), self.config.adam, self.config.batch_size),)
