"""Networks that begin as PCA: at the optimum of a linear VAE, which probabilistic PCA has in closed form."""

import numpy as np
import pytest
import torch

from unbraid import methods
from unbraid.core import DataSpec
from unbraid.errors import InputError
from unbraid.methods.vae.alignment import turn_codes
from unbraid.nets.stacks import Encoder, decoder
from unbraid.ops.gaussian import kl

VALUES, LATENTS, ROWS = 12, 3, 400


def observations() -> np.ndarray:
    random = np.random.default_rng(0)
    causes = random.uniform(-2, 2, (ROWS, 4)) * [3, 2, 1, 0.5]
    return causes @ random.normal(size=(4, VALUES)) + 0.3 * random.normal(size=(ROWS, VALUES)) + 5


def started(x: np.ndarray, **options: float):
    method = methods.BetaVAE(latents=LATENTS, width=0.02, network="mlp-pca", likelihood="gaussian", **options)
    made = method.build(DataSpec((VALUES,), ROWS)).double()
    made.prepare(iter(torch.from_numpy(x).split(150)))
    return made


def test_the_start_is_probabilistic_pca() -> None:
    """Its ELBO is the log-likelihood of N(m, W Wᵀ + σ²): no linear VAE has a higher one."""
    x = observations()
    centred = x - x.mean(0)
    values, directions = np.linalg.eigh(centred.T @ centred / ROWS)
    noise = values[: VALUES - LATENTS].mean()
    covariance = (directions[:, -LATENTS:] * (values[-LATENTS:] - noise)) @ directions[:, -LATENTS:].T
    covariance += noise * np.eye(VALUES)
    expected = -0.5 * np.einsum("ni,ij,nj->n", centred, np.linalg.inv(covariance), centred)
    expected -= 0.5 * np.linalg.slogdet(2 * np.pi * covariance)[1]

    made, rows = started(x, beta=1.0), torch.from_numpy(x)
    q = made.posterior(rows)
    matrix = made.decoder(torch.eye(LATENTS).double()) - made.decoder(torch.zeros(1, LATENTS).double())  # linear yet
    error = (rows - made.decoder(q.mean)).square().sum(1) + (matrix.square().sum(1) * q.log_var.exp()).sum(1)
    zero = torch.zeros_like(q.mean)
    elbo = -error / (2 * noise) - VALUES / 2 * np.log(2 * np.pi * noise) - kl(q.mean, q.log_var, zero, zero).sum(1)
    np.testing.assert_allclose(elbo.detach().numpy(), expected, rtol=1e-9)


def test_a_heavier_kl_leaves_weak_directions_unused() -> None:
    x = observations()
    values = np.linalg.eigvalsh(np.cov(x.T, bias=True))[::-1]
    beta = 0.5 * (values[1] + values[2]) / values[LATENTS:].mean()  # between the second and the third
    q = started(x, beta=float(beta)).posterior(torch.from_numpy(x))
    spread = q.mean.std(0)
    assert (spread[:2] > 0.1).all()
    assert spread[2] < 1e-6, "its direction is not worth the divergence"
    assert q.log_var[:, 2].abs().max() < 1e-6, "and its posterior is the prior"


def test_what_is_not_linear_can_be_learned_beside_it() -> None:
    made = started(observations())
    x = torch.from_numpy(observations())
    loss = (x - made.decoder(made.posterior(x).mean)).square().mean()
    loss.backward()
    last = made.decoder[1].layers[-1]
    assert last.weight.grad.abs().max() > 0
    assert made.encoder.head.weight.grad[:, :-VALUES].abs().max() > 0


def test_codes_can_be_turned_without_a_change_of_what_is_decoded() -> None:
    made, x = started(observations()).float(), torch.from_numpy(observations()).float()
    before, codes = made.decoder(made.posterior(x).mean), made.posterior(x).mean
    assert turn_codes(made.encoder, made.decoder, x) is not None
    torch.testing.assert_close(made.decoder(made.posterior(x).mean), before, atol=1e-4, rtol=1e-4)
    assert (made.posterior(x).mean - codes).abs().max() > 0.1


def test_more_codes_than_values_are_no_harm() -> None:
    x = observations()[:, :2]
    made = methods.VAE(latents=4, width=0.02, network="mlp-pca", likelihood="gaussian").build(DataSpec((2,), ROWS))
    made.prepare(iter([torch.from_numpy(x).float()]))
    q = made.posterior(torch.from_numpy(x).float())
    np.testing.assert_allclose(made.decoder(q.mean).detach().numpy(), x, atol=0.05)
    assert torch.isfinite(q.log_var).all()


def test_images_have_no_such_network() -> None:
    for build in (lambda: Encoder((1, 8, 8), 2, network="mlp-pca"), lambda: decoder(2, (1, 8, 8), network="mlp-pca")):
        with pytest.raises(InputError, match="mlp-pca' is for vectors"):
            build()
