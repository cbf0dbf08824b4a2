"""Moments of the aggregate posterior q(z) = E_x[q(z | x)], from the posteriors of a batch."""

from __future__ import annotations

from torch import Tensor

from unbraid.ops.precision import no_half


def covariance(samples: Tensor) -> Tensor:
    """The covariance of rows, divided by their number: the moment of the batch's own distribution.

    Args:
        samples: [n, latent].

    Returns:
        [latent, latent].

    Example:
        >>> import torch
        >>> covariance(torch.tensor([[1.0, 0.0], [3.0, 2.0]])).tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """
    centred = samples - samples.mean(0)
    with no_half(samples.device):
        return centred.T @ centred / len(samples)


def aggregate_covariance(mean: Tensor, log_var: Tensor) -> Tensor:
    """The covariance of codes z over a batch: Cov[z] = Cov[μ] + E[Σ]. Σ is diagonal, so E[Σ] enters the diagonal only.

    Args:
        mean: of q(z | x), [b, latent].
        log_var: of q(z | x), [b, latent].

    Returns:
        [latent, latent].

    Reference:
        Kumar et al. 2018, eq. 5.

    Example:
        >>> import torch
        >>> aggregate_covariance(torch.tensor([[1.0, 0.0], [3.0, 2.0]]), torch.zeros(2, 2)).tolist()
        [[2.0, 1.0], [1.0, 2.0]]
    """
    return covariance(mean) + log_var.exp().mean(0).diag()


def aggregate_third_moments(mean: Tensor, log_var: Tensor) -> Tensor:
    """All third central moments of q(z), the mixture of a batch's posteriors.

    With d = μ − E[μ], a Gaussian q(z | x) gives E[dᵢdⱼdₖ] + δᵢⱼ E[σᵢ²dₖ] + δᵢₖ E[σᵢ²dⱼ] + δⱼₖ E[σⱼ²dᵢ].

    Args:
        mean: of q(z | x), [b, latent].
        log_var: of q(z | x), [b, latent].

    Returns:
        [latent, latent, latent].

    Example:
        >>> import torch
        >>> mean = torch.tensor([[-1.0], [1.0]])
        >>> aggregate_third_moments(mean, torch.tensor([[1.0], [3.0]]).log()).tolist()  # 3·E[σ²d] = 3·(3 − 1)/2
        [[[3.0]]]
    """
    centred, variance, n = mean - mean.mean(0), log_var.exp(), len(mean)
    plain = (centred[:, :, None, None] * centred[:, None, :, None] * centred[:, None, None, :]).mean(0)
    with no_half(mean.device):
        spread = (centred.T @ variance / n).diag_embed(dim1=0, dim2=1)  # δᵢⱼ E[σᵢ²dₖ], [i, j, k]
    return plain + spread + spread.permute(0, 2, 1) + spread.permute(2, 1, 0)


def covariance_noise(latents: int, batch: int) -> tuple[float, float]:
    """What the squared distances of a batch's covariance from the identity sum to for independent normal codes.

    A covariance of a sample is off by a variance of 1/n, a variance by 2/n.

    Args:
        latents: number of codes, D.
        batch: observations, n.

    Returns:
        Off the diagonal D·(D − 1)/n, and on it 2·D/n: what is expected, in first order.

    Example:
        >>> covariance_noise(10, 400)
        (0.225, 0.05)
    """
    return latents * (latents - 1) / batch, 2 * latents / batch


def third_moment_noise(latents: int, batch: int) -> float:
    """What the squared third central moments of independent standard normal codes sum to in a batch, expected.

    All of them are 0 in truth. Of a sample each is off by a variance of 1/n (three latents), 2/n (two) or 6/n (one).

    Args:
        latents: number of codes, D.
        batch: observations, n.

    Returns:
        D·(D + 1)·(D + 2) / n.

    Example:
        >>> third_moment_noise(10, 400)
        3.3
    """
    return latents * (latents + 1) * (latents + 2) / batch


def off_diagonal_penalty(matrix: Tensor) -> Tensor:
    """Σ over i ≠ j of the squared entries: each pair counts twice, as in the paper's sum.

    Args:
        matrix: [latent, latent].

    Returns:
        One number.

    Reference:
        Kumar et al. 2018, eqs. 6 and 7.

    Example:
        >>> import torch
        >>> off_diagonal_penalty(torch.tensor([[5.0, 1.0], [2.0, 7.0]])).item()
        5.0
    """
    return matrix.square().sum() - matrix.diagonal().square().sum()


def unit_diagonal_penalty(matrix: Tensor) -> Tensor:
    """Σᵢ (entryᵢᵢ − 1)², of a matrix [latent, latent]: how far variances are from one (Kumar et al. 2018, eqs. 6, 7).

    Example:
        >>> import torch
        >>> unit_diagonal_penalty(torch.tensor([[3.0, 9.0], [9.0, 2.0]])).item()
        5.0
    """
    return (matrix.diagonal() - 1).square().sum()
