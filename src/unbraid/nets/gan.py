"""Networks of adversarial methods: the convolutional stacks with leaky activations."""

from __future__ import annotations

from typing import Literal

from torch import nn

from unbraid.nets import dcgan
from unbraid.nets.critic import SLOPE
from unbraid.nets.stacks import Encoder, NetworkName, choose, decoder

GANNetwork = Literal[NetworkName, "dcgan"]


def leaky(layers: nn.Sequential) -> nn.Sequential:
    """The same layers with LeakyReLU(0.2) in place of every other activation.

    Example:
        >>> leaky(nn.Sequential(nn.ReLU()))[0]
        LeakyReLU(negative_slope=0.2)
    """
    return nn.Sequential(*(nn.LeakyReLU(SLOPE) if isinstance(m, nn.ReLU | nn.Tanh) else m for m in layers))


def generator(inputs: int, shape: tuple[int, ...], network: GANNetwork, width: float) -> nn.Sequential:
    """From codes and noise to logits of an observation.

    Args:
        inputs: codes and noise together.
        shape: of the observation.
        network: one of the named stacks, or `dcgan`; `auto` has batch norm, for images.
        width: fraction of the paper's units in every layer.

    Returns:
        A network from [b, inputs] to [b, *shape].

    Reference:
        Chen et al. 2018, appendix H.1, InfoGAN.

    Example:
        >>> import torch
        >>> generator(10, (3, 16, 16), "auto", width=0.1)(torch.randn(2, 10)).shape
        torch.Size([2, 3, 16, 16])
    """
    if network == "dcgan":
        return dcgan.generator(inputs, shape, width)
    return leaky(decoder(inputs, shape, network=with_norm(network, shape), width=width))


def trunk(shape: tuple[int, ...], network: GANNetwork, width: float) -> tuple[nn.Sequential, int]:
    """What discriminator and recognition network share.

    Args:
        shape: of the observation.
        network: one of the named stacks, or `dcgan`; `auto` has batch norm, for images.
        width: fraction of the paper's units in every layer.

    Returns:
        The layers, and the number of features that come out of them.

    Example:
        >>> trunk((3, 16, 16), "auto", width=0.1)[1]
        51
    """
    if network == "dcgan":
        return dcgan.trunk(shape, width)
    encoder = Encoder(shape, 1, network=with_norm(network, shape), width=width)
    return leaky(encoder.trunk), encoder.head.in_features


def with_norm(network: NetworkName, shape: tuple[int, ...]) -> NetworkName:
    """`auto` stands for the stack with batch normalisation, without which adversarial training seldom holds.

    Example:
        >>> with_norm("auto", (3, 16, 16)), with_norm("mlp", (3, 16, 16))
        ('conv-bn', 'mlp')
    """
    return "conv-bn" if network == "auto" and choose("auto", shape) == "conv" else network
