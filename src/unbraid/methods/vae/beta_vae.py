"""VAE (Kingma & Welling 2014) and β-VAE (Higgins et al. 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unbraid.core import Batch, DataSpec, Terms, Update
from unbraid.methods.vae.gaussian import GaussianConfig, GaussianVAE
from unbraid.util.schema import option


@dataclass(frozen=True, kw_only=True)
class VAE(GaussianConfig):
    """VAE: the evidence lower bound (ELBO) itself.

    Reference:
        Kingma & Welling 2014, eq. 10.

    Example:
        >>> VAE(latents=6).latents
        6
    """

    name: ClassVar[str] = "vae"
    title: ClassVar[str] = "VAE"
    paper: ClassVar[str] = "Kingma & Welling 2014"
    when: ClassVar[str] = (
        "As the baseline of all others, and where sharp reconstructions matter more than codes that come apart."
    )

    def build(self, data: DataSpec) -> BetaVAEModel:
        """The untrained model."""
        return BetaVAEModel(self, data, beta=1.0)


@dataclass(frozen=True, kw_only=True)
class BetaVAE(GaussianConfig):
    """β-VAE: the KL to the prior weighs β times.

    Reference:
        Higgins et al. 2017, eq. 4.

    Example:
        >>> BetaVAE(beta=8.0).beta
        8.0
    """

    name: ClassVar[str] = "beta-vae"
    title: ClassVar[str] = "β-VAE"
    paper: ClassVar[str] = "Higgins et al. 2017"
    when: ClassVar[str] = (
        "As the first baseline of disentanglement: one weight to turn, and blurred reconstructions where it is large."
    )
    beta: float = option(4.0, "weight of the KL term", least=0)

    def build(self, data: DataSpec) -> BetaVAEModel:
        """The untrained model."""
        return BetaVAEModel(self, data, beta=self.beta)


class BetaVAEModel(GaussianVAE):
    """Higgins et al. 2017, eq. 4; β = 1 is the VAE."""

    def __init__(self, config: GaussianConfig, data: DataSpec, beta: float) -> None:
        super().__init__(config, data)
        self.beta = beta

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | z) + β·KL[q(z | x) ‖ p(z)]."""
        _, reconstruction, kl = self.elbo(batch.x)
        return Terms(reconstruction + self.beta * kl, reconstruction=reconstruction, kl=(self.beta, kl))

    def updates(self) -> tuple[Update, ...]:
        """One step for encoder and decoder."""
        return (Update("vae", self.loss, ("encoder", "decoder"), self.config.adam, self.config.batch_size),)
