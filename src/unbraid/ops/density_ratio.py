"""The density-ratio trick: a classifier between two sets of samples knows the ratio of their densities."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from unbraid.ops.precision import at_least_single


def shuffle_each_dimension(z: Tensor) -> Tensor:
    """Permute every latent across the batch on its own: draws from ∏ⱼ q(zⱼ).

    Args:
        z: draws from q(z), [b, latent].

    Returns:
        The same values, each column in an order of its own.

    Reference:
        Kim & Mnih 2018, algorithm 1.

    Example:
        >>> z = torch.arange(6.0).view(3, 2)
        >>> sorted(shuffle_each_dimension(z)[:, 1].tolist())
        [1.0, 3.0, 5.0]
    """
    return z.gather(0, torch.rand_like(z).argsort(dim=0))


def classification_loss(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """The cross-entropy of a critic that tells samples of two densities apart, and its accuracy.

    At the minimum the critic's output is log p₁(z)/p₂(z), so its mean over samples of the first is KL[p₁ ‖ p₂].

    Args:
        first: the critic's log-ratios for samples of the first density, [b].
        second: those for samples of the second density, [b].

    Returns:
        The loss and, without gradient, the share of samples on the right side; one number each.

    Reference:
        Kim & Mnih 2018, eq. 3.

    Example:
        >>> loss, accuracy = classification_loss(torch.tensor([2.0, -1.0]), torch.tensor([-3.0, -1.0]))
        >>> round(loss.item(), 3), accuracy.item()
        (0.451, 0.75)
    """
    first, second = at_least_single(first), at_least_single(second)
    loss = 0.5 * (F.softplus(-first).mean() + F.softplus(second).mean())
    accuracy = 0.5 * ((first > 0).float().mean() + (second < 0).float().mean())
    return loss, accuracy.detach()


def mistaken_loss(log_ratios: Tensor) -> Tensor:
    """−log D of what a generator made: least where the critic takes it for the first density. It does not saturate.

    Args:
        log_ratios: the critic's, for samples of the generator, [b].

    Returns:
        The mean over samples.

    Example:
        >>> round(mistaken_loss(torch.tensor([0.0, 0.0])).item(), 3)
        0.693
    """
    return F.softplus(-at_least_single(log_ratios)).mean()
