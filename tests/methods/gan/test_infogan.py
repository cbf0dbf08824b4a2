"""InfoGAN's information term, on a channel whose information is known, and its two players."""

import math

import pytest
import torch

from unbraid.core import Batch, DataSpec
from unbraid.methods import InfoGAN
from unbraid.ops.information import UNIFORM_ENTROPY, RecognisedCode, information_bound

SPEC = DataSpec((1, 16, 16), 64)


def known_information(sigma: float) -> float:
    """I(c; c + σε) for c uniform on [−1, 1], by quadrature: h(x) − h(ε)."""
    x = torch.linspace(-1 - 8 * sigma, 1 + 8 * sigma, 200_001, dtype=torch.float64)
    root = sigma * math.sqrt(2)
    density = 0.25 * (torch.erf((1 - x) / root) + torch.erf((1 + x) / root))
    entropy = -torch.trapezoid(torch.where(density > 0, density * density.clamp(min=1e-300).log(), 0.0), x)
    return entropy.item() - 0.5 * math.log(2 * math.pi * math.e * sigma**2)


@pytest.mark.parametrize("sigma", [0.05, 0.2, 1.0])
def test_the_information_term_is_a_lower_bound_where_it_is_known(sigma: float) -> None:
    torch.manual_seed(0)
    c = 2 * torch.rand(200_000, 1) - 1
    x = c + sigma * torch.randn_like(c)
    best_slope = (1 / 3) / (1 / 3 + sigma**2)
    best_var = (1 / 3) * sigma**2 / (1 / 3 + sigma**2)
    bounds = {}
    for name, slope, variance in (
        ("best", best_slope, best_var),
        ("bold", best_slope, best_var / 4),
        ("dull", 0.0, 1 / 3),
    ):
        q = RecognisedCode(slope * x, torch.full_like(x, math.log(variance)))
        bounds[name] = information_bound(q.log_prob(c), UNIFORM_ENTROPY).item()
    known = known_information(sigma)
    assert all(bound <= known + 0.005 for bound in bounds.values()), (bounds, known)
    assert bounds["best"] == max(bounds.values())
    if sigma == 0.05:
        assert bounds["best"] == pytest.approx(known, abs=0.05), "with little noise the Gaussian guess is nearly exact"


def test_each_player_leaves_the_other_alone() -> None:
    torch.manual_seed(0)
    method = InfoGAN(width=0.1).build(SPEC)
    batch = Batch(torch.rand(8, 1, 16, 16), torch.arange(8), torch.zeros(8, 0))
    method.critic_loss(batch, 0).total.backward()
    assert all(p.grad is None for p in method.generator.parameters())
    critic, generator = method.updates()
    assert set(critic.trains).isdisjoint(generator.trains)


def test_instance_noise_fades() -> None:
    method = InfoGAN(width=0.1, instance_noise=0.5, noise_steps=100).build(SPEC)
    x = torch.zeros(4, 1, 16, 16)
    assert method.blurred(x, 0).std().item() == pytest.approx(0.5, rel=0.1)
    assert torch.equal(method.blurred(x, 100), x)


def test_codes_that_are_no_surer_than_the_prior_say_nothing() -> None:
    sure, unsure = math.log(1e-4), math.log(1.0)
    q = RecognisedCode(torch.zeros(1, 2), torch.tensor([[sure, unsure]]))
    said = q.kl_per_latent()[0]
    assert said[0].item() == pytest.approx(math.log(2) - 0.5 * math.log(2 * math.pi * math.e * 1e-4), rel=1e-5)
    assert said[1].item() == 0.0
