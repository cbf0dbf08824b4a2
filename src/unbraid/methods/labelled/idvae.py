"""IDVAE (Mita et al. 2021): the conditional prior is the encoder of a second VAE, over u itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from unbraid.core import Adam, Batch, DataSpec, Terms, Update
from unbraid.methods.labelled.conditional import ConditionalConfig, ConditionalVAE, kl_rows, prior_network
from unbraid.methods.labelled.ivae import labels_or_mean
from unbraid.nets.frozen import frozen
from unbraid.nets.stacks import scaled
from unbraid.ops import likelihood
from unbraid.ops.gaussian import DiagonalGaussian
from unbraid.util.schema import option


@dataclass(frozen=True, kw_only=True)
class DoubleConfig(ConditionalConfig):
    """Options of the second VAE, shared by IDVAE and its semi-supervised form."""

    prior_adam: Adam = option(Adam(lr=1e-4, beta1=0.5, beta2=0.9), "optimiser of the VAE over u")
    # With a plain squared error (1) the noise would be wider than labels scaled to [0, 1] are spread, nothing would be
    # worth encoding, and p(z | u) would be the standard normal for every u.
    label_scale: float = option(0.1, "standard deviation of p(u | z)", above=0)


@dataclass(frozen=True, kw_only=True)
class IDVAE(DoubleConfig):
    """IDVAE: as IVAE, with a prior p(z | u) that is sufficient and compact because a VAE over u made it.

    Reference:
        Mita et al. 2021, eqs. 15 to 17.

    Example:
        >>> IDVAE().prior_adam.beta1
        0.5
    """

    name: ClassVar[str] = "idvae"
    title: ClassVar[str] = "IDVAE"
    paper: ClassVar[str] = "Mita et al. 2021"
    when: ClassVar[str] = (
        "As IVAE, where labels tell the factors nearly completely: its prior keeps what labels tell, one "
        "latent for each."
    )
    needs_complete_labels: ClassVar[bool] = True

    def build(self, data: DataSpec) -> IDVAEModel:
        """The untrained model."""
        return IDVAEModel(self, data)


class IDVAEModel(ConditionalVAE):
    """Mita et al. 2021, eq. 17: its two parts have separate parameters, and are two updates."""

    config: IDVAE

    def __init__(self, config: IDVAE, data: DataSpec) -> None:
        super().__init__(config, data)
        self.prior_decoder = label_decoder(self, config)

    def prior_loss(self, batch: Batch, step: int) -> Terms:
        """−log p(u | z) + KL[q(z | u) ‖ p(z)]   (eq. 16)."""
        u = self.observed(batch.factors)
        reconstruction, kl = prior_rows(self.conditional_prior(u), self.prior_decoder, u, self.config.label_scale)
        return Terms((reconstruction + kl).mean(), reconstruction=reconstruction.mean(), kl=kl.mean())

    def image_loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | z) + β·KL[q(z | x, u) ‖ p(z | u)]   (eq. 15), with ψ of p(z | u) = q_ψ(z | u) held fixed."""
        reconstruction, kl = image_rows(self, batch.x, self.observed(batch.factors))
        total = (reconstruction + self.config.beta * kl).mean()
        return Terms(total, reconstruction=reconstruction.mean(), kl=(self.config.beta, kl.mean()))

    def auxiliary(self, x: Tensor, labels: Tensor | None) -> Tensor:
        """The labels; where there are none, their mean in training, which says nothing about x."""
        return labels_or_mean(self, x, labels)

    def updates(self) -> tuple[Update, ...]:
        """The VAE over u, then the VAE over x, each with its own optimiser."""
        c = self.config
        prior, image = ("prior_encoder", "prior_decoder"), ("encoder", "decoder")
        return (
            Update("prior", self.prior_loss, prior, c.prior_adam, c.batch_size, stream="labelled"),
            Update("image", self.image_loss, image, c.adam, c.batch_size, stream="labelled"),
        )


def label_decoder(method: ConditionalVAE, config: DoubleConfig) -> nn.Sequential:
    """p(u | z)."""
    return prior_network(method.latents, method.observed.values, scaled(config.prior_units, config.width))


def image_rows(method: ConditionalVAE, x: Tensor, u: Tensor) -> tuple[Tensor, Tensor]:
    """−log p(x | z) and KL[q(z | x, u) ‖ q_ψ(z | u)], each [b]; no gradient reaches ψ."""
    q = method.posterior(x, u)
    p = DiagonalGaussian.from_parameters(frozen(method.prior_encoder, u))
    return method.reconstruction_rows(q.rsample(), x), kl_rows(q, p)


def prior_rows(
    q: DiagonalGaussian, decoder: Callable[[Tensor], Tensor], u: Tensor, scale: float
) -> tuple[Tensor, Tensor]:
    """−log p(u | z) and KL[q(z | u) ‖ p(z)], each [b]."""
    return likelihood.nll_rows("gaussian", decoder(q.rsample()), u, scale), q.kl_per_latent().sum(1)
