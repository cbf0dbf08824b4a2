"""SlowVAE (Klindt et al. 2021): codes move seldom and little from one observation of a pair to the other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from unbraid.core import Batch, DataSpec, Terms, Update
from unbraid.data.pairs import Pairs
from unbraid.methods.options import PairOptions
from unbraid.methods.vae.gaussian import GaussianConfig, GaussianVAE
from unbraid.ops.gaussian import LOG_2PI, DiagonalGaussian
from unbraid.util.schema import option, with_default


@dataclass(frozen=True, kw_only=True)
class SlowVAE(PairOptions, GaussianConfig):
    """SlowVAE: a VAE whose prior of the second code of a pair is a Laplace distribution around the first.

    Use it where few factors change at a time: consecutive frames (`--pairs.kind next`), or `--pairs.changed 1`. Pairs
    in which every factor takes a short step tell it little, and it wants some three times the steps of Ada-GVAE.

    Reference:
        The objective of Klindt et al. 2021, with the transition taken both ways as in their experiments.

    Example:
        >>> SlowVAE(rate=6.0).gamma
        10.0
    """

    name: ClassVar[str] = "slow-vae"
    title: ClassVar[str] = "SlowVAE"
    paper: ClassVar[str] = "Klindt et al. 2021"
    when: ClassVar[str] = (
        "On sequences in which few factors change at a time, by small steps: frames of a film, tracks, traces."
    )
    beta: float = option(1.0, "weight of the KL to the standard normal", least=0)
    gamma: float = option(10.0, "weight of the KL to the transition", least=0)
    rate: float = option(6.0, "of the Laplace transition: one over its width", above=0)
    pairs: Pairs = with_default(PairOptions, "pairs", Pairs(kind="steps"))

    def build(self, data: DataSpec) -> SlowVAEModel:
        """The untrained model."""
        return SlowVAEModel(self, data)


class SlowVAEModel(GaussianVAE):
    """The objective of Klindt et al. 2021: the ELBO of a pair, halved so that it counts for one observation."""

    config: SlowVAE

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | z) + ½β·KL[q(z | x) ‖ N(0, 1)] + ½γ·KL[q(z | x) ‖ Laplace(μ′, λ)], averaged over both of a pair.

        Of a pair the first has the standard normal as its prior, the second the transition; either may be the first.
        """
        assert batch.pair is not None, "its update asks for pairs"
        x = torch.cat([batch.x, batch.pair])  # [2·b, …]
        q, reconstruction, divergence = self.elbo(x)
        other = q.mean.roll(len(batch.x), 0)  # the mean of each observation's partner
        transition = laplace_kl(q, other, self.config.rate).sum(1).mean()
        beta, gamma = self.config.beta, self.config.gamma
        total = reconstruction + 0.5 * beta * divergence + 0.5 * gamma * transition
        halves = {"kl": (0.5 * beta, divergence), "transition": (0.5 * gamma, transition)}
        return Terms(total, reconstruction=reconstruction, **halves)

    def updates(self) -> tuple[Update, ...]:
        """One step for encoder and decoder, on pairs."""
        parts, config = ("encoder", "decoder"), self.config
        return (Update("vae", self.loss, parts, config.adam, config.batch_size, pairs=config.pairs),)


def laplace_kl(q: DiagonalGaussian, centre: Tensor, rate: float) -> Tensor:
    """KL[N(μ, σ²) ‖ Laplace(centre, 1/rate)], for each latent, in closed form.

    E|z − centre| of a Gaussian is that of a folded normal: σ·√(2/π)·exp(−d²/2σ²) + d·(1 − 2Φ(−d/σ)), d = μ − centre.

    Args:
        q: the Gaussians, [b, latent].
        centre: of the Laplace distributions, [b, latent].
        rate: one over their width.

    Returns:
        [b, latent], in nats.

    Example:
        >>> q = DiagonalGaussian(torch.zeros(1, 1), torch.zeros(1, 1))
        >>> round(laplace_kl(q, torch.zeros(1, 1), 1.0).item(), 4)  # log 2 + √(2/π) − ½·log 2πe
        0.0721
    """
    sigma, distance = (0.5 * q.log_var).exp(), q.mean - centre
    ratio = distance / sigma
    folded = sigma * math.sqrt(2 / math.pi) * (-0.5 * ratio.square()).exp() + distance * torch.erf(ratio / math.sqrt(2))
    cross_entropy = rate * folded - math.log(rate / 2)
    return cross_entropy - 0.5 * (q.log_var + LOG_2PI + 1)
