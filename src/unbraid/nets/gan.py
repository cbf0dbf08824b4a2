"""Networks of adversarial methods: the convolutional stacks with leaky activations."""

from __future__ import annotations

from torch import nn

from unbraid.nets.critic import SLOPE
from unbraid.nets.stacks import Encoder, NetworkName, choose, decoder


def leaky(layers: nn.Sequential) -> nn.Sequential:
    """The same layers with LeakyReLU(0.2) in place of every other activation."""
    return nn.Sequential(*(nn.LeakyReLU(SLOPE) if isinstance(m, nn.ReLU | nn.Tanh) else m for m in layers))


def generator(inputs: int, shape: tuple[int, ...], network: NetworkName, width: float) -> nn.Sequential:
    """From codes and noise to logits of an observation (Chen et al. 2018, appendix H.1, InfoGAN)."""
    return leaky(decoder(inputs, shape, network=with_norm(network, shape), width=width))


def trunk(shape: tuple[int, ...], network: NetworkName, width: float) -> tuple[nn.Sequential, int]:
    """What discriminator and recognition network share, and its number of features."""
    encoder = Encoder(shape, 1, network=with_norm(network, shape), width=width)
    return leaky(encoder.trunk), encoder.head.in_features


def with_norm(network: NetworkName, shape: tuple[int, ...]) -> NetworkName:
    """`auto` stands for the stack with batch normalisation, without which adversarial training seldom holds."""
    return "conv-bn" if network == "auto" and choose("auto", shape) == "conv" else network
