"""A running average of the weights over training: what is written at the end in place of the last step's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from unbraid.core import Method


class WeightAverage:
    """An exponential moving average of a method's parameters; with a decay of 0 there is none, and nothing is done.

    Buffers (batch statistics) are averages already and stay as they are.
    """

    def __init__(self, method: Method, decay: float) -> None:
        self.decay = decay
        named = dict(method.named_parameters()) if decay else {}
        self.live = [parameter.detach() for parameter in named.values()]
        self.weights: dict[str, Tensor] = {name: parameter.detach().clone() for name, parameter in named.items()}

    def update(self, step: int) -> None:
        """Take in the weights after this step, counted from 0.

        The first steps are soon forgotten: until the decay is reached, the average is over the last tenth or so.
        """
        if self.weights:
            decay = min(self.decay, (1 + step) / (10 + step))
            torch._foreach_lerp_(list(self.weights.values()), self.live, 1 - decay)

    def put_in_place(self) -> None:
        """Replace the method's weights by their average."""
        if self.weights:
            torch._foreach_copy_(self.live, list(self.weights.values()))

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Put the average into the method for as long as the context lasts."""
        last = [parameter.clone() for parameter in self.live]
        self.put_in_place()
        try:
            yield
        finally:
            if self.weights:
                torch._foreach_copy_(self.live, last)
