"""Critics that tell samples of two distributions of codes apart."""

from __future__ import annotations

from functools import partial

from torch import Tensor, nn

from unbraid.nets.stacks import scaled

SLOPE = 0.2  # of every LeakyReLU in Kim & Mnih 2018 and Radford et al. 2016


class Critic(nn.Sequential):
    """A network with one output for each sample.

    Example:
        >>> import torch
        >>> Critic(nn.Linear(4, 1))(torch.randn(2, 4)).shape
        torch.Size([2])
    """

    def forward(self, z: Tensor) -> Tensor:
        """The log-ratio of the two densities, [b]."""
        return super().forward(z).squeeze(1)  # type: ignore[no-any-return, no-untyped-call]


def critic(inputs: int, units: int = 1000, layers: int = 6, width: float = 1.0) -> Critic:
    """A fully connected critic of codes with LeakyReLU(0.2).

    Args:
        inputs: the number of codes.
        units: in each hidden layer, at width 1.
        layers: the number of hidden layers.
        width: fraction of the units.

    Returns:
        A network from [b, inputs] to log-ratios [b].

    Reference:
        Kim & Mnih 2018: 6 layers of 1000 units.

    Example:
        >>> import torch
        >>> critic(10, width=0.01)(torch.randn(2, 10)).shape
        torch.Size([2])
    """
    activation = partial(nn.LeakyReLU, SLOPE)
    sizes = [inputs, *[scaled(units, width)] * layers]
    hidden = [
        module
        for before, after in zip(sizes[:-1], sizes[1:], strict=True)
        for module in (nn.Linear(before, after), activation())
    ]
    return Critic(*hidden, nn.Linear(sizes[-1], 1))
