"""Losses of pairs against their equations, by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hand import Draws, Tiny, batch, bernoulli, check_loss, draw, halves, kl, linear, observations
from scipy.stats import norm

from unbraid import methods
from unbraid.core import Batch, DataSpec, build_method
from unbraid.methods.pairs.ada_vae import shared_latents
from unbraid.methods.pairs.slow_vae import laplace_kl
from unbraid.ops.gaussian import DiagonalGaussian

SHAPE, LATENTS = (1, 2, 2), 3
DATA = DataSpec(SHAPE, 10)


def model(config: methods.VAE) -> torch.nn.Module:
    torch.manual_seed(0)
    method = build_method(replace(config, latents=LATENTS, network="mlp", width=0.01), DATA)
    method.encoder, method.decoder = Tiny(4, 2 * LATENTS), Tiny(LATENTS, *SHAPE)
    return method.double()


def pair() -> tuple[Batch, np.ndarray]:
    one, two = observations(3, *SHAPE, seed=1), observations(3, *SHAPE, seed=2)
    return replace(batch(one), pair=torch.from_numpy(two)), np.concatenate([one, two])


@pytest.mark.parametrize("name", ["ada-gvae", "ada-ml-vae"])
def test_ada_vae(name: str, draws: Draws) -> None:
    method = model({"ada-gvae": methods.AdaGVAE, "ada-ml-vae": methods.AdaMLVAE}[name](beta=2.5))
    given, x = pair()
    with torch.no_grad():  # the choice of latents has no gradient: it is that of the weights as they are
        mean, log_var = halves(method.encoder(torch.from_numpy(x)).numpy())
    difference = kl(mean[:3], log_var[:3], mean[3:], log_var[3:])
    threshold = 0.5 * (difference.min(1, keepdims=True) + difference.max(1, keepdims=True))
    same = np.concatenate([difference < threshold] * 2)
    assert 0 < same.mean() < 1

    def formula(weights: dict[str, np.ndarray]) -> dict[str, float]:
        mean, log_var = halves(linear(weights, "encoder", x))
        variance = np.exp(log_var)
        if name == "ada-gvae":
            joint, joint_variance = (mean[:3] + mean[3:]) / 2, (variance[:3] + variance[3:]) / 2
        else:
            joint_variance = 1 / (1 / variance[:3] + 1 / variance[3:])
            joint = joint_variance * (mean[:3] / variance[:3] + mean[3:] / variance[3:])
        mean = np.where(same, np.concatenate([joint] * 2), mean)
        log_var = np.where(same, np.log(np.concatenate([joint_variance] * 2)), log_var)
        z = draw(mean, log_var, draws.normal[0])
        logits = linear(weights, "decoder", z).reshape(x.shape)
        reconstruction = bernoulli(logits, x).reshape(6, -1).sum(1).mean()
        divergence = kl(mean, log_var).sum(1).mean()
        return {"total": reconstruction + 2.5 * divergence, "reconstruction": reconstruction, "kl": divergence}

    check_loss(method, "vae", given, formula)


def test_slow_vae(draws: Draws) -> None:
    method = model(methods.SlowVAE(beta=0.7, gamma=3.0, rate=2.0))
    given, x = pair()

    def formula(weights: dict[str, np.ndarray]) -> dict[str, float]:
        mean, log_var = halves(linear(weights, "encoder", x))
        z = draw(mean, log_var, draws.normal[0])
        logits = linear(weights, "decoder", z).reshape(x.shape)
        cost = bernoulli(logits, x).reshape(6, -1).sum(1)
        divergence = kl(mean, log_var).sum(1)
        sigma = np.exp(log_var / 2)
        other = np.concatenate([mean[3:], mean[:3]])
        distance = mean - other
        expected = sigma * np.sqrt(2 / np.pi) * np.exp(-(distance**2) / (2 * sigma**2))
        expected += distance * (1 - 2 * norm.cdf(-distance / sigma))
        entropy = 0.5 * np.log(2 * np.pi * np.e * sigma**2)
        transition = (2.0 * expected - np.log(2.0 / 2) - entropy).sum(1)
        # The ELBO of a pair in both orders, averaged, for one of its two observations.
        total = 0.0
        for first, second in ((slice(0, 3), slice(3, 6)), (slice(3, 6), slice(0, 3))):
            total += (cost[first] + cost[second] + 0.7 * divergence[first] + 3.0 * transition[second]).mean() / 2
        parts = {"reconstruction": cost.mean(), "kl": divergence.mean(), "transition": transition.mean()}
        return {"total": total / 2, **parts}

    check_loss(method, "vae", given, formula)


def test_divergence_from_a_laplace_distribution_is_its_integral() -> None:
    mean, sigma, centre, rate = 0.4, 0.3, -0.2, 1.7
    z = np.linspace(-5, 5, 200_001)
    density = norm.pdf(z, mean, sigma)
    integrand = density * (norm.logpdf(z, mean, sigma) - np.log(rate / 2) + rate * np.abs(z - centre))
    q = DiagonalGaussian(torch.tensor([[mean]]), torch.tensor([[2 * math.log(sigma)]]))
    found = laplace_kl(q, torch.tensor([[centre]]), rate).item()
    assert found == pytest.approx(float(np.trapezoid(integrand, z)), rel=1e-4)


def test_latents_are_shared_below_the_middle_of_the_range_of_their_distances() -> None:
    """Locatello et al. 2020, section 4: distances 0, 0, 4 and 10 have their middle at 5, and their mean at 3.5."""
    far = torch.tensor([[0.0, 0.0, 8.0, 20.0]]).sqrt()  # KL = d²/2
    one, two = DiagonalGaussian(0 * far, 0 * far), DiagonalGaussian(far, 0 * far)
    assert shared_latents(one, two).tolist() == [[True, True, True, False]]
