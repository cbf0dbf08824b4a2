"""Closed forms against Monte Carlo and torch's own distributions."""

import math
from typing import Literal

import pytest
import torch
from torch import distributions as D

from unbraid.errors import InputError
from unbraid.ops import gaussian, likelihood
from unbraid.ops.gaussian import noise_like
from unbraid.ops.schedules import linear


def test_kl_to_any_gaussian_is_torchs() -> None:
    torch.manual_seed(0)
    mean, log_var, prior_mean, prior_log_var = torch.randn(4, 5, 3)
    ours = gaussian.kl(mean, log_var, prior_mean, prior_log_var)
    one, two = D.Normal(mean, (log_var / 2).exp()), D.Normal(prior_mean, (prior_log_var / 2).exp())
    torch.testing.assert_close(ours, D.kl_divergence(one, two))


def test_kl_is_summed_over_latents_and_averaged_over_the_batch() -> None:
    q = gaussian.DiagonalGaussian(torch.ones(2, 3), torch.zeros(2, 3))
    assert q.kl().item() == pytest.approx(1.5)  # three latents, ½·1² each; two rows alike


def test_bernoulli_is_summed_over_values_and_averaged_over_the_batch() -> None:
    x = torch.ones(4, 1, 2, 3)
    assert likelihood.nll("bernoulli", torch.zeros_like(x), x).item() == pytest.approx(6 * math.log(2))


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_gaussian_and_laplace_are_densities(scale: float) -> None:
    torch.manual_seed(0)
    x, output = torch.randn(7, 5), torch.randn(7, 5)
    normal = -D.Normal(output, scale).log_prob(x).sum(1).mean()
    laplace = -D.Laplace(output, scale).log_prob(x).sum(1).mean()
    torch.testing.assert_close(likelihood.nll("gaussian", output, x, scale), normal)
    torch.testing.assert_close(likelihood.nll("laplace", output, x, scale), laplace)


def test_image_means_lie_in_the_unit_interval_for_every_likelihood() -> None:
    output = 9 * torch.randn(2, 3, 4, 4)
    for name in ("bernoulli", "gaussian", "laplace"):
        mean = likelihood.mean(name, output)
        assert mean.min() >= 0
        assert mean.max() <= 1


@pytest.mark.parametrize("name", ["gaussian", "laplace"])
def test_samples_have_the_stated_mean_and_spread(name: Literal["gaussian", "laplace"]) -> None:
    torch.manual_seed(0)
    draws = likelihood.sample(name, torch.full((200_000, 1), 3.0), 0.5)
    spread = 0.5 if name == "gaussian" else 0.5 * math.sqrt(2)
    assert abs(draws.mean() - 3) < 0.01
    assert abs(draws.std() - spread) < 0.01


def test_linear_schedule() -> None:
    assert [linear(step, 0.0, 25.0, 100) for step in (0, 50, 100, 500)] == [0.0, 12.5, 25.0, 25.0]


def test_the_best_scale_is_that_of_the_batch_and_makes_it_likeliest() -> None:
    output, x = torch.tensor([[0.0, 1.0], [2.0, 3.0]]), torch.tensor([[1.0, 1.0], [2.0, 0.0]])
    variance = (1 + 9) / 4  # of the errors 1, 0, 0, -3
    rows = likelihood.nll_rows("gaussian-optimal", output, x)
    constant = math.log(2 * math.pi) + math.log(variance)
    assert rows.tolist() == pytest.approx([0.5 * 1 / variance + constant, 0.5 * 9 / variance + constant])
    best = likelihood.nll("gaussian-optimal", output, x).item()
    assert best == pytest.approx(0.5 * 2 * (constant + 1))
    for scale in (0.9 * variance**0.5, 1.1 * variance**0.5):
        assert likelihood.nll("gaussian", output, x, scale).item() > best


def test_the_best_scale_is_flat_so_that_its_gradient_is_that_of_the_log_of_the_error() -> None:
    x, output = torch.randn(3, 4), torch.randn(3, 4, requires_grad=True)
    (found,) = torch.autograd.grad(likelihood.nll("gaussian-optimal", output, x), output)
    (expected,) = torch.autograd.grad(0.5 * 4 * (x - output).square().mean().log(), output)
    torch.testing.assert_close(found, expected)


def test_the_best_scale_has_a_floor() -> None:
    x = torch.zeros(2, 3)
    at_floor = 0.5 * 3 * (math.log(2 * math.pi) + math.log(1e-6))
    assert likelihood.nll("gaussian-optimal", x, x).item() == pytest.approx(at_floor)
    with pytest.raises(InputError, match="keeps no scale to draw with"):
        likelihood.sample("gaussian-optimal", x)


def test_noise_is_drawn_in_the_order_of_storage() -> None:
    x = torch.zeros(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    torch.manual_seed(0)
    noise = noise_like(x)
    torch.manual_seed(0)
    assert torch.equal(noise, torch.randn(2, 4, 5, 3).permute(0, 3, 1, 2))
    assert noise.stride() == x.stride()
    torch.manual_seed(0)
    plain = noise_like(x.contiguous())
    torch.manual_seed(0)
    assert torch.equal(plain, torch.randn(2, 3, 4, 5))
    many = noise_like(torch.zeros(100, 3, 16, 16).contiguous(memory_format=torch.channels_last))
    assert abs(many.mean().item()) < 0.02
    assert many.std().item() == pytest.approx(1, abs=0.02)
