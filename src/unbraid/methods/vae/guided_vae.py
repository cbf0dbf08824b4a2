"""Guided-VAE and Guided-β-TCVAE (Ding et al. 2020): codes that must also explain the observation linearly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from unbraid.core import Batch, DataSpec, Parts, Terms, Update
from unbraid.errors import InputError
from unbraid.methods.vae.gaussian import GaussianConfig, GaussianVAE
from unbraid.methods.vae.small_batches import small_batch_cautions
from unbraid.nets.guide import MOVES, Guide
from unbraid.ops.gaussian import DiagonalGaussian, standard_log_prob
from unbraid.ops.total_correlation import Estimator, decompose
from unbraid.util.schema import option


@dataclass(frozen=True, kw_only=True)
class GuidedVAE(GaussianConfig):
    """Guided-VAE: a second, linear decoder with orthogonal components guides the codes.

    Reference:
        Ding et al. 2020, §3.2.

    Example:
        >>> GuidedVAE(deformation=2).deformation
        2
    """

    name: ClassVar[str] = "guided-vae"
    title: ClassVar[str] = "Guided-VAE"
    paper: ClassVar[str] = "Ding et al. 2020"
    when: ClassVar[str] = "Where a linear model already sees the main factors: its components guide the codes."
    models_counts: ClassVar[bool] = False  # the linear decoder makes values
    guide: float = option(0.5, "weight of the linear decoder's squared error", least=0)
    overlap: float = option(1.0, "weight of the components' squared inner products", least=0)
    deformation: int = option(
        0, "first latents that move the linear picture: rotation, scale, two shifts (up to 4)", least=0, most=len(MOVES)
    )

    def build(self, data: DataSpec) -> GuidedVAEModel:
        """The untrained model."""
        return GuidedVAEModel(self, data, tc=None)


@dataclass(frozen=True, kw_only=True)
class GuidedBetaTCVAE(GuidedVAE):
    """Guided-β-TCVAE: the same guidance on β-TCVAE.

    Reference:
        Ding et al. 2020, §3.2; Chen et al. 2018, eq. 5.

    Example:
        >>> GuidedBetaTCVAE().guide
        0.5
    """

    name: ClassVar[str] = "guided-beta-tcvae"
    title: ClassVar[str] = "Guided-β-TCVAE"
    paper: ClassVar[str] = "Ding et al. 2020"
    when: ClassVar[str] = "As Guided-VAE, where the codes should also be independent."
    beta: float = option(6.0, "weight of the total correlation", least=0)
    estimator: Estimator = option("mws", "of q(z) in the loss: mws (the paper's) or mss (unbiased before the log)")

    def cautions(self, observations: int) -> list[str]:
        """On batches too small for the total correlation."""
        return small_batch_cautions(self, observations)

    def build(self, data: DataSpec) -> GuidedVAEModel:
        """The untrained model."""
        return GuidedVAEModel(self, data, tc=(self.beta, self.estimator))


class GuidedVAEModel(GaussianVAE):
    """Ding et al. 2020, §3.2: unsupervised guidance by deformable principal components."""

    config: GuidedVAE

    def __init__(self, config: GuidedVAE, data: DataSpec, tc: tuple[float, Estimator] | None) -> None:
        super().__init__(config, data)
        check_deformation(config, data)
        self.config, self.tc = config, tc
        self.guide = Guide(config.latents, data.shape, config.deformation)

    def loss(self, batch: Batch, step: int) -> Terms:
        """−ELBO + λ·‖x − τ(z_def) ∘ (z_cont Bᵀ)‖² + Σ_k Σ_{j≠k} (b_kᵀ b_j)²."""
        q = self.posterior(batch.x)
        z = q.rsample()
        reconstruction = self.reconstruction(z, batch.x)
        prior, terms = self.prior_term(q, z)
        error = (self.guide(z) - batch.x).square().sum() / len(z)
        overlap = self.guide.overlap()
        total = reconstruction + prior + self.config.guide * error + self.config.overlap * overlap
        guidance: Parts = {"guide": (self.config.guide, error), "overlap": (self.config.overlap, overlap)}
        return Terms(total, reconstruction=reconstruction, **terms, **guidance)

    def prior_term(self, q: DiagonalGaussian, z: Tensor) -> tuple[Tensor, Parts]:
        """KL[q(z | x) ‖ p(z)]; in Guided-β-TCVAE its total correlation weighs β times (Chen et al. 2018, eq. 5)."""
        if self.tc is None:
            kl = q.kl()
            return kl, {"kl": kl}
        beta, estimator = self.tc
        prior = standard_log_prob(z).sum(1)
        index_code, correlation, dimension_kl = decompose(q, z, prior, self.data.size, estimator)
        terms: Parts = {"index_code": index_code, "total_correlation": (beta, correlation)}
        return index_code + beta * correlation + dimension_kl, terms | {"dimension_kl": dimension_kl, "kl": q.kl}

    def updates(self) -> tuple[Update, ...]:
        """One step for encoder and both decoders."""
        return (Update("vae", self.loss, ("encoder", "decoder", "guide"), self.config.adam, self.config.batch_size),)


def check_deformation(config: GuidedVAE, data: DataSpec) -> None:
    """Refuse a deformation that leaves nothing to move, or that moves vectors."""
    if config.deformation >= config.latents:
        raise InputError(
            f"--deformation {config.deformation} of {config.name} leaves no latent for the picture: "
            f"it must be less than --latents {config.latents}."
        )
    if config.deformation and not data.is_image:
        raise InputError(f"--deformation of {config.name} moves pictures; vectors need --deformation 0.")
