"""Discrete posteriors: draws, densities and divergences against what is known."""

import math

import pytest
import torch

from unbraid.ops.categorical import Categorical, capacity_limit, relaxed_log_prob, relaxed_log_sample

LOGITS = torch.tensor([[0.2, 1.0, -0.5, 0.3, -0.3], [0.0, 0.0, 0.0, 2.0, 0.0]])
POSTERIOR = Categorical(LOGITS, (3, 2))


def test_kl_is_the_distance_from_uniform_and_never_negative() -> None:
    p, q = LOGITS[:, :3].softmax(1), LOGITS[:, 3:].softmax(1)
    known = math.log(3) + (p * p.log()).sum(1) + math.log(2) + (q * q.log()).sum(1)
    shares = POSTERIOR.kl_per_latent()
    assert shares.shape == LOGITS.shape
    assert (shares >= 0).all()
    assert torch.allclose(shares.sum(1), known, atol=1e-6)


def test_a_certain_posterior_says_log_l() -> None:
    certain = Categorical(torch.tensor([[50.0, 0.0, 0.0]]), (3,))
    assert certain.kl().item() == pytest.approx(math.log(3), abs=1e-5)
    assert capacity_limit((3, 2)) == pytest.approx(math.log(6))


def test_draws_lie_on_the_simplex_and_choose_as_often_as_the_probabilities_say() -> None:
    torch.manual_seed(0)
    draws = Categorical(LOGITS[:1].expand(40_000, -1), (3, 2)).rsample()
    assert torch.allclose(draws[:, :3].sum(1), torch.ones(len(draws)), atol=1e-5)
    chosen = draws[:, :3].argmax(1).bincount(minlength=3) / len(draws)
    assert torch.allclose(chosen, LOGITS[0, :3].softmax(0), atol=0.01)


def test_gradients_reach_the_logits() -> None:
    logits = LOGITS.clone().requires_grad_()
    Categorical(logits, (3, 2)).rsample().square().sum().backward()
    assert logits.grad is not None
    assert logits.grad.abs().sum() > 0


def test_the_represented_value_is_the_likeliest() -> None:
    assert POSTERIOR.mean.tolist() == [[0, 1, 0, 1, 0], [1, 0, 0, 1, 0]]


def test_the_relaxed_density_integrates_to_one() -> None:
    # With two classes the log-ratio t = y₁ − y₂ parametrises the curve of log-simplex points.
    temperature, logits = 0.67, torch.tensor([0.8, -0.4], dtype=torch.float64)
    t = torch.linspace(-60, 60, 60_001, dtype=torch.float64)
    log_sample = torch.stack([-torch.nn.functional.softplus(-t), -torch.nn.functional.softplus(t)], dim=1)
    # On the simplex: density of c₁; dc₁ = c₁c₂ dt, and the log-density of logarithms has c₁c₂ too much.
    density = (relaxed_log_prob(log_sample, logits, temperature) - log_sample.sum(1)).exp()
    mass = torch.trapezoid(density * log_sample.sum(1).exp(), t)
    assert mass.item() == pytest.approx(1.0, abs=1e-6)


def test_samples_and_density_are_of_one_distribution() -> None:
    # E_q[p/q] = 1 for any other density p of the same kind.
    torch.manual_seed(0)
    q, p = torch.tensor([[0.3, 0.0, -0.3]]), torch.tensor([[0.0, 0.2, 0.0]])
    sample = relaxed_log_sample(q.expand(200_000, -1), 0.67)
    ratio = (relaxed_log_prob(sample, p, 0.67) - relaxed_log_prob(sample, q, 0.67)).exp()
    assert ratio.mean().item() == pytest.approx(1.0, abs=0.02)
