"""Fully connected networks for wide vectors that begin as PCA, and learn what is not linear beside it.

Embeddings of large models have hundreds of values and tens of directions that matter. A network from random weights
needs long to find what a principal component analysis has at once. Here the linear part is a part of the network: the
encoder's last layer also sees the observation itself, and the decoder's first layer also makes one, to which the rest
adds. Both parts begin at the optimum of a linear VAE (Lucas et al. 2019: probabilistic PCA), the others at zero.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

ROWS = 20_000  # observations that the principal components are taken from, at most
LEAST = 1e-6  # in place of a variance of 0


class WithInput(nn.Module):
    """Features of a vector and the vector itself behind them, [b, feature + value].

    Example:
        >>> WithInput(nn.Linear(5, 3))(torch.zeros(2, 5)).shape
        torch.Size([2, 8])
    """

    def __init__(self, trunk: nn.Module) -> None:
        super().__init__()
        self.trunk = trunk

    def forward(self, x: Tensor) -> Tensor:
        """Features first."""
        return torch.cat((self.trunk(x), x), dim=1)


class PlusRest(nn.Module):
    """[b, unit + value] to [b, value]: what is made of the units, and the rest added to it.

    Args:
        units: how many values the layers see.
        layers: a network from them to as many values as the rest has.

    Example:
        >>> PlusRest(3, nn.Sequential(nn.Linear(3, 5)))(torch.zeros(2, 8)).shape
        torch.Size([2, 5])
    """

    def __init__(self, units: int, layers: nn.Sequential) -> None:
        super().__init__()
        self.units, self.layers = units, layers

    def forward(self, both: Tensor) -> Tensor:
        """Layers of the first units, plus what follows them."""
        return self.layers(both[:, : self.units]) + both[:, self.units :]  # type: ignore[no-any-return]


@torch.no_grad()
def start_as_pca(head: nn.Linear, decoder: nn.Sequential, x: Iterator[Tensor], beta: float = 1.0) -> None:
    """Set the linear part to the optimum of a linear VAE on these observations, and let the rest begin at zero.

    With the eigenvalues λⱼ and directions vⱼ of the covariance, σ² the mean of the λ that no code has, and wⱼ² the part
    of λⱼ beyond β·σ² (none: the code begins unused):
    decoder w = vⱼ·wⱼ; encoder: mean wⱼ / (wⱼ² + σ²·β)·vⱼᵀ(x − m) and variance σ²·β / (wⱼ² + σ²·β).

    Args:
        head: the encoder's last layer, of [feature, value] to means (and log-variances, if it makes these).
        decoder: a layer of codes to [unit, value], and `PlusRest`.
        x: batches of observations, [b, value].
        beta: weight of the KL term.

    Reference:
        Tipping & Bishop 1999; Lucas et al. 2019.
    """
    first, rest = decoder[0], decoder[1]
    assert isinstance(first, nn.Linear)
    assert isinstance(rest, PlusRest)
    last = rest.layers[-1]
    assert isinstance(last, nn.Linear)
    centre, values, directions = principal(x, first.in_features)
    latents, width = first.in_features, directions.shape[1]
    left = max(width - latents, 1)
    noise = beta * max(float(values[latents:].sum()) / left, LEAST)
    scale = (values[:latents] - noise).clamp(min=0).sqrt()
    total = scale.square() + noise
    head.weight.zero_()
    head.bias.zero_()
    encoding = (scale / total)[:, None] * directions[:latents]  # [latent, value]
    head.weight[:latents, -width:] = encoding.to(head.weight)
    head.bias[:latents] = -(encoding @ centre).to(head.bias)
    if head.out_features == 2 * latents:
        head.bias[latents:] = (noise / total).log().to(head.bias)
    first.weight[-width:] = (scale[:, None] * directions[:latents]).T.to(first.weight)
    first.bias[-width:] = centre.to(first.bias)
    last.weight.zero_()
    last.bias.zero_()


def principal(x: Iterator[Tensor], least: int) -> tuple[Tensor, Tensor, Tensor]:
    """The mean, the eigenvalues of the covariance, largest first, and their directions as rows, of up to 20,000 rows.

    Args:
        x: batches, [b, value].
        least: how many eigenvalues are wanted at least; those that there are not are 0.
    """
    rows: list[Tensor] = []
    while sum(map(len, rows)) < ROWS and (batch := next(x, None)) is not None:
        rows.append(batch.double())
    seen = torch.cat(rows)
    centre = seen.mean(0)
    values, directions = torch.linalg.eigh((seen - centre).T @ (seen - centre) / len(seen))
    values, directions = values.flip(0).clamp(min=0), directions.T.flip(0)
    missing = least - len(values)
    if missing > 0:
        values = torch.cat((values, values.new_zeros(missing)))
        directions = torch.cat((directions, directions.new_zeros(missing, directions.shape[1])))
    return centre, values, directions
