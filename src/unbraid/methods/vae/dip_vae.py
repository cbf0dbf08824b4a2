"""DIP-VAE-I and DIP-VAE-II (Kumar et al. 2018): the covariance of the codes is pulled towards the identity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unbraid.core import Batch, DataSpec, Terms, Update
from unbraid.methods.vae.gaussian import GaussianConfig, GaussianVAE
from unbraid.ops.covariance import (
    aggregate_covariance,
    aggregate_third_moments,
    covariance,
    covariance_noise,
    off_diagonal_penalty,
    third_moment_noise,
    unit_diagonal_penalty,
)
from unbraid.util.schema import later_option, option

COSTLY = 1000.0  # nats that perfect codes pay for the noise of their third moments; at the paper's setting 660
COSTLY_COVARIANCES = 200.0  # the same for covariances; at the paper's largest setting, λ_od = λ_d = 500, 138


@dataclass(frozen=True, kw_only=True)
class DIPVAEI(GaussianConfig):
    """DIP-VAE-I: penalises the covariance of the posterior means.

    Reference:
        Kumar et al. 2018, eq. 6.

    Example:
        >>> DIPVAEI().diagonal
        100.0
    """

    name: ClassVar[str] = "dip-vae-i"
    title: ClassVar[str] = "DIP-VAE-I"
    paper: ClassVar[str] = "Kumar et al. 2018"
    when: ClassVar[str] = (
        "Where reconstructions must stay near a VAE's: only the covariance of mean codes is pushed towards "
        "the identity."
    )
    off_diagonal: float = option(10.0, "weight λ_od of squared covariances", least=0)
    diagonal: float = option(
        100.0, "weight λ_d of variances' squared distance from 1 (10·λ_od; 50·λ_od on CelebA)", least=0
    )
    beta: float = later_option(1.0, "weight of the KL (1 in the paper)", least=0)

    def cautions(self, observations: int) -> list[str]:
        """On covariances of batches so small that they are noise."""
        return covariance_cautions(self)

    def build(self, data: DataSpec) -> DIPVAEIModel:
        """The untrained model."""
        return DIPVAEIModel(self, data)


@dataclass(frozen=True, kw_only=True)
class DIPVAEII(GaussianConfig):
    """DIP-VAE-II: penalises the covariance of the codes, and (optionally) their third central moments.

    Reference:
        Kumar et al. 2018, eq. 7.

    Example:
        >>> DIPVAEII(third_moments=200.0).third_moments
        200.0
    """

    name: ClassVar[str] = "dip-vae-ii"
    title: ClassVar[str] = "DIP-VAE-II"
    paper: ClassVar[str] = "Kumar et al. 2018"
    when: ClassVar[str] = "As DIP-VAE-I, where sampled codes are to be uncorrelated too; with batches of 400 and more."
    off_diagonal: float = option(5.0, "weight λ_od of squared covariances", least=0)
    diagonal: float = option(5.0, "weight λ_d of variances' squared distance from 1 (λ_od; λ_od/2 on CelebA)", least=0)
    third_moments: float = option(0.0, "weight λ_3 of the squared third central moments (200 on dSprites)", least=0)
    beta: float = later_option(1.0, "weight of the KL (1 in the paper)", least=0)

    def cautions(self, observations: int) -> list[str]:
        """On moments of batches so small that they are noise."""
        cost = self.third_moments * third_moment_noise(self.latents, self.batch_size)
        if cost <= COSTLY:
            return covariance_cautions(self)
        return [
            f"{self.name}: third moments of batches of {self.batch_size} are largely noise, for which even perfect "
            f"codes pay about {cost:,.0f} nats at --third-moments {self.third_moments:g}; the paper has batches of 400."
        ]

    def build(self, data: DataSpec) -> DIPVAEIIModel:
        """The untrained model."""
        return DIPVAEIIModel(self, data)


def covariance_cautions(config: DIPVAEI | DIPVAEII) -> list[str]:
    """A sentence where perfect codes pay much for what is noise in the covariances of a batch."""
    off, diagonal = covariance_noise(config.latents, config.batch_size)
    cost = config.off_diagonal * off + config.diagonal * diagonal
    if cost <= COSTLY_COVARIANCES:
        return []
    return [
        f"{config.name}: covariances of batches of {config.batch_size} are so noisy that even perfect codes pay about "
        f"{cost:,.0f} nats at --off-diagonal {config.off_diagonal:g} and --diagonal {config.diagonal:g}; the paper has "
        "batches of 400."
    ]


class DIPVAEIModel(GaussianVAE):
    """Kumar et al. 2018, eq. 6, with the covariance of the batch."""

    config: DIPVAEI

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | z) + β·KL + λ_od·Σ_{i≠j} Cov[μ]ᵢⱼ² + λ_d·Σᵢ (Cov[μ]ᵢᵢ − 1)²."""
        beta = self.config.beta
        q, reconstruction, kl = self.elbo(batch.x)
        cov = covariance(q.mean)
        off, diagonal = off_diagonal_penalty(cov), unit_diagonal_penalty(cov)
        total = reconstruction + beta * kl + self.config.off_diagonal * off + self.config.diagonal * diagonal
        return Terms(
            total,
            reconstruction=reconstruction,
            kl=(beta, kl),
            off_diagonal=(self.config.off_diagonal, off),
            diagonal=(self.config.diagonal, diagonal),
        )

    def updates(self) -> tuple[Update, ...]:
        """One step for encoder and decoder."""
        return (Update("vae", self.loss, ("encoder", "decoder"), self.config.adam, self.config.batch_size),)


class DIPVAEIIModel(GaussianVAE):
    """Kumar et al. 2018, eq. 7, with the moments of the batch."""

    config: DIPVAEII

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | z) + β·KL + λ_od·Σ_{i≠j} Cov[z]ᵢⱼ² + λ_d·Σᵢ (Cov[z]ᵢᵢ − 1)² + λ_3·(third moments)²."""
        beta = self.config.beta
        q, reconstruction, kl = self.elbo(batch.x)
        cov = aggregate_covariance(q.mean, q.log_var)
        off, diagonal = off_diagonal_penalty(cov), unit_diagonal_penalty(cov)
        third = aggregate_third_moments(q.mean, q.log_var).square().sum()
        total = (
            reconstruction
            + beta * kl
            + self.config.off_diagonal * off
            + self.config.diagonal * diagonal
            + self.config.third_moments * third
        )
        return Terms(
            total,
            reconstruction=reconstruction,
            kl=(beta, kl),
            off_diagonal=(self.config.off_diagonal, off),
            diagonal=(self.config.diagonal, diagonal),
            third_moments=(self.config.third_moments, third),
        )

    def updates(self) -> tuple[Update, ...]:
        """One step for encoder and decoder."""
        return (Update("vae", self.loss, ("encoder", "decoder"), self.config.adam, self.config.batch_size),)
