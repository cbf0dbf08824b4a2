"""The density-ratio trick on distributions whose ratio is known."""

import math

import torch
from torch import Tensor

from unbraid.nets.critic import critic
from unbraid.ops.density_ratio import classification_loss, shuffle_each_dimension


def correlated(n: int, rho: float) -> Tensor:
    z = torch.randn(n, 2)
    return torch.stack([z[:, 0], rho * z[:, 0] + math.sqrt(1 - rho**2) * z[:, 1]], dim=1)


def test_shuffling_keeps_every_marginal_and_breaks_the_dependence() -> None:
    torch.manual_seed(0)
    z = correlated(4000, 0.9)
    shuffled = shuffle_each_dimension(z)
    assert torch.equal(shuffled.sort(dim=0).values, z.sort(dim=0).values)
    assert abs(torch.corrcoef(shuffled.T)[0, 1].item()) < 0.05


def test_each_latent_has_a_permutation_of_its_own() -> None:
    z = torch.arange(50.0)[:, None].repeat(1, 3)
    shuffled = shuffle_each_dimension(z)
    assert not torch.equal(shuffled[:, 0], shuffled[:, 1])


def test_the_critic_recovers_the_total_correlation_of_a_gaussian() -> None:
    torch.manual_seed(0)
    rho = 0.8
    known = -0.5 * math.log(1 - rho**2)  # 0.51 nats
    net = critic(2, units=64, layers=2)
    adam = torch.optim.Adam(net.parameters(), lr=3e-3, betas=(0.5, 0.9))
    for _ in range(400):
        joint, other = correlated(4096, rho).tensor_split(2)
        loss, _ = classification_loss(net(joint), net(shuffle_each_dimension(other)))
        adam.zero_grad()
        loss.backward()
        adam.step()
    with torch.no_grad():
        found = net(correlated(20_000, rho)).mean().item()
    assert abs(found - known) < 0.08


def test_the_loss_of_an_undecided_critic_is_log_two() -> None:
    loss, accuracy = classification_loss(torch.zeros(8), torch.zeros(8))
    assert math.isclose(loss.item(), math.log(2), rel_tol=1e-6)
    assert accuracy.item() == 0.0
