"""A Gaussian likelihood whose one standard deviation is always the best one for the batch (Rybkin et al. 2021)."""

from __future__ import annotations

from torch import Tensor

from unbraid.ops.gaussian import LOG_2PI

FLOOR = 1e-8  # of the mean squared error: a perfect reconstruction must not have an infinite likelihood


def optimal_gaussian_nll(mean: Tensor, x: Tensor) -> Tensor:
    """−log N(x; mean, σ²) at the σ² that makes it least, the mean squared error of the whole batch.

    Summed over the values of an observation and averaged over the batch: ½·D·(log σ² + 1 + log 2π) for D values.
    """
    return 0.5 * x[0].numel() * (optimal_variance(x - mean).log() + 1 + LOG_2PI)


def optimal_variance(error: Tensor) -> Tensor:
    """The σ² under which these errors are likeliest: their mean square."""
    return error.square().mean().clamp_min(FLOOR)
