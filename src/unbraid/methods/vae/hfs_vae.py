"""HFS (Roth et al. 2023): the support of the codes is to be a box, whatever correlations there are within it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from unbraid.core import Batch, DataSpec, Terms, Update
from unbraid.methods.vae.gaussian import GaussianConfig, GaussianVAE
from unbraid.util.schema import option


@dataclass(frozen=True, kw_only=True)
class HFSVAE(GaussianConfig):
    """β-VAE with a Hausdorff factorised support: all combinations of the codes' values must be near to some codes.

    Use it for factors that go together in the data and not elsewhere: independence would be wrong there, while a
    support without holes is not. Batches should be of 64 or more: the support is that of a batch.

    Reference:
        Roth et al. 2023; the guard of the scale is per latent over the batch.

    Example:
        >>> HFSVAE(beta=0.0, gamma=100.0).combinations
        100
    """

    name: ClassVar[str] = "hfs-vae"
    title: ClassVar[str] = "HFS"
    paper: ClassVar[str] = "Roth et al. 2023"
    when: ClassVar[str] = (
        "Where factors are correlated in the data: independence would be wrong there, while a support "
        "without holes is not."
    )
    beta: float = option(1.0, "weight of the KL term", least=0)
    gamma: float = option(100.0, "weight of the distance to a factorised support", least=0)
    scale_guard: float = option(1.0, "weight of codes whose standard deviation falls below 1", least=0)
    pairs_of_latents: int = option(25, "pairs of latents that are looked at in a step, at most", least=1)
    combinations: int = option(100, "combinations of values that are drawn for each pair", least=1)

    def build(self, data: DataSpec) -> HFSVAEModel:
        """The untrained model."""
        return HFSVAEModel(self, data)


class HFSVAEModel(GaussianVAE):
    """Roth et al. 2023, with pairs of latents."""

    config: HFSVAE

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | z) + β·KL + γ·Σ over pairs of max over combinations of min over codes of ‖·‖² + δ·Σⱼ [1 − σⱼ]₊."""
        q, reconstruction, divergence = self.elbo(batch.x)
        config = self.config
        support = support_distance(q.mean, config.pairs_of_latents, config.combinations)
        # Codes that shrink to a point would have a factorised support too.
        scale = (1 - (q.mean.var(0, correction=0) + 1e-6).sqrt()).relu().sum()
        total = reconstruction + config.beta * divergence + config.gamma * support + config.scale_guard * scale
        return Terms(
            total,
            reconstruction=reconstruction,
            kl=(config.beta, divergence),
            support=(config.gamma, support),
            scale=(config.scale_guard, scale),
        )

    def updates(self) -> tuple[Update, ...]:
        """One step for encoder and decoder."""
        return (Update("vae", self.loss, ("encoder", "decoder"), self.config.adam, self.config.batch_size),)


def support_distance(codes: Tensor, pairs: int, combinations: int) -> Tensor:
    """How far the worst combination of two codes' values lies from any code of the batch, summed over pairs of latents.

    Args:
        codes: [b, latent].
        pairs: how many pairs of latents are drawn, at most all.
        combinations: how many are drawn for each pair: one row's value of the first latent, another's of the second.

    Returns:
        One number, a sum of squared distances. The gradient flows to both sides: without it training diverges.

    Reference:
        Roth et al. 2023: the directed Hausdorff distance from the factorised support to the support.

    Example:
        >>> corners = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> support_distance(corners, pairs=1, combinations=50).item(), support_distance(corners[1:3], 1, 50).item()
        (0.0, 1.0)
    """
    latents = codes.shape[1]
    if latents < 2:
        return codes.new_zeros(())
    first, second = torch.triu_indices(latents, latents, offset=1, device=codes.device)
    chosen = torch.randperm(len(first), device=codes.device)[:pairs]
    both = torch.stack([codes[:, first[chosen]], codes[:, second[chosen]]], dim=2)  # [b, pair, 2]
    rows = torch.randint(len(codes), (combinations, len(chosen), 2), device=codes.device)
    combined = both.gather(0, rows)  # [combination, pair, 2]
    distances = (combined[:, None] - both[None]).square().sum(3)  # [combination, b, pair]
    return distances.amin(1).amax(0).sum()
