"""Supervised Guided-VAE (Ding et al. 2020): one latent predicts each label, and the other latents must not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.core import Adam, Batch, DataSpec, Terms, Update
from unbraid.errors import InputError
from unbraid.methods.vae.gaussian import GaussianConfig, GaussianVAE
from unbraid.nets.critic import SLOPE
from unbraid.util.schema import option

JUDGE_UNITS = 32  # of the classifiers of latents, in the authors' code


@dataclass(frozen=True, kw_only=True)
class SupervisedGuidedVAE(GaussianConfig):
    """Supervised Guided-VAE: latent t tells label t, and the other latents do not.

    Reference:
        Ding et al. 2020, §3.3.

    Example:
        >>> SupervisedGuidedVAE().needs_complete_labels
        True
    """

    name: ClassVar[str] = "guided-vae-supervised"
    title: ClassVar[str] = "Supervised Guided-VAE"
    paper: ClassVar[str] = "Ding et al. 2020"
    when: ClassVar[str] = "Where all labels are there, one latent is to tell each, and no other latent may."
    uses_labels: ClassVar[bool] = True
    needs_complete_labels: ClassVar[bool] = True
    label_weight: float = option(1.0, "weight of excitation and inhibition", least=0)
    judge_adam: Adam = option(Adam(), "optimiser of the inhibiting classifiers")

    def build(self, data: DataSpec) -> SupervisedGuidedVAEModel:
        """The untrained model."""
        return SupervisedGuidedVAEModel(self, data)


class SupervisedGuidedVAEModel(GaussianVAE):
    """Ding et al. 2020, §3.3. Labels are those of the visible factors, in their order."""

    config: SupervisedGuidedVAE

    def __init__(self, config: SupervisedGuidedVAE, data: DataSpec) -> None:
        super().__init__(config, data)
        check_labels(config, data)
        self.config = config
        sizes = [factor.size for factor in data.factors]
        self.exciting = nn.ModuleList(judge(1, size) for size in sizes)
        self.inhibiting = nn.ModuleList(judge(config.latents - 1, size) for size in sizes)

    def vae_loss(self, batch: Batch, step: int) -> Terms:
        """−ELBO."""
        _, reconstruction, kl = self.elbo(batch.x)
        return Terms(reconstruction + kl, reconstruction=reconstruction, kl=kl)

    def excitation_loss(self, batch: Batch, step: int) -> Terms:
        """−log p(label t | z_t), and the rest must leave the inhibiting classifier at uniform odds.

        The paper lets the encoder minimise that classifier's likelihood; uniform targets, as in the authors' code, have
        the same optimum and a bounded loss.
        """
        z = self.posterior(batch.x).rsample()
        excited = [F.cross_entropy(net(z[:, t : t + 1]), label(batch, t)) for t, net in enumerate(self.exciting)]
        doubt = [-F.log_softmax(net(without(z, t)), dim=1).mean() for t, net in enumerate(self.inhibiting)]
        excitation, inhibition = torch.stack(excited).sum(), torch.stack(doubt).sum()
        weight = self.config.label_weight
        total = weight * (excitation + inhibition)
        return Terms(total, excitation=(weight, excitation), inhibition=(weight, inhibition))

    def inhibition_loss(self, batch: Batch, step: int) -> Terms:
        """The inhibiting classifiers look for label t in all latents but t."""
        with torch.no_grad():  # the encoder is the other updates'
            z = self.posterior(batch.x).rsample()
        losses = [F.cross_entropy(net(without(z, t)), label(batch, t)) for t, net in enumerate(self.inhibiting)]
        return Terms(torch.stack(losses).sum())

    def updates(self) -> tuple[Update, ...]:
        """The VAE on all observations; on labelled ones a step for the encoder, then one for its adversaries."""
        config = self.config
        labelled = partial(Update, batch_size=config.batch_size, stream="labelled")
        return (
            Update("vae", self.vae_loss, ("encoder", "decoder"), config.adam, config.batch_size),
            labelled("excitation", self.excitation_loss, ("encoder", "exciting"), config.adam),
            labelled("inhibition", self.inhibition_loss, ("inhibiting",), config.judge_adam),
        )


def judge(inputs: int, classes: int) -> nn.Sequential:
    """A small classifier of latents.

    Example:
        >>> judge(9, classes=4)(torch.randn(2, 9)).shape
        torch.Size([2, 4])
    """
    return nn.Sequential(
        nn.Linear(inputs, JUDGE_UNITS),
        nn.LeakyReLU(SLOPE),
        nn.Linear(JUDGE_UNITS, JUDGE_UNITS),
        nn.LeakyReLU(SLOPE),
        nn.Linear(JUDGE_UNITS, classes),
    )


def label(batch: Batch, factor: int) -> Tensor:
    """A factor's labels as class numbers."""
    return batch.factors[:, factor].long()


def without(z: Tensor, latent: int) -> Tensor:
    """All latents but one.

    Example:
        >>> without(torch.tensor([[1.0, 2.0, 3.0]]), 1).tolist()
        [[1.0, 3.0]]
    """
    return torch.cat((z[:, :latent], z[:, latent + 1 :]), dim=1)


def check_labels(config: SupervisedGuidedVAE, data: DataSpec) -> None:
    """Refuse labels that are missing, continuous, or as many as the latents."""
    if not data.factors:
        raise InputError(f"{config.name} learns from labels; name labelled factors with --label-factors.")
    continuous = [factor.name for factor in data.factors if not factor.size]
    if continuous:
        raise InputError(f"{config.name} needs discrete labels; leave out {', '.join(continuous)} (--label-factors).")
    if len(data.factors) >= config.latents:
        raise InputError(f"{config.name}: {len(data.factors)} labels need --latents {len(data.factors) + 1} or more.")
