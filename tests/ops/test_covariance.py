"""Moments of the aggregate posterior against posteriors made by hand and against draws."""

import torch

from unbraid.ops.covariance import (
    aggregate_covariance,
    aggregate_third_moments,
    covariance,
    off_diagonal_penalty,
    unit_diagonal_penalty,
)

# Two posteriors whose moments are easy by hand: means (1, 2) and (−1, −2), variances (4, 1) and (2, 3).
MEAN = torch.tensor([[1.0, 2.0], [-1.0, -2.0]])
LOG_VAR = torch.tensor([[4.0, 1.0], [2.0, 3.0]]).log()


def test_the_covariance_of_means_is_the_one_by_hand() -> None:
    assert torch.allclose(covariance(MEAN), torch.tensor([[1.0, 2.0], [2.0, 4.0]]))


def test_expected_variances_enter_the_diagonal_only() -> None:
    expected = torch.tensor([[1.0 + 3.0, 2.0], [2.0, 4.0 + 2.0]])
    assert torch.allclose(aggregate_covariance(MEAN, LOG_VAR), expected)


def test_penalties_are_the_sums_by_hand() -> None:
    matrix = torch.tensor([[4.0, 2.0], [2.0, 6.0]])
    assert off_diagonal_penalty(matrix).item() == 2 * 2.0**2
    assert unit_diagonal_penalty(matrix).item() == 3.0**2 + 5.0**2


def test_a_symmetric_mixture_has_the_third_moments_by_hand() -> None:
    # E[d³] = 0 for both latents; E[σ₁²d₁] = (4·1 − 2·1)/2 = 1, E[σ₁²d₂] = 2, E[σ₂²d₁] = −1, E[σ₂²d₂] = −2.
    found = aggregate_third_moments(MEAN, LOG_VAR)
    assert torch.allclose(found[0, 0, 0], torch.tensor(3.0))
    assert torch.allclose(found[1, 1, 1], torch.tensor(-6.0))
    for place in ((0, 0, 1), (0, 1, 0), (1, 0, 0)):
        assert torch.allclose(found[place], torch.tensor(2.0))
    for place in ((1, 1, 0), (1, 0, 1), (0, 1, 1)):
        assert torch.allclose(found[place], torch.tensor(-1.0))


def test_third_moments_are_those_of_draws() -> None:
    torch.manual_seed(0)
    mean, log_var = torch.randn(5, 3).exp(), 0.5 * torch.randn(5, 3)
    rows = torch.randint(5, (400_000,))
    z = mean[rows] + (0.5 * log_var[rows]).exp() * torch.randn(len(rows), 3)
    d = z - z.mean(0)
    sampled = torch.einsum("ni,nj,nk->ijk", d, d, d) / len(d)
    exact = aggregate_third_moments(mean, log_var)
    assert torch.allclose(sampled, exact, atol=0.05 * exact.abs().max().item())
