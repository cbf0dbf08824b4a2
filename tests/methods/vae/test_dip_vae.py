"""DIP-VAE's terms on posteriors made by hand."""

from typing import Any

import pytest
import torch

from unbraid.core import Batch, DataSpec
from unbraid.methods import DIPVAEI, DIPVAEII
from unbraid.methods.vae.dip_vae import DIPVAEIIModel, DIPVAEIModel

SPEC = DataSpec((1, 16, 16), 64)
MEAN = torch.tensor([[1.0, 2.0], [-1.0, -2.0]])
LOG_VAR = torch.tensor([[4.0, 1.0], [2.0, 3.0]]).log()
BATCH = Batch(torch.rand(2, 1, 16, 16), torch.arange(2), torch.zeros(2, 0))


def fixed(method: DIPVAEIModel | DIPVAEIIModel) -> dict[str, float]:
    """The loss with an encoder that always answers the posteriors made by hand."""
    head: Any = torch.nn.Identity()
    head.forward = lambda x: torch.cat((MEAN, LOG_VAR), dim=1)
    method.encoder = head
    return method.loss(BATCH, 0).values()


def test_the_first_penalises_the_means_only() -> None:
    found = fixed(DIPVAEI(width=0.1, latents=2, off_diagonal=3.0, diagonal=5.0).build(SPEC))
    assert found["off_diagonal"] == pytest.approx(8.0)
    assert found["diagonal"] == pytest.approx(0.0 + 9.0)
    elbo = found["reconstruction"] + found["kl"]
    assert found["total"] == pytest.approx(elbo + 3.0 * 8.0 + 5.0 * 9.0, rel=1e-5)


def test_the_second_adds_expected_variances_to_the_diagonal() -> None:
    found = fixed(DIPVAEII(width=0.1, latents=2, off_diagonal=3.0, diagonal=5.0, third_moments=2.0).build(SPEC))
    assert found["off_diagonal"] == pytest.approx(8.0)
    assert found["diagonal"] == pytest.approx(9.0 + 25.0)
    third = 3.0**2 + 6.0**2 + 3 * 2.0**2 + 3 * 1.0**2
    assert found["third_moments"] == pytest.approx(third)
    elbo = found["reconstruction"] + found["kl"]
    assert found["total"] == pytest.approx(elbo + 3.0 * 8.0 + 5.0 * 34.0 + 2.0 * third, rel=1e-5)


def test_published_weights_are_the_defaults() -> None:
    assert DIPVAEI().diagonal == 10 * DIPVAEI().off_diagonal
    assert DIPVAEII().diagonal == DIPVAEII().off_diagonal
