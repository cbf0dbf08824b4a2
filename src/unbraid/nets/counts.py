"""Counts as networks take and make them: logarithms in, logarithms of rates out."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from unbraid.data.counts import Counts

LEAST_RATE = 1e-4  # of a value that was never counted, from which its rate starts
FIRST_LOG_DISPERSION = 1.0  # where dispersions start: variances of some λ + λ²/3


class CountInput(nn.Module):
    """Counts [b, value] to log(1 + count), less that of the mean; with a library size, of counts at a common total.

    Args:
        counts: what is known of the data's counts.
        library_size: whether observations are first brought to the typical total.

    Example:
        >>> seen = CountInput(Counts((1.0, 1.0), library=4.0), library_size=True)
        >>> seen(torch.tensor([[2.0, 6.0], [1.0, 3.0]])).exp().tolist()
        [[1.0, 2.0], [1.0, 2.0]]
    """

    middle: Tensor

    def __init__(self, counts: Counts, library_size: bool) -> None:
        super().__init__()
        self.library = counts.library if library_size else 0.0
        self.register_buffer("middle", torch.tensor(counts.rates).log1p())

    def forward(self, x: Tensor) -> Tensor:
        """What a network sees of counts."""
        if self.library:
            x = x * (self.library / x.sum(1, keepdim=True).clamp(min=1.0))
        return x.log1p() - self.middle


class CountOutput(nn.Module):
    """The last layer of a decoder of counts: logarithms of rates, which start from the data's means, and of θ.

    Args:
        counts: what is known of the data's counts.
        library_size: whether rates are shares of a total, here the typical one.
        dispersed: whether every value has a dispersion θ to learn (negative binomial).

    Example:
        >>> CountOutput(Counts((1.0, 3.0), library=8.0), True, False)(torch.zeros(1, 2)).exp().tolist()
        [[2.0, 6.0]]
    """

    def __init__(self, counts: Counts, library_size: bool, dispersed: bool) -> None:
        super().__init__()
        rates = torch.tensor(counts.rates).clamp(min=LEAST_RATE)
        self.log_rate = nn.Parameter(rates.log())
        self.library = counts.library if library_size else 0.0
        start = torch.full_like(rates, FIRST_LOG_DISPERSION)
        self.log_dispersion = nn.Parameter(start) if dispersed else None

    def forward(self, output: Tensor) -> Tensor:
        """Logarithms of rates [b, value] or, with dispersions beside them, [b, 2·value]."""
        rates = output + self.log_rate
        if self.library:
            rates = rates.log_softmax(1) + torch.tensor(self.library, device=rates.device).log()
        if self.log_dispersion is None:
            return rates
        return torch.cat((rates, self.log_dispersion.expand_as(rates)), dim=1)


@dataclass(frozen=True)
class CountLayers:
    """What stands before an encoder and after a decoder of counts."""

    counts: Counts
    library_size: bool = False
    dispersed: bool = False

    def input(self) -> CountInput:
        """From counts to what the encoder sees."""
        return CountInput(self.counts, self.library_size)

    def output(self) -> CountOutput:
        """From what the decoder makes to logarithms of rates."""
        return CountOutput(self.counts, self.library_size, self.dispersed)
