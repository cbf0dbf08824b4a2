"""β-TCVAE with a factorial normalising-flow prior (Chen et al. 2018, appendix C.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from unbraid.core import Batch, DataSpec, Posterior, Terms, Update
from unbraid.methods.vae.gaussian import GaussianConfig, GaussianVAE
from unbraid.methods.vae.small_batches import small_batch_cautions
from unbraid.nets.factorial_flow import FactorialFlow
from unbraid.ops import gaussian
from unbraid.ops.gaussian import DiagonalGaussian
from unbraid.ops.total_correlation import Estimator, decompose
from unbraid.util.schema import option

QUADRATURE = 32  # points of Gauss–Hermite quadrature for the KL to a flow


@dataclass(frozen=True, kw_only=True)
class FlowBetaTCVAE(GaussianConfig):
    """β-TCVAE whose prior learns the shape of each latent; α = 0 and other γ are its ablations.

    Reference:
        Chen et al. 2018, eq. 5 with the prior of appendix C.2.

    Example:
        >>> FlowBetaTCVAE(depth=4).standard_prior
        False
    """

    name: ClassVar[str] = "beta-tcvae-flow"
    title: ClassVar[str] = "β-TCVAE with a flow prior"
    paper: ClassVar[str] = "Chen et al. 2018, C.2"
    when: ClassVar[str] = (
        "Where factors are not bell-shaped (uniform, with several peaks) and a normal prior would bend their codes."
    )
    standard_prior: ClassVar[bool] = False
    beta: float = option(6.0, "weight of the total correlation", least=0)
    alpha: float = option(1.0, "weight of the index-code mutual information", least=0)
    gamma: float = option(1.0, "weight of the dimension-wise KL", least=0)
    estimator: Estimator = option("mws", "of q(z) in the loss: mws (the paper's) or mss (unbiased before the log)")
    depth: int = option(32, "flows in a row for each latent", least=1)

    def cautions(self, observations: int) -> list[str]:
        """On batches too small for the total correlation."""
        return small_batch_cautions(self, observations, self.alpha)

    def build(self, data: DataSpec) -> FlowBetaTCVAEModel:
        """The untrained model."""
        return FlowBetaTCVAEModel(self, data)


@dataclass(frozen=True)
class GaussianUnderFlow:
    """q(z | x), Gaussian, measured against a flow prior."""

    mean: Tensor  # [b, latent]
    log_var: Tensor  # [b, latent]
    flow: FactorialFlow

    def rsample(self) -> Tensor:
        """mean + σ·ε, with gradient to both."""
        return DiagonalGaussian(self.mean, self.log_var).rsample()

    def kl_per_latent(self) -> Tensor:
        """KL to the flow by quadrature, [b, latent]."""
        nodes, weights = (torch.from_numpy(a).to(self.mean) for a in np.polynomial.hermite_e.hermegauss(QUADRATURE))
        z = self.mean[:, None] + (0.5 * self.log_var[:, None]).exp() * nodes[:, None]  # [b, node, latent]
        log_prior = self.flow.log_prob(z.flatten(0, 1)).view_as(z)
        expected = (log_prior * (weights / weights.sum())[:, None]).sum(1)
        return -0.5 * (gaussian.LOG_2PI + 1 + self.log_var) - expected


@dataclass(frozen=True)
class FlowPrior:
    """The flow prior itself, for n observations."""

    flow: FactorialFlow
    n: int

    @property
    def mean(self) -> Tensor:
        """The median of every latent: what the flow maps to zero."""
        return self.flow.inverse(torch.zeros_like(self.flow.shift[:1]).expand(self.n, -1))

    def rsample(self) -> Tensor:
        """A draw, without gradient: the flow is inverted by bisection."""
        return self.flow.inverse(torch.randn_like(self.flow.shift[:1].expand(self.n, -1)))

    def kl_per_latent(self) -> Tensor:
        """Zero: this is the prior."""
        return torch.zeros_like(self.mean)


class FlowBetaTCVAEModel(GaussianVAE):
    """Chen et al. 2018, eq. 5, with p(zⱼ) a flow that is trained on the same objective."""

    config: FlowBetaTCVAE

    def __init__(self, config: FlowBetaTCVAE, data: DataSpec) -> None:
        super().__init__(config, data)
        self.flow = FactorialFlow(config.latents, config.depth)

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | z) + α·I(z; n) + β·TC(z) + γ·Σⱼ KL[q(zⱼ) ‖ p(zⱼ)]."""
        config = self.config
        q = self.posterior(batch.x)
        z = q.rsample()
        reconstruction = self.reconstruction(z, batch.x)
        log_prior = self.flow.log_prob(z).sum(1)
        index_code, correlation, dimension_kl = decompose(q, z, log_prior, self.data.size, config.estimator)
        total = reconstruction + config.alpha * index_code + config.beta * correlation + config.gamma * dimension_kl
        return Terms(
            total,
            reconstruction=reconstruction,
            index_code=(config.alpha, index_code),
            total_correlation=(config.beta, correlation),
            dimension_kl=(config.gamma, dimension_kl),
            kl=lambda: (q.log_prob(z) - log_prior).mean(),
        )

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """q(z | x), under the key `z`, with its KL to the flow."""
        q = self.posterior(x)
        return {"z": GaussianUnderFlow(q.mean, q.log_var, self.flow)}

    def prior(self, n: int) -> dict[str, Posterior]:
        """z from the flow."""
        return {"z": FlowPrior(self.flow, n)}

    def updates(self) -> tuple[Update, ...]:
        """One step for encoder, decoder and prior."""
        return (Update("vae", self.loss, ("encoder", "decoder", "flow"), self.config.adam, self.config.batch_size),)
