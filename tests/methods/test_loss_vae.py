"""VAE, β-VAE, AnnealedVAE and DIP-VAE: losses and their slopes against the papers' formulas in NumPy."""

import hand
import numpy as np
import pytest
from hand import Draws

from unbraid import methods
from unbraid.core import DataSpec

pytestmark = pytest.mark.usefixtures("double")
SMALL = {"latents": 2, "width": 0.01}
IMAGES, VECTORS = hand.observations(3, 1, 2, 2), 4 * hand.observations(3, 5) - 2


def tiny(config, x: np.ndarray, size: int = 10):
    """The method with one linear layer for an encoder and another for a decoder."""
    method = config.build(DataSpec(x.shape[1:], size))
    method.encoder, method.decoder = hand.Tiny(x[0].size, 4), hand.Tiny(2, *x.shape[1:])
    return method


def elbo(w: hand.Weights, x: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Means, log-variances, −log p(x | z) and KL of each observation, for Bernoulli images."""
    mean, log_var = hand.halves(hand.linear(w, "encoder", x))
    logits = hand.linear(w, "decoder", hand.draw(mean, log_var, noise))
    return mean, log_var, hand.bernoulli(logits, x), hand.kl(mean, log_var).sum(1)


@pytest.mark.parametrize(("config", "beta"), [(methods.VAE, 1.0), (methods.BetaVAE, 3.0)])
def test_elbo_with_bernoulli_pixels(config, beta: float, draws: Draws) -> None:
    """Summed over pixels and latents, averaged over observations; β on the KL (Higgins et al. 2017, eq. 4)."""
    method = tiny(config(**SMALL, **({} if beta == 1 else {"beta": beta})), IMAGES)

    def by_hand(w: hand.Weights) -> dict[str, float]:
        _, _, error, kl = elbo(w, IMAGES, draws.normal[0])
        return {"total": error.mean() + beta * kl.mean(), "reconstruction": error.mean(), "kl": kl.mean()}

    hand.check_loss(method, "vae", hand.batch(IMAGES), by_hand)


@pytest.mark.parametrize("likelihood", ["gaussian", "laplace"])
@pytest.mark.parametrize("x", [IMAGES, VECTORS], ids=["images", "vectors"])
def test_elbo_with_densities_of_given_width(likelihood: str, x: np.ndarray, draws: Draws) -> None:
    """Constants are kept; images have a mean in [0, 1] for every likelihood, vectors any."""
    method = tiny(methods.BetaVAE(beta=5.0, likelihood=likelihood, scale=0.3, **SMALL), x)

    def by_hand(w: hand.Weights) -> float:
        mean, log_var = hand.halves(hand.linear(w, "encoder", x))
        output = hand.linear(w, "decoder", hand.draw(mean, log_var, draws.normal[0]))
        centre = hand.sigmoid(output) if x.ndim == 4 else output
        error = x.reshape(3, -1) - centre
        if likelihood == "gaussian":
            density = np.exp(-(error**2) / (2 * 0.3**2)) / (0.3 * np.sqrt(2 * np.pi))
        else:
            density = np.exp(-np.abs(error) / 0.3) / (2 * 0.3)
        return -np.log(density).sum(1).mean() + 5.0 * hand.kl(mean, log_var).sum(1).mean()

    hand.check_loss(method, "vae", hand.batch(x), by_hand)


@pytest.mark.parametrize(("step", "capacity"), [(0, 0.0), (3, 0.3), (10, 1.0), (45, 1.0)])
def test_annealed_vae_holds_the_mean_kl_at_a_capacity_that_grows(step: int, capacity: float, draws: Draws) -> None:
    """γ·|E[KL] − C(t)| (Burgess et al. 2018, eq. 8), with KLs of single observations on both sides of C."""
    method = tiny(methods.AnnealedVAE(gamma=7.0, capacity=1.0, capacity_steps=10, **SMALL), IMAGES)
    x = IMAGES * np.array([0.1, 1.0, 3.0])[:, None, None, None] / 3

    def by_hand(w: hand.Weights) -> float:
        _, _, error, kl = elbo(w, x, draws.normal[0])
        assert step != 3 or kl.min() < capacity < kl.max()
        return error.mean() + 7.0 * abs(kl.mean() - capacity)

    hand.check_loss(method, "vae", hand.batch(x), by_hand, step)


def test_dip_vae_i_draws_the_covariance_of_the_means_to_the_identity(draws: Draws) -> None:
    """Kumar et al. 2018, eq. 6: λ_od on squared covariances of μ, λ_d on (variance − 1)²."""
    method = tiny(methods.DIPVAEI(beta=7.0, off_diagonal=3.0, diagonal=5.0, **SMALL), IMAGES)

    def by_hand(w: hand.Weights) -> dict[str, float]:
        mean, _, error, kl = elbo(w, IMAGES, draws.normal[0])
        covariance = np.cov(mean.T, bias=True)
        off = 2 * covariance[0, 1] ** 2
        diagonal = (covariance[0, 0] - 1) ** 2 + (covariance[1, 1] - 1) ** 2
        total = error.mean() + 7.0 * kl.mean() + 3.0 * off + 5.0 * diagonal
        return {"total": total, "off_diagonal": off, "diagonal": diagonal, "kl": kl.mean()}

    hand.check_loss(method, "vae", hand.batch(IMAGES), by_hand)


def test_dip_vae_ii_draws_the_moments_of_the_codes_to_those_of_a_standard_normal(draws: Draws) -> None:
    """Kumar et al. 2018, eq. 7, and the third central moments of q(z), taken here of the mixture itself."""
    method = tiny(methods.DIPVAEII(beta=7.0, off_diagonal=3.0, diagonal=5.0, third_moments=2.0, **SMALL), IMAGES)
    nodes, shares = np.polynomial.hermite_e.hermegauss(6)  # exact for polynomials of z
    shares = shares / shares.sum()

    def by_hand(w: hand.Weights) -> dict[str, float]:
        mean, log_var, error, kl = elbo(w, IMAGES, draws.normal[0])
        points, weights = [], []  # of q(z), a mixture of three Gaussians
        for row in range(3):
            for a, share_a in zip(nodes, shares, strict=True):
                for b, share_b in zip(nodes, shares, strict=True):
                    points.append(hand.draw(mean[row], log_var[row], np.array([a, b])))
                    weights.append(share_a * share_b / 3)
        p = np.array(weights)
        d = np.array(points) - p @ np.array(points)
        covariance = np.einsum("n,ni,nj->ij", p, d, d)
        third = (np.einsum("n,ni,nj,nk->ijk", p, d, d, d) ** 2).sum()
        off = 2 * covariance[0, 1] ** 2
        diagonal = ((np.diag(covariance) - 1) ** 2).sum()
        total = error.mean() + 7.0 * kl.mean() + 3.0 * off + 5.0 * diagonal + 2.0 * third
        return {"total": total, "off_diagonal": off, "diagonal": diagonal, "third_moments": third}

    hand.check_loss(method, "vae", hand.batch(IMAGES), by_hand)
