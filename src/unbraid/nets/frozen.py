"""Networks through which a gradient passes without touching their weights."""

from __future__ import annotations

from torch import Tensor, nn
from torch.func import functional_call


def frozen(network: nn.Module, x: Tensor) -> Tensor:
    """The network's output: gradients reach x, and none reaches the weights.

    Args:
        network: any module of one input.
        x: its input.

    Returns:
        What the network makes of x.

    Example:
        >>> import torch
        >>> network, x = nn.Linear(2, 1), torch.ones(1, 2, requires_grad=True)
        >>> frozen(network, x).sum().backward()
        >>> x.grad is not None, network.weight.grad is None
        (True, True)
    """
    weights = {name: parameter.detach() for name, parameter in network.named_parameters()}
    return functional_call(network, weights, (x,))  # type: ignore[no-any-return]
