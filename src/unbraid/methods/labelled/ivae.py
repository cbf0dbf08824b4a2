"""IVAE (Khemakhem et al. 2020, as in Mita et al. 2021): the prior of the codes depends on observed variables u."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from unbraid.core import Batch, DataSpec, Terms, Update
from unbraid.methods.labelled.conditional import ConditionalConfig, ConditionalVAE, kl_rows


@dataclass(frozen=True, kw_only=True)
class IVAE(ConditionalConfig):
    """IVAE: a learned prior p(z | u) given labels makes the codes identifiable.

    Reference:
        Khemakhem et al. 2020; Mita et al. 2021, eq. 10.

    Example:
        >>> IVAE().encoder_needs_labels
        True
    """

    name: ClassVar[str] = "ivae"
    title: ClassVar[str] = "IVAE"
    paper: ClassVar[str] = "Khemakhem et al. 2020"
    when: ClassVar[str] = (
        "Where labels are there in training and at test time: it is identifiable in theory, and its encoder reads them."
    )
    needs_complete_labels: ClassVar[bool] = True

    def build(self, data: DataSpec) -> IVAEModel:
        """The untrained model."""
        return IVAEModel(self, data)


class IVAEModel(ConditionalVAE):
    """Mita et al. 2021, eq. 10, with Gaussian p(z | u) whose mean and variance are learned."""

    config: IVAE

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | z) + β·KL[q(z | x, u) ‖ p(z | u)]."""
        u = self.observed(batch.factors)
        q = self.posterior(batch.x, u)
        reconstruction = self.reconstruction_rows(q.rsample(), batch.x).mean()
        kl = kl_rows(q, self.conditional_prior(u)).mean()
        beta = self.config.beta
        return Terms(reconstruction + beta * kl, reconstruction=reconstruction, kl=(beta, kl))

    def auxiliary(self, x: Tensor, labels: Tensor | None) -> Tensor:
        """The labels; where there are none, their mean in training, which says nothing about x."""
        return labels_or_mean(self, x, labels)

    def updates(self) -> tuple[Update, ...]:
        """One step for encoder, decoder and prior, on observations whose labels are known."""
        trains = ("encoder", "decoder", "prior_encoder")
        return (Update("vae", self.loss, trains, self.config.adam, self.config.batch_size, stream="labelled"),)


def labels_or_mean(method: ConditionalVAE, x: Tensor, labels: Tensor | None) -> Tensor:
    """u from labels; without them it is dropped, which is to say held at its mean in training.

    Args:
        method: whose labels these are.
        x: observations, [b, …].
        labels: [b, factor], or None.

    Returns:
        u, [b, value].
    """
    if labels is None:
        return method.observed.mean.expand(x.shape[0], -1)
    return method.observed(labels)  # type: ignore[no-any-return]
