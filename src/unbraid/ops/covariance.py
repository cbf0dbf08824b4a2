"""Moments of the aggregate posterior q(z) = E_x[q(z | x)], from the posteriors of a batch."""

from __future__ import annotations

from torch import Tensor


def covariance(samples: Tensor) -> Tensor:
    """Cov of the rows, [latent, latent], divided by their number: the moment of the batch's own distribution."""
    centred = samples - samples.mean(0)
    return centred.T @ centred / len(samples)


def aggregate_covariance(mean: Tensor, log_var: Tensor) -> Tensor:
    """Cov[z] = Cov[μ] + E[Σ] (Kumar et al. 2018, eq. 5): Σ is diagonal, so E[Σ] enters the diagonal only."""
    return covariance(mean) + log_var.exp().mean(0).diag()


def aggregate_third_moments(mean: Tensor, log_var: Tensor) -> Tensor:
    """All third central moments of q(z), [latent, latent, latent].

    With d = μ − E[μ], a Gaussian q(z | x) gives E[dᵢdⱼdₖ] + δᵢⱼ E[σᵢ²dₖ] + δᵢₖ E[σᵢ²dⱼ] + δⱼₖ E[σⱼ²dᵢ].
    """
    centred, variance, n = mean - mean.mean(0), log_var.exp(), len(mean)
    plain = (centred[:, :, None, None] * centred[:, None, :, None] * centred[:, None, None, :]).mean(0)
    spread = (centred.T @ variance / n).diag_embed(dim1=0, dim2=1)  # δᵢⱼ E[σᵢ²dₖ], [i, j, k]
    return plain + spread + spread.permute(0, 2, 1) + spread.permute(2, 1, 0)


def off_diagonal_penalty(matrix: Tensor) -> Tensor:
    """Σ over i ≠ j of the squared entries: each pair counts twice, as in the paper's sum."""
    return matrix.square().sum() - matrix.diagonal().square().sum()


def unit_diagonal_penalty(matrix: Tensor) -> Tensor:
    """Σᵢ (entryᵢᵢ − 1)²."""
    return (matrix.diagonal() - 1).square().sum()
