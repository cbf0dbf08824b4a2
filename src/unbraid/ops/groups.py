"""Dependence between and within groups of codes, from the pairs of a minibatch (Esmaeili et al. 2019, §3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class GroupedDensity(NamedTuple):
    """Densities of samples under the aggregate posterior at three depths, each [sample]."""

    joint: Tensor  # log q(z)
    groups: Tensor  # Σ_g log q(z_g)
    single: Tensor  # Σ_g Σ_e log q(z_ge)


def grouped_density(groups: Sequence[Sequence[Tensor]], log_weights: Tensor) -> GroupedDensity:
    """log q at three depths, from log q(z_ge of sample | x of component).

    Args:
        groups: for every group the [sample, component] log-densities of each of its variables.
        log_weights: of the components in q, [sample, component].

    Returns:
        log q(z), Σ_g log q(z_g) and Σ_g Σ_e log q(z_ge), each [sample].

    Reference:
        Esmaeili et al. 2019, §3.

    Example:
        >>> pairs = torch.zeros(2, 2)  # both components alike: every density is 1
        >>> density = grouped_density([[pairs, pairs], [pairs]], torch.full((2, 2), 0.5).log())
        >>> [part.tolist() for part in density]
        [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    """

    def mixture(pairs: Tensor) -> Tensor:
        return torch.logsumexp(pairs + log_weights, dim=1)

    sums = [torch.stack(list(group)).sum(0) for group in groups]
    joint = mixture(torch.stack(sums).sum(0))
    between = torch.stack([mixture(pairs) for pairs in sums]).sum(0)
    single = torch.stack([mixture(pairs) for group in groups for pairs in group]).sum(0)
    return GroupedDensity(joint, between, single)
