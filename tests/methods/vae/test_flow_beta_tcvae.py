"""The factorial flow prior: identity, densities, and the ablations."""

from typing import Any

import pytest
import torch

from unbraid.core import Batch, DataSpec
from unbraid.methods import BetaTCVAE, FlowBetaTCVAE
from unbraid.methods.vae.flow_beta_tcvae import GaussianUnderFlow
from unbraid.nets.factorial_flow import FactorialFlow
from unbraid.ops.gaussian import DiagonalGaussian, standard_log_prob

SPEC = DataSpec((1, 16, 16), 64)


def bent(latents: int = 3, depth: int = 32) -> FactorialFlow:
    torch.manual_seed(0)
    flow = FactorialFlow(latents, depth).double()
    with torch.no_grad():
        flow.strength.normal_()
        flow.shift.normal_(std=2.0)
    return flow


def batch() -> Batch:
    torch.manual_seed(1)
    return Batch(torch.rand(8, 1, 16, 16), torch.arange(8), torch.zeros(8, 0))


def test_identity_flows_are_the_standard_normal() -> None:
    z = torch.randn(50, 4)
    flow = FactorialFlow(4, 32)
    assert torch.allclose(flow.log_prob(z), standard_log_prob(z), atol=1e-5)
    base, log_slope = flow(z)
    assert torch.allclose(base, z, atol=1e-5)
    assert torch.allclose(log_slope, torch.zeros_like(z), atol=1e-5)


def test_each_density_integrates_to_one() -> None:
    flow = bent()
    z = torch.linspace(-60, 60, 40_001, dtype=torch.float64)[:, None].expand(-1, 3)
    mass = torch.trapezoid(flow.log_prob(z).detach().exp(), z[:, 0], dim=0)
    assert mass.tolist() == pytest.approx([1.0, 1.0, 1.0], abs=1e-5)


def test_the_way_to_the_base_increases_and_its_slope_is_the_derivative() -> None:
    flow = bent(latents=1)
    z = torch.linspace(-5, 5, 2001, dtype=torch.float64)[:, None].requires_grad_()
    base, log_slope = flow(z)
    (slope,) = torch.autograd.grad(base.sum(), z)
    assert (slope > 0).all()
    assert torch.allclose(slope.log(), log_slope, atol=1e-8)


def test_a_flow_learns_two_modes_where_a_normal_cannot() -> None:
    torch.manual_seed(0)
    flow = FactorialFlow(1, 16)
    adam = torch.optim.Adam(flow.parameters(), lr=3e-2)
    for _ in range(300):
        z = 0.4 * torch.randn(512, 1) + 2.0 * (torch.rand(512, 1) > 0.5) * 2 - 2.0
        loss = -flow.log_prob(z).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
    at = flow.log_prob(torch.tensor([[-2.0], [0.0], [2.0]])).detach().flatten()
    assert min(at[0], at[2]) > at[1] + 1.0


def test_with_identity_flows_it_is_beta_tcvae() -> None:
    flow, plain = (c.build(SPEC) for c in (FlowBetaTCVAE(width=0.1, beta=5.0), BetaTCVAE(width=0.1, beta=5.0)))
    plain.load_state_dict({k: v for k, v in flow.state_dict().items() if not k.startswith("flow.")})
    totals = []
    for method in (flow, plain):
        torch.manual_seed(2)
        totals.append(method.loss(batch(), 0).total.item())
    assert totals[0] == pytest.approx(totals[1], rel=1e-5)


def test_kl_under_an_identity_flow_is_the_gaussian_one() -> None:
    torch.manual_seed(0)
    mean, log_var = torch.randn(6, 4), torch.randn(6, 4)
    under = GaussianUnderFlow(mean, log_var, FactorialFlow(4, 8))
    assert torch.allclose(under.kl_per_latent(), DiagonalGaussian(mean, log_var).kl_per_latent(), atol=1e-4)


def test_draws_of_the_prior_are_standard_normal_before_the_flow() -> None:
    flow = bent(latents=2)
    base = torch.randn(2000, 2, dtype=torch.float64)
    assert torch.allclose(flow(flow.inverse(base))[0], base, atol=1e-8)
    prior = FlowBetaTCVAE(width=0.1, depth=4).build(SPEC).prior(5)["z"]
    assert prior.rsample().shape == (5, 10)
    assert torch.allclose(prior.mean, torch.zeros(5, 10), atol=1e-5)


@pytest.mark.parametrize("config", [BetaTCVAE, FlowBetaTCVAE])
def test_weights_of_zero_take_a_term_out(config: type[BetaTCVAE | FlowBetaTCVAE]) -> None:
    full = config(width=0.1, alpha=1.0, beta=1.0, gamma=1.0).build(SPEC)
    totals = {}
    for name, options in (("all", {}), ("alpha", {"alpha": 0.0}), ("gamma", {"gamma": 0.0}), ("beta", {"beta": 0.0})):
        weights: dict[str, Any] = {"alpha": 1.0, "beta": 1.0, "gamma": 1.0} | options
        method = config(width=0.1, **weights).build(SPEC)
        method.load_state_dict(full.state_dict())
        torch.manual_seed(2)
        terms = method.loss(batch(), 0)
        totals[name] = terms.total.item()
        reconstruction = terms.values()["reconstruction"]
    removed = sum(totals["all"] - totals[name] for name in ("alpha", "beta", "gamma"))
    assert removed == pytest.approx(totals["all"] - reconstruction, rel=1e-3, abs=1e-2)
