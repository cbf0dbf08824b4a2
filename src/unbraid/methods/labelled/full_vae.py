"""FullVAE (Locatello et al. 2020, as Mita et al. 2021 call it): latents are matched with the factors themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor
from torch.nn import functional as F

from unbraid.core import Batch, DataSpec, Stream, Terms, Update
from unbraid.errors import InputError
from unbraid.methods.vae.gaussian import GaussianConfig, GaussianVAE
from unbraid.nets.observed import ObservedLabels
from unbraid.ops.masked import mean_where
from unbraid.util.schema import option


@dataclass(frozen=True, kw_only=True)
class FullVAE(GaussianConfig):
    """FullVAE: a VAE whose first latents are trained to be the labelled factors, one each.

    Reference:
        Locatello et al. 2020; Mita et al. 2021, eq. 8.

    Example:
        >>> FullVAE().uses_labels
        True
    """

    name: ClassVar[str] = "full-vae"
    title: ClassVar[str] = "FullVAE"
    paper: ClassVar[str] = "Locatello et al. 2020"
    when: ClassVar[str] = (
        "Where factors are labelled for most observations: the simplest way to make latents be these factors."
    )
    uses_labels: ClassVar[bool] = True
    gamma: float = option(
        1.0, "weight of the cross-entropy between latents and factors (the paper tries 1 to 16)", least=0
    )
    beta: float = option(1.0, "weight of the KL term", least=0)

    def build(self, data: DataSpec) -> FullVAEModel:
        """The untrained model."""
        return FullVAEModel(self, data)


class FullVAEModel(GaussianVAE):
    """Mita et al. 2021, eq. 8. Its encoder reads no labels: they are used in training only."""

    config: FullVAE

    def __init__(self, config: FullVAE, data: DataSpec) -> None:
        super().__init__(config, data)
        if config.latents < len(data.factors):
            raise InputError(
                f"full-vae needs a latent for each of the {len(data.factors)} labelled factors and has "
                f"{config.latents}: raise --latents, or name fewer --label-factors."
            )
        self.config = config
        self.observed = ObservedLabels(data)

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | z) + β·KL[q(z | x) ‖ p(z)] + γ·Σₖ BCE(σ(μₖ), uₖ), over the labels that are known."""
        q = self.posterior(batch.x)
        u, known = self.observed(batch.factors), self.observed.known(batch.factors)
        errors = F.binary_cross_entropy_with_logits(q.mean[:, : u.shape[1]], u, reduction="none")
        # Averaged over the rows where at least one label is known, so that γ means the same for any budget.
        supervised = mean_where((errors * known).sum(1), known.any(1))
        reconstruction = self.mean_over_data(self.reconstruction_rows(q.rsample(), batch.x), known.any(1))
        kl = self.mean_over_data(q.kl_per_latent().sum(1), known.any(1))
        beta, gamma = self.config.beta, self.config.gamma
        total = reconstruction + beta * kl + gamma * supervised
        return Terms(total, reconstruction=reconstruction, kl=(beta, kl), supervised=(gamma, supervised))

    def mean_over_data(self, rows: Tensor, labelled: Tensor) -> Tensor:
        """The mean [b] → [] that rows would have if labelled ones were as frequent as in the data, not half of all."""
        share = self.data.labelled / self.data.size
        return share * mean_where(rows, labelled) + (1 - share) * mean_where(rows, ~labelled)

    def updates(self) -> tuple[Update, ...]:
        """One step; where some labels are missing, half of its batch are observations that have them."""
        stream: Stream = "train" if self.data.labelled == self.data.size else "half-labelled"
        trains = ("encoder", "decoder")
        return (Update("vae", self.loss, trains, self.config.adam, self.config.batch_size, stream),)
