"""Weight decay: none by default, and then the optimiser is Adam to the bit."""

import pytest
import torch
from lightning_fabric import Fabric

from unbraid import methods
from unbraid.core import Adam, DataSpec, build_method
from unbraid.training.loop import UpdateOptimizer


def test_without_decay_the_steps_are_those_of_adam() -> None:
    start = torch.randn(50)
    results = []
    for optimiser in (torch.optim.Adam, torch.optim.AdamW):
        weight = torch.nn.Parameter(start.clone())
        steps = optimiser([weight], lr=0.01, weight_decay=0.0, fused=True)
        for step in range(20):
            weight.grad = torch.sin(weight.detach() * (step + 1))
            steps.step()
        results.append(weight.detach())
    assert torch.equal(*results)


@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_weights_decay_by_their_share_of_the_rate(decay: float) -> None:
    config = methods.Autoencoder(width=0.1, likelihood="gaussian", adam=Adam(lr=0.1, decay=decay))
    method = build_method(config, DataSpec((5,), 10))
    optimizer = UpdateOptimizer(method.updates()[0], method, Fabric(accelerator="cpu", devices=1))
    before = [parameter.detach().clone() for parameter in optimizer.parameters]
    for parameter in optimizer.parameters:
        parameter.grad = torch.zeros_like(parameter)
    optimizer.stepper.step()
    for old, new in zip(before, optimizer.parameters, strict=True):
        torch.testing.assert_close(new.detach(), (1 - 0.1 * decay) * old)
