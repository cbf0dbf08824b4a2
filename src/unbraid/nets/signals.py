"""Convolutions along one axis, for signals: values whose neighbours belong together."""

from __future__ import annotations

from math import sqrt

from torch import nn

CHANNELS = (32, 32, 64, 64)  # of the stride-2 convolutions, as in the stack for images
HIDDEN = 256
SHORTEST = 8  # values that a signal must have for one halving


def lengths(values: int) -> list[int]:
    """The signal's length and those of its maps: halved at most four times, while at least 4 values remain.

    Example:
        >>> lengths(50)
        [50, 25, 12, 6]
    """
    found = [values]
    while len(found) <= len(CHANNELS) and found[-1] // 2 >= SHORTEST // 2:
        found.append(found[-1] // 2)
    return found


def signal_trunk(values: int, features: int, channels: tuple[int, ...], inputs: int = 1) -> nn.Sequential:
    """Stride-2 convolutions along a signal, then one hidden layer.

    Args:
        values: the signal's length.
        features: the number that comes out.
        channels: of the convolutions, one for every halving.
        inputs: the signal's own channels, one after another in an observation.

    Returns:
        A network from [b, input·value] to [b, feature].

    Example:
        >>> import torch
        >>> signal_trunk(50, features=16, channels=(4, 4, 8))(torch.randn(2, 50)).shape
        torch.Size([2, 16])
    """
    sizes = lengths(values)
    layers: list[nn.Module] = [nn.Unflatten(1, (inputs, values))]
    for before, after in zip((inputs, *channels[:-1]), channels, strict=True):
        layers += [nn.Conv1d(before, after, 4, stride=2, padding=1), nn.ReLU()]
    made = nn.Sequential(*layers, nn.Flatten(), nn.Linear(channels[-1] * sizes[-1], features), nn.ReLU())
    return made if inputs == 1 else keep_variance(made)


def signal_decoder(inputs: int, values: int, hidden: int, channels: tuple[int, ...], outputs: int = 1) -> nn.Sequential:
    """The trunk's mirror: from codes to a signal.

    Args:
        inputs: the number of codes.
        values: the signal's length.
        hidden: units of the first layer.
        channels: of the trunk's convolutions.
        outputs: the signal's own channels.

    Returns:
        A network from [b, code] to [b, output·value].

    Example:
        >>> import torch
        >>> signal_decoder(5, 50, hidden=16, channels=(4, 4, 8))(torch.randn(2, 5)).shape
        torch.Size([2, 50])
    """
    sizes, upward = lengths(values)[::-1], (*channels[::-1], outputs)
    layers: list[nn.Module] = [nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, upward[0] * sizes[0]), nn.ReLU()]
    layers.append(nn.Unflatten(1, (upward[0], sizes[0])))
    for step in range(len(sizes) - 1):
        odd = sizes[step + 1] - 2 * sizes[step]
        layers.append(nn.ConvTranspose1d(upward[step], upward[step + 1], 4, stride=2, padding=1, output_padding=odd))
        if step < len(sizes) - 2:
            layers.append(nn.ReLU())
    made = nn.Sequential(*layers, nn.Flatten())
    return made if outputs == 1 else keep_variance(made)


def keep_variance(network: nn.Sequential) -> nn.Sequential:
    """Start weights such that every layer passes on as much as it gets (He et al. 2015).

    By torch's own start a code changes a short signal so little through these layers that the KL puts it out of use
    before the decoder has learned what to do with it. Signals of one channel keep the start that they had.
    """
    for layer in network:
        if isinstance(layer, nn.Conv1d | nn.ConvTranspose1d | nn.Linear):
            met: float = layer.weight[0].numel()  # inputs that meet in an output
            if isinstance(layer, nn.ConvTranspose1d):  # of its kernel every second value, by its stride
                met = layer.in_channels * layer.kernel_size[0] / layer.stride[0]
            nn.init.normal_(layer.weight, std=sqrt(2 / met))
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
    return network
