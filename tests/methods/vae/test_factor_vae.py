"""Two players that leave each other alone."""

from typing import Any

import torch

from unbraid.core import Batch, DataSpec
from unbraid.methods import FactorVAE
from unbraid.methods.vae.factor_vae import FactorVAEModel
from unbraid.nets.critic import critic


def model(**options: Any) -> FactorVAEModel:
    torch.manual_seed(0)
    return FactorVAE(width=0.1, **options).build(DataSpec((1, 16, 16), 64))


def batch(size: int = 8) -> Batch:
    torch.manual_seed(1)
    return Batch(torch.rand(size, 1, 16, 16), torch.arange(size), torch.zeros(size, 0))


def test_critic_step_leaves_the_encoder_alone() -> None:
    method = model()
    method.critic_loss(batch(), 0).total.backward()
    assert all(p.grad is None for p in (*method.encoder.parameters(), *method.decoder.parameters()))
    assert all(p.grad is not None for p in method.critic.parameters())


def test_the_vae_step_sends_its_gradient_through_the_critic() -> None:
    method, with_critic = model(gamma=0.0), model(gamma=10.0)
    gradients = []
    for m in (method, with_critic):
        torch.manual_seed(2)
        m.vae_loss(batch(), 0).total.backward()
        gradients.append(next(m.encoder.parameters()).grad)
    assert gradients[0] is not None
    assert gradients[1] is not None
    assert not torch.equal(gradients[0], gradients[1])


def test_without_weight_on_the_total_correlation_it_is_the_vae() -> None:
    torch.manual_seed(3)
    terms = model(gamma=0.0).vae_loss(batch(), 0).values()
    assert abs(terms["total"] - terms["reconstruction"] - terms["kl"]) < 1e-3


def test_the_critic_gets_as_many_joint_samples_as_permuted_ones() -> None:
    vae, critic_update = model().updates()
    assert critic_update.batch_size == 2 * vae.batch_size
    assert critic_update.name != vae.name  # a name of its own gives it batches of its own


def test_the_published_critic_has_six_layers_of_a_thousand() -> None:
    widths = [layer.out_features for layer in critic(10) if hasattr(layer, "out_features")]
    assert widths == [1000] * 6 + [1]
