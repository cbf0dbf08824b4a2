"""Mixtures as priors: overlap by integration, divergences by identity."""

import numpy as np
import torch
from scipy.integrate import dblquad, quad
from scipy.stats import norm

from unbraid.ops import gaussian
from unbraid.ops.categorical import Categorical, aggregate_kl, entropy
from unbraid.ops.mixture import PriorGaussian, bhattacharyya, kl_to_modes, moments, overlap


def modes(count: int, latents: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(seed)
    return torch.randn(count, latents, dtype=torch.float64), torch.randn(count, latents, dtype=torch.float64)


def test_bhattacharyya_is_the_integral_of_the_root_of_the_product() -> None:
    mean, log_var = modes(6, 1)
    for i in range(5):
        p, q = (norm(mean[j].item(), np.exp(0.5 * log_var[j].item())) for j in (i, i + 1))
        exact = quad(lambda x, p=p, q=q: np.sqrt(p.pdf(x) * q.pdf(x)), -20, 20)[0]
        np.testing.assert_allclose(bhattacharyya(mean[i], log_var[i], mean[i + 1], log_var[i + 1]), exact, rtol=1e-6)


def test_in_two_dimensions_too() -> None:
    mean, log_var = modes(2, 2, seed=3)

    def root(y: float, x: float) -> float:
        point = torch.tensor([x, y])
        return float((0.5 * gaussian.log_prob(point, mean, log_var).sum()).exp())

    exact = dblquad(root, -9, 9, -9, 9, epsabs=1e-4)[0]
    np.testing.assert_allclose(bhattacharyya(mean[0], log_var[0], mean[1], log_var[1]), exact, rtol=1e-3)


def test_it_is_one_for_equals_symmetric_and_falls_with_distance() -> None:
    mean, log_var = modes(2, 3)
    torch.testing.assert_close(bhattacharyya(mean[0], log_var[0], mean[0], log_var[0]).item(), 1.0)
    there, back = (bhattacharyya(mean[i], log_var[i], mean[1 - i], log_var[1 - i]) for i in (0, 1))
    torch.testing.assert_close(there, back)
    assert bhattacharyya(mean[0], log_var[0], mean[0] + 5, log_var[0]) < bhattacharyya(
        mean[0], log_var[0], mean[0] + 1, log_var[0]
    )


def test_overlap_counts_each_pair_once_and_no_mode_with_itself() -> None:
    mean, log_var = modes(4, 2)
    pairs = [bhattacharyya(mean[i], log_var[i], mean[j], log_var[j]) for i in range(4) for j in range(i + 1, 4)]
    torch.testing.assert_close(overlap(mean, log_var, 0.0), torch.stack(pairs).sum())
    torch.testing.assert_close(overlap(mean, log_var, 0.2), torch.stack([(p - 0.2).clamp(min=0) for p in pairs]).sum())
    assert overlap(mean * 1000, log_var, 0.1) == 0


def test_tolerated_overlap_has_no_gradient() -> None:
    mean = torch.tensor([[0.0], [6.0], [6.1]], requires_grad=True)
    overlap(mean, torch.zeros(3, 1), 0.1).backward()
    assert mean.grad is not None
    assert mean.grad[0].item() == 0
    assert mean.grad[1].item() != 0


def test_kl_to_modes_is_the_kl_to_each_of_them() -> None:
    mean, log_var = modes(3, 2)
    q_mean, q_log_var = modes(4, 2, seed=5)
    all_pairs = kl_to_modes(q_mean, q_log_var, mean, log_var)
    assert all_pairs.shape == (4, 3)
    torch.testing.assert_close(all_pairs[2, 1], gaussian.kl(q_mean[2], q_log_var[2], mean[1], log_var[1]).sum())


def test_moments_are_those_of_draws() -> None:
    mean, log_var = modes(3, 2)
    weights = torch.tensor([0.2, 0.5, 0.3], dtype=torch.float64)
    chosen = torch.multinomial(weights, 400_000, replacement=True)
    draws = mean[chosen] + (0.5 * log_var[chosen]).exp() * torch.randn(400_000, 2, dtype=torch.float64)
    centre, spread = moments(weights, mean, log_var)
    torch.testing.assert_close(draws.mean(0), centre, atol=0.02, rtol=0.02)
    torch.testing.assert_close(draws.var(0).log(), spread, atol=0.02, rtol=0.02)


def test_a_posterior_that_is_its_prior_says_nothing() -> None:
    mean, log_var = modes(1, 4)
    assert PriorGaussian(mean, log_var, mean[0], log_var[0]).kl_per_latent().abs().max() < 1e-12


def test_the_identity_of_appendix_a3() -> None:
    """E KL[q(c|x) ‖ p(c)] = E KL[q(c|x) ‖ q(c)] + KL[q(c) ‖ p(c)], and the first part is H(q(c)) − E H(q(c|x))."""
    torch.manual_seed(0)
    q = Categorical(torch.randn(50, 5, dtype=torch.float64), (2, 3))
    prior = torch.cat([torch.tensor([0.3, 0.7]), torch.tensor([0.2, 0.2, 0.6])]).double()
    aggregate = q.probabilities.mean(0)
    p = q.probabilities
    to_prior = (p * (p.log() - prior.log())).sum(1).mean()
    to_aggregate = (p * (p.log() - aggregate.log())).sum(1).mean()
    torch.testing.assert_close(to_prior, to_aggregate + aggregate_kl(q, prior))
    torch.testing.assert_close(to_aggregate, -(aggregate * aggregate.log()).sum() - entropy(q))


def test_a_value_that_no_one_has_and_no_one_expects_adds_nothing() -> None:
    q = Categorical(torch.tensor([[0.0, 0.0, -200.0]]), (3,))
    torch.testing.assert_close(aggregate_kl(q, torch.tensor([0.5, 0.5, 0.0])), torch.tensor(0.0))
