"""HFVAE (Esmaeili et al. 2019): dependence between groups of codes and within groups has weights of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar

import torch
from torch import Tensor

from unbraid.core import Adam, Batch, DataSpec, Method, Posterior, Terms, Update
from unbraid.errors import InputError
from unbraid.methods.options import NetworkOptions, ObservedNetworks, check_likelihood, network_options
from unbraid.methods.vae.small_batches import small_batch_cautions
from unbraid.nets.stacks import Encoder, decoder
from unbraid.ops import gaussian, likelihood
from unbraid.ops.categorical import Categorical, relaxed_log_prob, relaxed_log_sample
from unbraid.ops.gaussian import DiagonalGaussian
from unbraid.ops.groups import grouped_density
from unbraid.ops.total_correlation import Estimator, mixture_weights
from unbraid.util.schema import option, with_default


@dataclass(frozen=True, kw_only=True)
class HFVAE(ObservedNetworks):
    """HFVAE: groups of Gaussian codes z and, if wanted, discrete codes c, each of them a group of its own.

    Reference:
        Esmaeili et al. 2019, §3.

    Example:
        >>> HFVAE(groups=(2, 2, 6), classes=()).groups
        (2, 2, 6)
    """

    name: ClassVar[str] = "hfvae"
    title: ClassVar[str] = "HFVAE"
    paper: ClassVar[str] = "Esmaeili et al. 2019"
    when: ClassVar[str] = (
        "Where codes come in groups that may depend within and not between them, or are partly discrete."
    )
    groups: tuple[int, ...] = option((1,) * 10, "number of continuous codes in each group", least=1)
    classes: tuple[int, ...] = option((3,), "number of values of each discrete code; none for an empty list", least=2)
    alpha: float = option(1.0, "weight of the information between observations and codes", least=0)
    beta: float = option(4.0, "weight of the total correlation between groups", least=0)
    gamma: float = option(1.0, "weight of the total correlation within groups", least=0)
    estimator: Estimator = option("mws", "of q(z) in the loss: mws (the paper's) or mss (unbiased before the log)")
    temperature: float = option(0.67, "of the relaxed discrete codes", above=0)
    adam: Adam = with_default(NetworkOptions, "adam", Adam(lr=1e-3))

    def cautions(self, observations: int) -> list[str]:
        """On batches too small for the total correlation between groups."""
        return small_batch_cautions(self, observations, self.alpha)

    def build(self, data: DataSpec) -> HFVAEModel:
        """The untrained model."""
        return HFVAEModel(self, data)


class HFVAEModel(Method):
    """Esmaeili et al. 2019, §3: the ELBO with KL[q(z) ‖ p(z)] taken apart twice, between groups and within.

    With groups of one latent and no discrete codes it is β-TCVAE.
    """

    config: HFVAE

    def __init__(self, config: HFVAE, data: DataSpec) -> None:
        super().__init__()
        check_likelihood(config.likelihood, data)
        if not config.groups:
            raise InputError("hfvae needs groups of codes: name their sizes, as in --groups 2,2,6.")
        self.config, self.data = config, data
        self.latents, self.values = sum(config.groups), sum(config.classes)
        nets = network_options(config, data)
        self.encoder = Encoder(data.shape, 2 * self.latents + self.values, **nets)
        self.decoder = decoder(self.latents + self.values, data.shape, **nets)

    def posteriors(self, x: Tensor) -> tuple[DiagonalGaussian, Categorical]:
        """q(z | x) and q(c | x)."""
        parameters, logits = self.encoder(x).split((2 * self.latents, self.values), dim=1)
        q_c = Categorical(logits, self.config.classes, self.config.temperature)
        return DiagonalGaussian.from_parameters(parameters), q_c

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | z) + α·I(x; z) + β·TC(groups) + γ·Σ_g TC(within g) + Σ KL[q(z_ge) ‖ p(z_ge)]."""
        q_z, q_c = self.posteriors(batch.x)
        z = q_z.rsample()
        log_c = [relaxed_log_sample(block, self.config.temperature) for block in q_c.blocks]
        output = self.decoder(torch.cat((z, *(block.exp() for block in log_c)), dim=1))
        o = self.config
        reconstruction = likelihood.nll(o.likelihood, output, batch.x, o.scale, own_total=o.library_size)
        information, between, within, prior = self.decompose(q_z, q_c, z, log_c)
        total = (
            reconstruction
            + self.config.alpha * information
            + self.config.beta * between
            + self.config.gamma * within
            + prior
        )
        return Terms(
            total,
            reconstruction=reconstruction,
            kl=lambda: q_z.kl() + q_c.kl(),
            information=(self.config.alpha, information),
            between_groups=(self.config.beta, between),
            within_groups=(self.config.gamma, within),
            prior_kl=prior,
        )

    def decompose(
        self, q_z: DiagonalGaussian, q_c: Categorical, z: Tensor, log_c: list[Tensor]
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """I(x; z), TC between groups, TC within groups, and Σ KL to the prior of every variable."""
        temperature = self.config.temperature
        weights = mixture_weights(len(z), self.data.size, self.config.estimator, z.device)
        latents = gaussian.log_prob(z[:, None], q_z.mean[None], q_z.log_var[None]).unbind(2)  # each [sample, component]
        discrete = [
            relaxed_log_prob(sample[:, None], block[None], temperature)
            for sample, block in zip(log_c, q_c.blocks, strict=True)
        ]
        ends = accumulate(self.config.groups)
        groups = [latents[end - size : end] for size, end in zip(self.config.groups, ends, strict=True)]
        density = grouped_density([*groups, *((pairs,) for pairs in discrete)], weights)
        own = q_z.log_prob(z) + sum(pairs.diagonal() for pairs in discrete)
        uniform = sum(relaxed_log_prob(sample, torch.zeros_like(sample), temperature) for sample in log_c)
        prior = gaussian.standard_log_prob(z).sum(1) + uniform
        return (
            (own - density.joint).mean(),
            (density.joint - density.groups).mean(),
            (density.groups - density.single).mean(),
            (density.single - prior).mean(),
        )

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """q(z | x) and, if there are discrete codes, q(c | x)."""
        q_z, q_c = self.posteriors(x)
        return {"z": q_z, "c": q_c} if self.values else {"z": q_z}

    def decode(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """The mean of p(x | z, c)."""
        return likelihood.mean(self.config.likelihood, self.decoder(torch.cat(list(codes.values()), dim=1)))

    def prior(self, n: int) -> dict[str, Posterior]:
        """z ~ N(0, 1), c uniform."""
        like = next(self.parameters())
        z = DiagonalGaussian.standard(n, self.latents, like)
        c = Categorical(like.new_zeros(n, self.values), self.config.classes, self.config.temperature)
        return {"z": z, "c": c} if self.values else {"z": z}

    def updates(self) -> tuple[Update, ...]:
        """One step for encoder and decoder."""
        return (Update("vae", self.loss, ("encoder", "decoder"), self.config.adam, self.config.batch_size),)
