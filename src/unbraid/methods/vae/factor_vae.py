"""FactorVAE (Kim & Mnih 2018): the total correlation comes from a critic, by the density-ratio trick."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from unbraid.core import Adam, Batch, DataSpec, Terms, Update
from unbraid.methods.vae.gaussian import GaussianConfig, GaussianVAE
from unbraid.nets.critic import critic
from unbraid.ops.density_ratio import classification_loss, shuffle_each_dimension
from unbraid.ops.precision import at_least_single
from unbraid.util.schema import later_option, option


@dataclass(frozen=True, kw_only=True)
class FactorVAE(GaussianConfig):
    """FactorVAE: the total correlation, estimated by a critic, weighs γ times.

    Reference:
        Kim & Mnih 2018, eq. 2 and algorithm 2.

    Example:
        >>> FactorVAE(gamma=10.0).gamma
        10.0
    """

    name: ClassVar[str] = "factor-vae"
    title: ClassVar[str] = "FactorVAE"
    paper: ClassVar[str] = "Kim & Mnih 2018"
    when: ClassVar[str] = (
        "Where β-TCVAE's estimate of the total correlation is in doubt (small batches): a critic estimates "
        "it, at two and a half times the cost of a step."
    )
    gamma: float = option(35.0, "weight of the total correlation", least=0)
    beta: float = later_option(1.0, "weight of the KL (1 in the paper)", least=0)
    critic_units: int = option(1000, "units in each of the critic's layers, at width 1", least=1)
    critic_layers: int = option(6, "hidden layers of the critic", least=0)
    critic_adam: Adam = option(Adam(lr=1e-4, beta1=0.5, beta2=0.9), "optimiser of the critic")

    def build(self, data: DataSpec) -> FactorVAEModel:
        """The untrained model."""
        return FactorVAEModel(self, data)


class FactorVAEModel(GaussianVAE):
    """Kim & Mnih 2018, eq. 2 and algorithm 2. The critic's output is log q(z)/∏ⱼ q(zⱼ) (eq. 3)."""

    config: FactorVAE

    def __init__(self, config: FactorVAE, data: DataSpec) -> None:
        super().__init__(config, data)
        self.critic = critic(config.latents, config.critic_units, config.critic_layers, config.width)

    def vae_loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | z) + β·KL[q(z | x) ‖ p(z)] + γ·TC(z); β = 1 in the paper."""
        q = self.posterior(batch.x)
        z = q.rsample()
        reconstruction = self.reconstruction(z, batch.x)
        kl = q.kl()
        correlation = at_least_single(self.critic(z)).mean()
        beta, gamma = self.config.beta, self.config.gamma
        total = reconstruction + beta * kl + gamma * correlation
        return Terms(total, reconstruction=reconstruction, kl=(beta, kl), total_correlation=(gamma, correlation))

    def critic_loss(self, batch: Batch, step: int) -> Terms:
        """Cross-entropy of q(z), half of the batch, against ∏ⱼ q(zⱼ), the other half with each latent permuted."""
        with torch.no_grad():  # the encoder is the other update's
            z = self.posterior(batch.x).rsample()
        joint, other = z.tensor_split(2)
        loss, accuracy = classification_loss(self.critic(joint), self.critic(shuffle_each_dimension(other)))
        return Terms(loss, accuracy=lambda: accuracy)

    def updates(self) -> tuple[Update, ...]:
        """A step for the VAE, then one for the critic on a batch of its own: as many joint samples as permuted ones."""
        size = self.config.batch_size
        return (
            Update("vae", self.vae_loss, ("encoder", "decoder"), self.config.adam, size),
            Update("critic", self.critic_loss, ("critic",), self.config.critic_adam, 2 * size),
        )
