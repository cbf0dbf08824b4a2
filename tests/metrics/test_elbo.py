"""The decomposition of the KL, exactly, by strata and by minibatches."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from unbraid.errors import InputError
from unbraid.metrics import elbo_terms
from unbraid.metrics._shared.aggregate import Marginal
from unbraid.metrics._shared.mixture import log_aggregate_posterior, mss_log_weights

from .conftest import Array


def posteriors(n: int, d: int, seed: int = 0) -> tuple[Array, Array]:
    draws = np.random.default_rng(seed)
    return draws.normal(size=(n, d)) @ draws.normal(size=(d, d)), draws.uniform(-4, 0, size=(n, d))


def log_mixture(z: Array, mu: Array, log_var: Array) -> tuple[Array, Array]:
    """log q(z) and Σ_j log q(z_j), pair by pair."""
    pairs = -0.5 * ((z[:, None] - mu) ** 2 / np.exp(log_var) + log_var + np.log(2 * np.pi))
    whole = np.log(np.exp(pairs.sum(axis=2)).mean(axis=1))
    return whole, np.log(np.exp(pairs).mean(axis=1)).sum(axis=1)


@pytest.mark.parametrize("method", ["exact", "stratified"])
def test_the_terms_sum_to_the_kl(method: str) -> None:
    mu, log_var = posteriors(700, 4)
    terms = elbo_terms(mu, log_var, method=method, points=200)
    kl = 0.5 * (mu**2 + np.exp(log_var) - log_var - 1).sum(axis=1).mean()
    total = sum(terms[name].value for name in ("index_code_mi", "total_correlation", "dimension_kl"))
    assert total == pytest.approx(kl, abs=1e-9)
    assert terms["kl"].value == pytest.approx(kl, abs=1e-9)
    assert terms["kl"].details["per_latent"].sum() == pytest.approx(kl)


def test_blocks_and_products_are_the_mixture() -> None:
    mu, log_var = posteriors(300, 3)
    z = np.random.default_rng(1).normal(size=(50, 3))
    whole, marginal = log_mixture(z, mu, log_var)
    assert log_aggregate_posterior(z, mu, log_var) == pytest.approx(whole, abs=1e-9)
    ours = sum(Marginal(mu[:, j], log_var[:, j])(z[:, j]) for j in range(3))
    assert ours == pytest.approx(marginal, abs=1e-3)


def test_exact_terms_agree_with_brute_force() -> None:
    mu, log_var = posteriors(40, 2)
    draws = np.random.default_rng(5)
    rows = np.repeat(np.arange(40), 5000)
    z = mu[rows] + np.exp(0.5 * log_var[rows]) * draws.normal(size=(len(rows), 2))
    whole, marginal = log_mixture(z, mu, log_var)
    own = -0.5 * ((z - mu[rows]) ** 2 / np.exp(log_var[rows]) + log_var[rows] + np.log(2 * np.pi)).sum(axis=1)
    prior = -0.5 * (z**2 + np.log(2 * np.pi)).sum(axis=1)
    terms = elbo_terms(mu, log_var, method="exact", samples=500)
    assert terms["index_code_mi"].value == pytest.approx((own - whole).mean(), abs=0.02)
    assert terms["total_correlation"].value == pytest.approx((whole - marginal).mean(), abs=0.02)
    assert terms["dimension_kl"].value == pytest.approx((marginal - prior).mean(), abs=0.04)


def test_posteriors_that_do_not_overlap_tell_the_index() -> None:
    mu = np.arange(64.0)[:, None] * 100.0
    terms = elbo_terms(mu, np.zeros((64, 1)))
    assert terms["index_code_mi"].value == pytest.approx(np.log(64), abs=1e-6)
    assert terms["total_correlation"].value == pytest.approx(0.0, abs=1e-6)


def test_equal_posteriors_tell_nothing() -> None:
    terms = elbo_terms(np.full((50, 3), 0.4), np.full((50, 3), -1.0))
    assert terms["index_code_mi"].value == pytest.approx(0.0, abs=1e-6)
    assert terms["total_correlation"].value == pytest.approx(0.0, abs=1e-6)
    assert terms["dimension_kl"].value == pytest.approx(terms["kl"].value, abs=1e-6)


@pytest.mark.parametrize("method", ["exact", "stratified"])
def test_the_total_correlation_of_a_gaussian_is_recovered(method: str) -> None:
    covariance = np.array([[0.8, 0.6], [0.6, 0.8]])
    mu = np.random.default_rng(0).multivariate_normal([0, 0], covariance, size=6000)
    terms = elbo_terms(mu, np.full(mu.shape, np.log(0.2)), method=method, points=2000)
    whole = covariance + 0.2 * np.eye(2)
    true = 0.5 * (np.log(np.diag(whole)).sum() - np.linalg.slogdet(whole)[1])
    assert terms["total_correlation"].value == pytest.approx(true, abs=0.03)
    low, high = terms["total_correlation"].interval or (0.0, 0.0)
    exact = elbo_terms(mu, np.full(mu.shape, np.log(0.2)), method="exact", seed=7)["total_correlation"].value
    assert low - 0.01 < exact < high + 0.01


def test_strata_cover_the_exact_value() -> None:
    mu, log_var = posteriors(3000, 3)
    exact = elbo_terms(mu, log_var, method="exact", samples=4)["index_code_mi"].value
    hits = 0
    for seed in range(20):
        low, high = elbo_terms(mu, log_var, method="stratified", points=300, seed=seed)["index_code_mi"].interval or (
            0,
            0,
        )
        hits += low <= exact <= high
    assert hits >= 16


def test_mss_weights_sum_to_one() -> None:
    assert np.exp(mss_log_weights(6, 40)).sum(axis=1) == pytest.approx(np.ones(6))
    assert np.exp(mss_log_weights(6, 40))[np.arange(6), np.arange(6)] == pytest.approx(np.full(6, 1 / 40))


def test_mss_averages_to_the_aggregate_posterior() -> None:
    """Over all minibatches around a row, and all choices of the odd one, the estimate is q(z) exactly."""
    density = np.random.default_rng(0).random(6)  # q(z given n) at some z that row 2 drew
    weights = np.exp(mss_log_weights(4, 6))[0]
    others = [n for n in range(6) if n != 2]
    estimates = [weights @ density[[2, *rest]] for rest in itertools.permutations(others, 3)]
    assert np.mean(estimates) == pytest.approx(density.mean(), abs=1e-12)


def test_the_minibatch_estimate_nears_the_exact_one() -> None:
    mu, log_var = posteriors(2000, 2)
    log_var += 2.0
    exact = elbo_terms(mu, log_var, method="exact")
    batch = elbo_terms(mu, log_var, method="minibatch", batch=1000)
    for name in ("index_code_mi", "total_correlation", "dimension_kl"):
        assert batch[name].value == pytest.approx(exact[name].value, abs=0.1)
    assert sum(batch[n].value for n in ("index_code_mi", "total_correlation", "dimension_kl")) == pytest.approx(
        batch["kl"].value
    )


def test_reconstruction_adds_up_to_the_elbo() -> None:
    mu, log_var = posteriors(100, 2)
    loss = np.random.default_rng(0).random(100)
    terms = elbo_terms(mu, log_var, reconstruction=loss)
    assert terms["elbo"].value == pytest.approx(-loss.mean() - terms["kl"].value)
    with pytest.raises(InputError, match="one negative log-likelihood a row"):
        elbo_terms(mu, log_var, reconstruction=loss[:5])


def test_bad_posteriors_are_named() -> None:
    with pytest.raises(InputError, match="one shape"):
        elbo_terms(np.zeros((5, 2)), np.zeros((5, 3)))
    with pytest.raises(InputError, match="log_vars hold NaN"):
        elbo_terms(np.zeros((5, 2)), np.full((5, 2), np.nan))
    with pytest.raises(InputError, match="did you mean 'exact'"):
        elbo_terms(np.zeros((5, 2)), np.zeros((5, 2)), method="exakt")


def test_terms_do_not_depend_on_where_zero_is_but_for_the_prior() -> None:
    mu, log_var = posteriors(300, 2)
    near, far = elbo_terms(mu, log_var, replicates=0), elbo_terms(mu + 1e5, log_var, replicates=0)
    for name in ("index_code_mi", "total_correlation"):
        assert far[name].value == pytest.approx(near[name].value, abs=1e-6)
    assert far["kl"].value == pytest.approx(near["kl"].value + ((mu + 1e5) ** 2 - mu**2).sum(1).mean() / 2)


def test_posteriors_too_far_apart_are_refused() -> None:
    with pytest.raises(InputError, match="5e\\+08 deviations of their posteriors apart"):
        elbo_terms(np.array([[0.0], [1e9]]), np.zeros((2, 1)))
