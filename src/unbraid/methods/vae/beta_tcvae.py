"""β-TCVAE (Chen et al. 2018): only the total correlation of the codes is penalised."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import torch
from torch import Tensor

from unbraid.core import Batch, DataSpec, Terms, Update
from unbraid.errors import InputError
from unbraid.methods.vae.alignment import is_turn, turn_codes
from unbraid.methods.vae.gaussian import GaussianConfig, GaussianVAE
from unbraid.methods.vae.small_batches import small_batch_cautions
from unbraid.nets.additive import GROUP_SIZES
from unbraid.ops.gaussian import DiagonalGaussian, standard_log_prob
from unbraid.ops.total_correlation import Estimator, decompose
from unbraid.util.schema import later_option, option


@dataclass(frozen=True, kw_only=True)
class BetaTCVAE(GaussianConfig):
    """β-TCVAE: index-code information, total correlation and dimension-wise KL, weighed one by one.

    Reference:
        Chen et al. 2018, eq. 5.

    Example:
        >>> BetaTCVAE(beta=6.0).beta
        6.0
    """

    name: ClassVar[str] = "beta-tcvae"
    title: ClassVar[str] = "β-TCVAE"
    paper: ClassVar[str] = "Chen et al. 2018"
    when: ClassVar[str] = (
        "First, on data without labels: it has the fast recipe, and penalises dependence between codes "
        "rather than what they know."
    )
    beta: float = option(6.0, "weight of the total correlation", least=0)
    alpha: float = option(1.0, "weight of the index-code mutual information", least=0)
    gamma: float = option(1.0, "weight of the dimension-wise KL", least=0)
    estimator: Estimator = option("mws", "of q(z) in the loss: mws (the paper's) or mss (unbiased before the log)")
    turns: int = later_option(0, "how often, evenly over training, codes are rotated towards independence", least=0)

    def check(self, data: DataSpec) -> None:
        """Refuse to turn codes of a decoder that keeps groups of them apart."""
        super().check(data)
        if self.turns and self.network in GROUP_SIZES:
            raise InputError(
                f"codes cannot be turned with network {self.network!r}, which keeps them apart: --turns 0."
            )

    def cautions(self, observations: int) -> list[str]:
        """On small batches; not where the codes are turned, as the fast recipe does, for which they are meant."""
        return [] if self.turns else small_batch_cautions(self, observations, self.alpha)

    def build(self, data: DataSpec) -> BetaTCVAEModel:
        """The untrained model."""
        return BetaTCVAEModel(self, data)


class BetaTCVAEModel(GaussianVAE):
    """Chen et al. 2018, eq. 5, with q(z) from the minibatch (S4 or S6)."""

    config: BetaTCVAE

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | z) + α·I(z; n) + β·TC(z) + γ·Σⱼ KL[q(zⱼ) ‖ p(zⱼ)]."""
        alpha, beta, gamma = self.config.alpha, self.config.beta, self.config.gamma
        q = self.posterior(batch.x)
        z = q.rsample()
        reconstruction = self.reconstruction(z, batch.x)
        index_code, correlation, dimension_kl = self.decompose(q, z, self.config.estimator)
        total = reconstruction + alpha * index_code + beta * correlation + gamma * dimension_kl

        # MWS is high by up to (D−1)·log N, so the figures to look at are always those of MSS.
        @cache
        def unbiased() -> tuple[Tensor, Tensor, Tensor]:
            with torch.no_grad():
                return self.decompose(q, z, "mss")

        return Terms(
            total,
            reconstruction=reconstruction,
            index_code=(alpha, index_code),
            total_correlation=(beta, correlation),
            dimension_kl=(gamma, dimension_kl),
            kl=q.kl,
            index_code_unbiased=lambda: unbiased()[0],
            total_correlation_unbiased=lambda: unbiased()[1],
            dimension_kl_unbiased=lambda: unbiased()[2],
        )

    def decompose(self, q: DiagonalGaussian, z: Tensor, estimator: Estimator) -> tuple[Tensor, Tensor, Tensor]:
        """The three terms of eq. 3: index-code mutual information, total correlation, dimension-wise KL."""
        return decompose(q, z, standard_log_prob(z).sum(1), self.data.size, estimator)

    def adjusts(self, step: int, steps: int) -> bool:
        """Whether the codes are turned before this step."""
        return is_turn(step, steps, self.config.turns)

    def adjust(self, x: Tensor) -> None:
        """Turn the codes to where their total correlation is least."""
        turn_codes(self.encoder, self.decoder, self.resolution.down(x))

    def updates(self) -> tuple[Update, ...]:
        """One step for encoder and decoder."""
        return (Update("vae", self.loss, ("encoder", "decoder"), self.config.adam, self.config.batch_size),)
