"""Networks through which a gradient passes without touching their weights."""

from __future__ import annotations

from torch import Tensor, nn
from torch.func import functional_call


def frozen(network: nn.Module, x: Tensor) -> Tensor:
    """The network's output: gradients reach x, and none reaches the weights."""
    weights = {name: parameter.detach() for name, parameter in network.named_parameters()}
    return functional_call(network, weights, (x,))  # type: ignore[no-any-return]
