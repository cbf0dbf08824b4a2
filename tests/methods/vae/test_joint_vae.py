"""Capacities of continuous and discrete codes."""

import math

import pytest
import torch

from unbraid.core import Batch, DataSpec
from unbraid.methods import JointVAE

SPEC = DataSpec((1, 16, 16), 64)


def test_the_discrete_capacity_stops_at_log_l() -> None:
    method = JointVAE(width=0.1, classes=(3,), discrete_capacity=25.0, capacity=40.0, capacity_steps=100).build(SPEC)
    assert method.capacities(0) == (0.0, 0.0)
    assert method.capacities(2)[1] == pytest.approx(0.5)
    for step in (10, 100, 10_000):
        assert method.capacities(step)[1] == pytest.approx(math.log(3))
    assert method.capacities(10_000)[0] == 40.0


def test_a_capacity_below_log_l_is_kept() -> None:
    method = JointVAE(width=0.1, classes=(3, 4), discrete_capacity=1.1, capacity_steps=100).build(SPEC)
    assert method.capacities(100)[1] == pytest.approx(1.1)


def test_the_total_is_the_equation() -> None:
    torch.manual_seed(0)
    method = JointVAE(width=0.1, gamma=7.0, capacity=4.0, discrete_capacity=1.0, capacity_steps=10).build(SPEC)
    batch = Batch(torch.rand(8, 1, 16, 16), torch.arange(8), torch.zeros(8, 0))
    terms = method.loss(batch, 5).values()
    distances = abs(terms["kl_continuous"] - 2.0) + abs(terms["kl_discrete"] - 0.5)
    assert terms["total"] == pytest.approx(terms["reconstruction"] + 7.0 * distances, rel=1e-5)
