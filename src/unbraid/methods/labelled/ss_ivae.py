"""SS-IVAE and SS-IDVAE (Mita et al. 2021, appendix C): u is guessed where labels are missing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from torch import Tensor

from unbraid.core import Batch, DataSpec, Terms, Update
from unbraid.methods.labelled.conditional import ConditionalConfig, ConditionalVAE, kl_rows
from unbraid.methods.labelled.idvae import DoubleConfig, image_rows, label_decoder, prior_rows
from unbraid.methods.options import network_options
from unbraid.nets.frozen import frozen
from unbraid.nets.observed import LabelGuess
from unbraid.ops.gaussian import DiagonalGaussian
from unbraid.ops.masked import mean_where
from unbraid.util.schema import option


@dataclass(frozen=True, kw_only=True)
class SSIVAE(ConditionalConfig):
    """SS-IVAE: IVAE where few observations are labelled; q(u | x) guesses the rest.

    Reference:
        Mita et al. 2021, eqs. 21 to 23, over eq. 10.

    Example:
        >>> SSIVAE(alpha=5.0).alpha
        5.0
    """

    name: ClassVar[str] = "ss-ivae"
    title: ClassVar[str] = "SS-IVAE"
    paper: ClassVar[str] = "Mita et al. 2021, C"
    when: ClassVar[str] = "As IVAE, where few observations are labelled: the other labels are guessed."
    alpha: float = option(1.0, "weight of the supervised term −log q(u | x)", least=0)

    def build(self, data: DataSpec) -> SSIVAEModel:
        """The untrained model."""
        return SSIVAEModel(self, data)


@dataclass(frozen=True, kw_only=True)
class SSIDVAE(DoubleConfig):
    """SS-IDVAE: IDVAE where few observations are labelled; q(u | x) guesses the rest.

    Reference:
        Mita et al. 2021, eqs. 21 to 23, over eq. 17.

    Example:
        >>> SSIDVAE().label_scale
        0.1
    """

    name: ClassVar[str] = "ss-idvae"
    title: ClassVar[str] = "SS-IDVAE"
    paper: ClassVar[str] = "Mita et al. 2021, C"
    when: ClassVar[str] = "As IDVAE, where few observations are labelled: the other labels are guessed."
    alpha: float = option(1.0, "weight of the supervised term −log q(u | x)", least=0)

    def build(self, data: DataSpec) -> SSIDVAEModel:
        """The untrained model."""
        return SSIDVAEModel(self, data)


class SemiSupervised(ConditionalVAE, ABC):
    """Eqs. 21–23 and the third term below them, over any bound on log p(x, u).

    Half of each batch are labelled observations, and labelled and unlabelled ones are averaged apart, so that both
    sums of eq. 21 weigh alike. Eq. 23 prints the entropy with a minus sign; the bound of Kingma et al. 2014, which it
    follows, has a plus, and so has this.
    """

    def __init__(self, config: SSIVAE | SSIDVAE, data: DataSpec) -> None:
        super().__init__(config, data)
        self.alpha, self.beta = config.alpha, config.beta
        self.guess = LabelGuess(self.observed, data, **network_options(config, data))

    @abstractmethod
    def bound_rows(self, x: Tensor, u: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """−L_labelled(x, u) [b], and its terms for the log, without their weights."""

    def loss(self, batch: Batch, step: int) -> Terms:
        """−Σ L(x, u) over labelled − Σ (E_q(u|x)[L(x, u)] + H(q(u | x))) over unlabelled − α·Σ log q(u | x)."""
        missing = batch.factors.isnan()  # [b, factor]
        labelled = ~missing.any(1)
        q_u = self.guess(batch.x)
        u = self.observed(batch.factors, instead=q_u.rsample())
        bound, terms = self.bound_rows(batch.x, u)
        entropy = (q_u.entropy() * missing).sum(1)  # of the labels that had to be guessed
        log_q = (q_u.log_prob(u) * ~missing).sum(1)
        labelled_loss = mean_where(bound, labelled)
        unlabelled_loss = mean_where(bound - entropy, ~labelled)
        supervised = -mean_where(log_q, ~missing.all(1))
        total = labelled_loss + unlabelled_loss + self.alpha * supervised
        logged = {name: partial(Tensor.mean, value) for name, value in terms.items()}
        guessing = (self.alpha, supervised)
        return Terms(total, labelled=labelled_loss, unlabelled=unlabelled_loss, supervised=guessing, **logged)

    def auxiliary(self, x: Tensor, labels: Tensor | None) -> Tensor:
        """The labels; where there are none, what q(u | x) takes them to be."""
        guessed = self.guess(x).mean
        return guessed if labels is None else self.observed(labels, instead=guessed)  # type: ignore[no-any-return]


class SSIVAEModel(SemiSupervised):
    """The semi-supervised form of eq. 10; p(u) is flat."""

    config: SSIVAE

    def bound_rows(self, x: Tensor, u: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """−log p(x | z) + β·KL[q(z | x, u) ‖ p(z | u)]."""
        q = self.posterior(x, u)
        kl = kl_rows(q, self.conditional_prior(u))
        reconstruction = self.reconstruction_rows(q.rsample(), x)
        return reconstruction + self.beta * kl, {"reconstruction": reconstruction, "kl": kl}

    def updates(self) -> tuple[Update, ...]:
        """One step for everything."""
        trains = ("encoder", "decoder", "prior_encoder", "guess")
        return (Update("vae", self.loss, trains, self.config.adam, self.config.batch_size, stream="half-labelled"),)


class SSIDVAEModel(SemiSupervised):
    """The semi-supervised form of eq. 17."""

    config: SSIDVAE

    def __init__(self, config: SSIDVAE, data: DataSpec) -> None:
        super().__init__(config, data)
        self.prior_decoder = label_decoder(self, config)

    def bound_rows(self, x: Tensor, u: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """−L_IDVAE and its four terms. The prior's weights are held fixed; a guessed u moves towards what is likely."""
        reconstruction, kl = image_rows(self, x, u)
        q = DiagonalGaussian.from_parameters(frozen(self.prior_encoder, u))
        label, label_kl = prior_rows(q, partial(frozen, self.prior_decoder), u, self.config.label_scale)
        bound = reconstruction + self.beta * kl + label + label_kl
        return bound, {"reconstruction": reconstruction, "kl": kl, "label": label, "label_kl": label_kl}

    def prior_loss(self, batch: Batch, step: int) -> Terms:
        """−log p(u | z) + KL[q(z | u) ‖ p(z)] (eq. 16), for known and guessed labels."""
        u = self.observed(batch.factors, instead=self.guess(batch.x).rsample().detach())
        label, kl = prior_rows(self.conditional_prior(u), self.prior_decoder, u, self.config.label_scale)
        labelled = ~batch.factors.isnan().any(1)
        known, guessed = mean_where(label + kl, labelled), mean_where(label + kl, ~labelled)
        return Terms(known + guessed, labelled=known, unlabelled=guessed, reconstruction=label.mean, kl=kl.mean)

    def updates(self) -> tuple[Update, ...]:
        """The VAE over u, then the rest."""
        c, prior, image = self.config, ("prior_encoder", "prior_decoder"), ("encoder", "decoder", "guess")
        return (
            Update("prior", self.prior_loss, prior, c.prior_adam, c.batch_size, stream="half-labelled"),
            Update("image", self.loss, image, c.adam, c.batch_size, stream="half-labelled"),
        )
