"""β-TCVAE (with its flow prior), FactorVAE and HFVAE: losses and their slopes against the formulas in NumPy."""

from math import factorial, log

import hand
import numpy as np
import pytest
import torch
from hand import Draws

from unbraid import methods
from unbraid.core import DataSpec

pytestmark = pytest.mark.usefixtures("double")
N = 11  # observations in the data set, of which four are in the batch
X = hand.observations(4, 1, 2, 2)
UNBIASED = ("index_code_unbiased", "total_correlation_unbiased", "dimension_kl_unbiased")
SMALL = {"latents": 2, "width": 0.01}


def tiny(config, latents: int = 2, values: int = 0):
    """The method with one linear layer for an encoder and another for a decoder."""
    method = config.build(DataSpec(X.shape[1:], N))
    method.encoder = hand.Tiny(4, 2 * latents + values)
    method.decoder = hand.Tiny(latents + values, *X.shape[1:])
    return method


def posterior(w: hand.Weights, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Means, log-variances, draws and −log p(x | z)."""
    mean, log_var = hand.halves(hand.linear(w, "encoder", X))
    z = hand.draw(mean, log_var, noise)
    return mean, log_var, z, float(hand.bernoulli(hand.linear(w, "decoder", z), X).mean())


@pytest.mark.parametrize("estimator", ["mws", "mss"])
def test_beta_tcvae_weighs_three_terms(estimator: str, draws: Draws) -> None:
    """Chen et al. 2018, eq. 5: α on I(z; n), β on TC, γ on the dimension-wise KL; unbiased figures are MSS's."""
    method = tiny(methods.BetaTCVAE(alpha=2.0, beta=3.0, gamma=5.0, estimator=estimator, **SMALL))

    def by_hand(w: hand.Weights) -> dict[str, float]:
        mean, log_var, z, error = posterior(w, draws.normal[0])
        prior = hand.log_normal(z).sum(1)
        stratified = [hand.stratified_weights(4, N, odd) for odd in draws.whole]
        weights = stratified[0] if estimator == "mss" else hand.plain_weights(4, N)
        index_code, correlation, dimension = hand.decomposition(z, mean, log_var, prior, weights)
        logged = hand.decomposition(z, mean, log_var, prior, stratified[-1])
        return {
            "total": error + 2.0 * index_code + 3.0 * correlation + 5.0 * dimension,
            "reconstruction": error,
            "kl": hand.kl(mean, log_var).sum(1).mean(),
            **{"total/index_code": 2.0 * index_code, "total/total_correlation": 3.0 * correlation},
            "total/dimension_kl": 5.0 * dimension,
            **dict(zip(UNBIASED, logged, strict=True)),
        }

    hand.check_loss(method, "vae", hand.batch(X), by_hand)
    assert len(draws.whole) == (2 if estimator == "mss" else 1), "the loss by MWS has no odd one"


def test_a_batch_that_is_the_whole_data_set_is_weighed_evenly(draws: Draws) -> None:
    method = methods.BetaTCVAE(alpha=2.0, beta=3.0, gamma=5.0, estimator="mss", **SMALL).build(DataSpec((1, 2, 2), 4))
    method.encoder, method.decoder = hand.Tiny(4, 4), hand.Tiny(2, 1, 2, 2)

    def by_hand(w: hand.Weights) -> float:
        mean, log_var, z, error = posterior(w, draws.normal[0])
        terms = hand.decomposition(z, mean, log_var, hand.log_normal(z).sum(1), np.full((4, 4), 1 / 4))
        return error + float(np.dot((2.0, 3.0, 5.0), terms))

    hand.check_loss(method, "vae", hand.batch(X), by_hand)


def flow_log_prior(w: hand.Weights, z: np.ndarray) -> np.ndarray:
    """Σⱼ log p(zⱼ): planar flows z + (s/w)·tanh(w·z + b) to a standard normal, s = softplus(·) − 1, one by one."""
    log_slopes = np.zeros_like(z)
    for raw, log_width, shift in zip(w["flow.strength"], w["flow.log_width"], w["flow.shift"], strict=True):
        s, width = np.log(1 + np.exp(raw) * (np.e - 1)) - 1, np.exp(log_width)
        bent = np.tanh(width * z + shift)
        log_slopes += np.log(1 + s * (1 - bent**2))
        z = z + s / width * bent
    return (hand.log_normal(z) + log_slopes).sum(1)


def test_the_flow_is_the_prior_of_the_dimension_wise_kl(draws: Draws) -> None:
    """Chen et al. 2018, C.2: eq. 5 with p(z) = ∏ⱼ p(zⱼ) learned on the same objective."""
    config = methods.FlowBetaTCVAE(alpha=2.0, beta=3.0, gamma=5.0, depth=2, **SMALL)
    method = tiny(config)
    with torch.no_grad():
        method.flow.strength.uniform_(-1, 1)

    def by_hand(w: hand.Weights) -> dict[str, float]:
        mean, log_var, z, error = posterior(w, draws.normal[-1])
        prior = flow_log_prior(w, z)
        terms = hand.decomposition(z, mean, log_var, prior, hand.plain_weights(4, N))
        kl = (hand.log_normal(z, mean, log_var).sum(1) - prior).mean()
        return {"total": error + float(np.dot((2.0, 3.0, 5.0), terms)), "kl": kl, "reconstruction": error}

    hand.check_loss(method, "vae", hand.batch(X), by_hand)


def test_the_kl_of_codes_to_the_flow_is_the_integral(draws: Draws) -> None:
    method = tiny(methods.FlowBetaTCVAE(depth=2, **SMALL))
    with torch.no_grad():
        method.flow.strength.uniform_(-1, 1)
    w = {key: value.detach().numpy() for key, value in method.named_parameters()}
    q = method.encode(torch.from_numpy(X))["z"]
    mean, log_var = hand.halves(hand.linear(w, "encoder", X))
    expected = np.empty((4, 2))
    for row in range(4):
        for latent in range(2):
            centre, spread = mean[row, latent], np.exp(log_var[row, latent] / 2)
            grid = np.linspace(centre - 10 * spread, centre + 10 * spread, 4001)
            one = {key: value[:, latent : latent + 1] for key, value in w.items() if key.startswith("flow")}
            log_q = hand.log_normal(grid, centre, log_var[row, latent])
            log_p = flow_log_prior(one, grid[:, None])
            expected[row, latent] = np.trapezoid(np.exp(log_q) * (log_q - log_p), grid)
    np.testing.assert_allclose(q.kl_per_latent().detach().numpy(), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(q.mean.detach().numpy(), mean)


def test_factor_vae_adds_the_critics_log_ratio(draws: Draws) -> None:
    """Kim & Mnih 2018, eq. 2 with the density ratio of eq. 3: the critic's output is log q(z)/∏ⱼ q(zⱼ)."""
    method = tiny(methods.FactorVAE(beta=7.0, gamma=3.0, **SMALL))
    method.critic = hand.Tiny(2)

    def by_hand(w: hand.Weights) -> dict[str, float]:
        mean, log_var, z, error = posterior(w, draws.normal[0])
        kl, ratio = hand.kl(mean, log_var).sum(1).mean(), hand.linear(w, "critic", z).mean()
        return {"total": error + 7.0 * kl + 3.0 * ratio, "kl": kl, "total_correlation": ratio}

    hand.check_loss(method, "vae", hand.batch(X), by_hand)


def test_the_critic_of_factor_vae_tells_draws_from_permuted_draws_of_other_observations(draws: Draws) -> None:
    """Algorithm 2: the first half of the batch as it is, the second with each latent permuted on its own."""
    method = tiny(methods.FactorVAE(gamma=3.0, **SMALL))
    method.critic = hand.Tiny(2)
    x = hand.observations(6, 1, 2, 2, seed=4)

    def by_hand(w: hand.Weights) -> dict[str, float]:
        mean, log_var = hand.halves(hand.linear(w, "encoder", x))
        z = hand.draw(mean, log_var, draws.normal[0])
        orders = np.argsort(draws.uniform[0], axis=0)
        permuted = np.stack([z[3:, j][orders[:, j]] for j in range(2)], axis=1)
        joint, product = (hand.sigmoid(hand.linear(w, "critic", code)[:, 0]) for code in (z[:3], permuted))
        loss = -0.5 * np.log(joint).mean() - 0.5 * np.log(1 - product).mean()
        return {"total": loss, "accuracy": 0.5 * (joint > 0.5).mean() + 0.5 * (product < 0.5).mean()}

    hand.check_loss(method, "critic", hand.batch(x), by_hand, untouched=("encoder", "decoder"))
    assert draws.uniform[0].shape == (3, 2)


@pytest.mark.parametrize("estimator", ["mws", "mss"])
def test_hfvae_weighs_dependence_between_groups_and_within(estimator: str, draws: Draws) -> None:
    """Esmaeili et al. 2019, §3, with groups (z₁ z₂), (z₃) and one relaxed discrete code as a group of its own."""
    options = {"groups": (2, 1), "classes": (3,), "alpha": 2.0, "beta": 3.0, "gamma": 5.0, "temperature": 0.5}
    method = tiny(methods.HFVAE(estimator=estimator, width=0.01, **options), latents=3, values=3)

    def concrete(y: np.ndarray, logits: np.ndarray) -> np.ndarray:
        """Density of log-probabilities y: (L−1)! τ^(L−1) ∏ₖ αₖ e^(−τyₖ) / (Σₖ αₖ e^(−τyₖ))^L (Maddison et al. 2017)."""
        odds = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True) * np.exp(-0.5 * y)
        return log(factorial(2)) + 2 * log(0.5) + np.log(odds).sum(-1) - 3 * np.log(odds.sum(-1))

    def by_hand(w: hand.Weights) -> dict[str, float]:
        output = hand.linear(w, "encoder", X)
        mean, log_var, logits = output[:, :3], output[:, 3:6], output[:, 6:]
        z = hand.draw(mean, log_var, draws.normal[0])
        c = hand.softmax((logits - np.log(draws.exponential[0])) / 0.5)
        error = hand.bernoulli(hand.linear(w, "decoder", z, c), X).mean()
        each = hand.log_normal(z[:, None], mean[None], log_var[None])
        discrete = concrete(np.log(c)[:, None], logits[None])
        groups = [each[:, :, :2].sum(2), each[:, :, 2], discrete]
        plain = estimator == "mws"
        weights = hand.plain_weights(4, N) if plain else hand.stratified_weights(4, N, draws.whole[0])
        joint = hand.mixture(sum(groups), weights)
        between = sum(hand.mixture(group, weights) for group in groups)
        single = sum(hand.mixture(each[:, :, j], weights) for j in range(3)) + hand.mixture(discrete, weights)
        own = np.diagonal(sum(groups))
        prior = hand.log_normal(z).sum(1) + concrete(np.log(c), np.zeros(3))
        terms = {
            "information": (own - joint).mean(),
            "between_groups": (joint - between).mean(),
            "within_groups": (between - single).mean(),
            "prior_kl": (single - prior).mean(),
        }
        p = hand.softmax(logits)
        closed = hand.kl(mean, log_var).sum(1).mean() + (p * np.log(3 * p)).sum(1).mean()
        total = error + float(np.dot((2.0, 3.0, 5.0, 1.0), list(terms.values())))
        return {"total": total, "reconstruction": error, "kl": closed, **terms}

    hand.check_loss(method, "vae", hand.batch(X), by_hand)
