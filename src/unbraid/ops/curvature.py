"""How codes interact in what is made of them: the off-diagonal part of a function's second derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

TINY = 1e-10


def normalised_hessian_penalty(
    function: Callable[[Tensor], Sequence[Tensor]], z: Tensor, spread: Tensor, *, draws: int = 2, step: float = 0.1
) -> Tensor:
    """The share of the second derivatives of a function of codes that mixes two of them, summed over its outputs.

    With random signs v the variance of vᵀHv over draws is twice the sum of the squared entries of H off its diagonal;
    with standard normal v it is twice the sum of all. vᵀHv comes from central differences. Each is averaged over an
    output's values before the one is divided by the other.

    Args:
        function: from codes [b, latent] to outputs [b, …], one or more.
        z: where, [b, latent].
        spread: the unit of each latent, its standard deviation, [latent].
        draws: of v, at least 2.
        step: length of the difference, in units of the spread.

    Returns:
        [b]; each output adds some number between 0 and 1 on average.

    Reference:
        Peebles et al. 2020 (the penalty); Hsu et al. 2024 (its normalisation).

    Example:
        >>> _ = torch.manual_seed(0)
        >>> z, one = torch.ones(1, 2), torch.ones(2)
        >>> mixed = normalised_hessian_penalty(lambda z: [z[:, :1] * z[:, 1:]], z, one, draws=400)
        >>> apart = normalised_hessian_penalty(lambda z: [z.square()], z, one, draws=400)
        >>> bool(mixed > 0.8), bool(apart < 0.01)
        (True, True)
    """
    centre = function(z)

    def second_differences(direction: Tensor) -> list[Tensor]:
        moved = step * spread * direction
        ahead, behind = function(z + moved), function(z - moved)
        return [(a - 2 * c + b) / step**2 for a, c, b in zip(ahead, centre, behind, strict=True)]

    def variances(directions: Sequence[Tensor]) -> list[Tensor]:
        differences = [second_differences(direction) for direction in directions]
        return [torch.stack(drawn).var(0, correction=0).flatten(1).mean(1) for drawn in zip(*differences, strict=True)]

    signs = [torch.randint(2, z.shape, device=z.device).to(z.dtype) * 2 - 1 for _ in range(draws)]
    mixed = variances(signs)
    total = variances([torch.randn_like(z) for _ in range(draws)])
    return torch.stack([one / (all_ + TINY) for one, all_ in zip(mixed, total, strict=True)]).sum(0)
