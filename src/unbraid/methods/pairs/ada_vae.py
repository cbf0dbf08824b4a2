"""Ada-GVAE and Ada-ML-VAE (Locatello et al. 2020): the latents that a pair shares are given one posterior."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from unbraid.core import Batch, DataSpec, Terms, Update
from unbraid.methods.options import PairOptions
from unbraid.methods.vae.gaussian import GaussianConfig, GaussianVAE
from unbraid.ops.gaussian import DiagonalGaussian, kl
from unbraid.util.schema import option

Merge = Callable[[DiagonalGaussian, DiagonalGaussian], DiagonalGaussian]


@dataclass(frozen=True, kw_only=True)
class AdaConfig(PairOptions, GaussianConfig, ABC):
    """Options of both."""

    beta: float = option(1.0, "weight of the KL term", least=0)


@dataclass(frozen=True, kw_only=True)
class AdaGVAE(AdaConfig):
    """Ada-GVAE: a β-VAE of pairs; latents that seem not to have changed get the mean of the two posteriors.

    Use it where observations come in pairs that share something, and nobody knows what: frames of a film, pictures of
    one object (`--pairs.kind next` or `same`). Of the three methods of pairs it asks for the least care. A latent is
    taken as unchanged where δⱼ = KL[q(zⱼ | x₁) ‖ q(zⱼ | x₂)] < ½(min δ + max δ); q̃ then has the mean of both means and
    the mean of both variances.

    Reference:
        Locatello et al. 2020, section 4; averages as in Hosoya 2019 (GVAE).

    Example:
        >>> AdaGVAE(beta=4.0).pairs.kind
        'changed'
    """

    name: ClassVar[str] = "ada-gvae"
    title: ClassVar[str] = "Ada-GVAE"
    paper: ClassVar[str] = "Locatello et al. 2020"
    when: ClassVar[str] = (
        "Where observations come in pairs that share most factors (frames, views, before and after): nobody "
        "needs to say which."
    )

    def build(self, data: DataSpec) -> AdaVAEModel:
        """The untrained model."""
        return AdaVAEModel(self, data, average)


@dataclass(frozen=True, kw_only=True)
class AdaMLVAE(AdaConfig):
    """Ada-ML-VAE: a β-VAE of pairs; latents that seem not to have changed get the product of the two posteriors.

    Use it as Ada-GVAE. Unchanged latents are found in the same way; q̃ is then proportional to the product of both
    posteriors: precisions add and weigh the means, so that what both observations are sure of counts most.

    Reference:
        Locatello et al. 2020, section 4; products as in Bouchacourt et al. 2018 (ML-VAE).

    Example:
        >>> AdaMLVAE(latents=6).beta
        1.0
    """

    name: ClassVar[str] = "ada-ml-vae"
    title: ClassVar[str] = "Ada-ML-VAE"
    paper: ClassVar[str] = "Locatello et al. 2020"
    when: ClassVar[str] = "As Ada-GVAE, with products in place of means: surer codes are heeded more."

    def build(self, data: DataSpec) -> AdaVAEModel:
        """The untrained model."""
        return AdaVAEModel(self, data, product)


class AdaVAEModel(GaussianVAE):
    """Locatello et al. 2020, section 4: the β-VAE's loss of both observations, with shared posteriors."""

    config: AdaConfig

    def __init__(self, config: AdaConfig, data: DataSpec, merge: Merge) -> None:
        super().__init__(config, data)
        self.merge = merge

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | z) + β·KL[q̃(z | x) ‖ p(z)], averaged over both observations of every pair."""
        assert batch.pair is not None, "its update asks for pairs"
        x = torch.cat([batch.x, batch.pair])  # [2·b, …]
        q = self.share(self.posterior(x))
        reconstruction, divergence = self.reconstruction(q.rsample(), x), q.kl()
        total = reconstruction + self.config.beta * divergence
        return Terms(total, reconstruction=reconstruction, kl=(self.config.beta, divergence))

    def share(self, q: DiagonalGaussian) -> DiagonalGaussian:
        """The posteriors of pairs, the first of each in the first half, with one for both where a latent is shared."""
        pair = [DiagonalGaussian(*half) for half in zip(q.mean.chunk(2), q.log_var.chunk(2), strict=True)]
        merged, same = self.merge(*pair), shared_latents(*pair).repeat(2, 1)
        mean = torch.where(same, merged.mean.repeat(2, 1), q.mean)  # [2·b, latent]
        return DiagonalGaussian(mean, torch.where(same, merged.log_var.repeat(2, 1), q.log_var))

    def updates(self) -> tuple[Update, ...]:
        """One step for encoder and decoder, on pairs."""
        parts, config = ("encoder", "decoder"), self.config
        return (Update("vae", self.loss, parts, config.adam, config.batch_size, pairs=config.pairs),)


def average(one: DiagonalGaussian, two: DiagonalGaussian) -> DiagonalGaussian:
    """The Gaussian with the mean of the means and the mean of the variances.

    Example:
        >>> one = DiagonalGaussian(torch.tensor([[0.0]]), torch.tensor([[1.0]]).log())
        >>> two = DiagonalGaussian(torch.tensor([[4.0]]), torch.tensor([[3.0]]).log())
        >>> average(one, two).mean.item(), round(average(one, two).log_var.exp().item(), 4)
        (2.0, 2.0)
    """
    return DiagonalGaussian((one.mean + two.mean) / 2, ((one.log_var.exp() + two.log_var.exp()) / 2).log())


def product(one: DiagonalGaussian, two: DiagonalGaussian) -> DiagonalGaussian:
    """The Gaussian that a product of two densities is: precisions add, and weigh the means.

    Example:
        >>> one = DiagonalGaussian(torch.tensor([[0.0]]), torch.tensor([[1.0]]).log())
        >>> two = DiagonalGaussian(torch.tensor([[4.0]]), torch.tensor([[3.0]]).log())
        >>> round(product(one, two).mean.item(), 4), round(product(one, two).log_var.exp().item(), 4)
        (1.0, 0.75)
    """
    weights = (-one.log_var).exp(), (-two.log_var).exp()
    precision = weights[0] + weights[1]
    return DiagonalGaussian((weights[0] * one.mean + weights[1] * two.mean) / precision, -precision.log())


def shared_latents(one: DiagonalGaussian, two: DiagonalGaussian) -> Tensor:
    """Which latents a pair seems to share: those whose posteriors differ by less than halfway from least to most.

    Args:
        one: posteriors of the first of each pair, [b, latent].
        two: of the second.

    Returns:
        [b, latent] of booleans. No gradient flows through this choice.

    Reference:
        Locatello et al. 2020, section 4: δᵢ = KL[q(zᵢ | x₁) ‖ q(zᵢ | x₂)] < ½(maxᵢ δᵢ + minᵢ δᵢ).

    Example:
        >>> one, two = (DiagonalGaussian(torch.tensor([mean]), torch.zeros(1, 2)) for mean in ([0.0, 0.0], [0.1, 2.0]))
        >>> shared_latents(one, two).tolist()
        [[True, False]]
    """
    with torch.no_grad():
        difference = kl(one.mean, one.log_var, two.mean, two.log_var)  # [b, latent]
        lowest, highest = difference.min(1, keepdim=True).values, difference.max(1, keepdim=True).values
        return difference < (lowest + highest) / 2
