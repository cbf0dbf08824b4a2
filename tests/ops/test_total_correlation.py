"""What minibatch estimates of q(z) must be, on data small enough to know q(z)."""

import itertools
import math
from typing import Literal

import pytest
import torch

from unbraid.ops.gaussian import DiagonalGaussian, log_prob, standard_log_prob
from unbraid.ops.total_correlation import aggregate_posterior, stratified_weights, weighted_mixture


def posteriors(n: int, latents: int, seed: int = 0) -> DiagonalGaussian:
    generator = torch.Generator().manual_seed(seed)
    mean = 2 * torch.randn(n, latents, generator=generator, dtype=torch.float64)
    log_var = torch.randn(n, latents, generator=generator, dtype=torch.float64) - 1
    return DiagonalGaussian(mean, log_var)


def exact(z: torch.Tensor, q: DiagonalGaussian) -> tuple[torch.Tensor, torch.Tensor]:
    """q(z) and every q(zⱼ): plain averages over the whole data set."""
    density = log_prob(z[:, None], q.mean[None], q.log_var[None]).exp()  # [sample, component, latent]
    return density.prod(2).mean(1), density.mean(1)


def test_stratified_rows_sum_to_one() -> None:
    for batch, n in ((2, 2), (2, 7), (5, 5), (5, 9), (64, 737_280)):
        odd = torch.randint(1, batch, (batch,))
        rows = stratified_weights(batch, n, odd).double().exp().sum(1)
        # Weights are at most three different numbers held in single precision.
        torch.testing.assert_close(rows, torch.ones(batch, dtype=torch.float64), atol=1e-5, rtol=0)


def test_mss_averaged_over_all_minibatches_is_exact() -> None:
    """S6 is unbiased: over all minibatches that hold n*, and all choices of the odd one, the mean is q(z)."""
    n, batch, latents = 6, 4, 3
    q = posteriors(n, latents)
    z = q.mean + 0.3
    joint, marginal = exact(z, q)
    for own in range(n):
        others = [i for i in range(n) if i != own]
        sums = torch.zeros((), dtype=torch.float64), torch.zeros(latents, dtype=torch.float64)
        count = 0
        for rest in itertools.combinations(others, batch - 1):
            rows = torch.tensor([own, *rest])
            for odd in range(1, batch):
                log_weights = stratified_weights(batch, n, torch.full((batch,), odd)).double()[:1]
                part = q.mean[rows], q.log_var[rows]
                sums[0].add_(weighted_mixture(z[own : own + 1], *part, log_weights)[0].exp()[0])
                for j in range(latents):
                    mean, log_var = (p[:, j : j + 1] for p in part)
                    one = weighted_mixture(z[own : own + 1, j : j + 1], mean, log_var, log_weights)
                    sums[1][j].add_(one[1].exp()[0])
                count += 1
        torch.testing.assert_close(sums[0] / count, joint[own], rtol=1e-6, atol=0)
        torch.testing.assert_close(sums[1] / count, marginal[own], rtol=1e-6, atol=0)


def test_full_batch_makes_the_estimate_exact() -> None:
    q = posteriors(8, 2)
    z = q.mean + 0.1
    joint, marginal = exact(z, q)
    log_qz, log_prod = aggregate_posterior(z, q.mean, q.log_var, dataset_size=8, estimator="mss")
    torch.testing.assert_close(log_qz, joint.log(), rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(log_prod, marginal.log().sum(1), rtol=1e-6, atol=1e-6)


def test_mws_at_full_batch_is_qz_over_n() -> None:
    """S4 as printed: (1/NM) Σ q(z | n) over a batch of M = N is q(z)/N, and each q(zⱼ) is low by N too."""
    n, latents = 8, 3
    q = posteriors(n, latents)
    z = q.mean - 0.2
    joint, marginal = exact(z, q)
    log_qz, log_prod = aggregate_posterior(z, q.mean, q.log_var, dataset_size=n, estimator="mws")
    torch.testing.assert_close(log_qz, joint.log() - math.log(n), rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(log_prod, marginal.log().sum(1) - latents * math.log(n), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("estimator", ["mws", "mss"])
def test_decomposition_sums_to_the_sampled_kl(estimator: Literal["mws", "mss"]) -> None:
    """Index-code MI + TC + dimension-wise KL = log q(z | x) − log p(z), for either estimator, term by term."""
    q = posteriors(16, 4)
    z = q.rsample()
    log_qz, log_prod = aggregate_posterior(z, q.mean, q.log_var, dataset_size=100, estimator=estimator)
    log_prior = standard_log_prob(z).sum(1)
    parts = (q.log_prob(z) - log_qz) + (log_qz - log_prod) + (log_prod - log_prior)
    torch.testing.assert_close(parts, q.log_prob(z) - log_prior)


def test_exact_decomposition_averages_to_the_closed_form_kl() -> None:
    torch.manual_seed(0)
    q = posteriors(12, 2)
    gaps = []
    for _ in range(4000):
        z = q.rsample()
        log_qz, log_prod = aggregate_posterior(z, q.mean, q.log_var, dataset_size=12, estimator="mss")
        gaps.append((q.log_prob(z) - log_qz + log_qz - log_prod + log_prod - standard_log_prob(z).sum(1)).mean())
    spread = torch.stack(gaps)
    assert abs(spread.mean() - q.kl()) < 4 * spread.std() / math.sqrt(len(spread))


def test_tc_of_a_correlated_gaussian_is_recovered() -> None:
    """Posteriors of width s around correlated means mix to a Gaussian of known correlation ρ: TC = −½ log(1−ρ²)."""
    torch.manual_seed(1)
    n, rho, noise = 4000, 0.9, 0.1
    mixing = torch.linalg.cholesky(torch.tensor([[1.0, rho], [rho, 1.0]]))
    q = DiagonalGaussian(torch.randn(n, 2) @ mixing.T, torch.full((n, 2), 2 * math.log(noise)))
    log_qz, log_prod = aggregate_posterior(q.rsample(), q.mean, q.log_var, dataset_size=n, estimator="mss")
    total_rho = rho / (1 + noise**2)
    expected = -0.5 * math.log(1 - total_rho**2)
    assert abs((log_qz - log_prod).mean().item() - expected) < 0.05


def test_latents_one_by_one_change_neither_value_nor_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    q = posteriors(10, 3)
    leaves = [t.clone().requires_grad_() for t in (q.mean + 0.1, q.mean, q.log_var)]
    weights = stratified_weights(10, 50, torch.ones(10, dtype=torch.long)).double()

    def outcome() -> list[torch.Tensor]:
        joint, product = weighted_mixture(leaves[0], leaves[1], leaves[2], weights)
        return [joint, product, *torch.autograd.grad((joint - 2 * product).sum(), leaves)]

    whole = outcome()
    monkeypatch.setattr("unbraid.ops.total_correlation._AT_ONCE", 3 * 10 * 10 - 1)
    for one, other in zip(whole, outcome(), strict=True):
        torch.testing.assert_close(one, other)
