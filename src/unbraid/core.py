"""The contracts: what a method is, what it is given and what it returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

from torch import Tensor, nn

from unbraid.config import option
from unbraid.data.base import Factor


@dataclass(frozen=True)
class DataSpec:
    """What a method may know of the data when it builds its networks."""

    shape: tuple[int, ...]  # (channel, height, width) or (value,)
    size: int  # number of observations
    factors: tuple[Factor, ...] = ()

    @property
    def is_image(self) -> bool:
        """Whether observations are images (else vectors)."""
        return len(self.shape) == 3


@dataclass(frozen=True)
class Batch:
    """Observations as networks see them, with what else is known of them."""

    x: Tensor  # [b, channel, height, width] in [0, 1], or [b, value]
    index: Tensor  # [b] rows of the data set
    factors: Tensor  # [b, factor], NaN where the label is missing or withheld
    y: Tensor | None = None  # what the earlier stages make of x, where there are earlier stages


class Terms:
    """A loss: the total that is minimised and the named parts that are logged.

    A part may be a function, for figures that cost something: it is called on the steps that are logged, before the
    weights change.
    """

    __slots__ = ("parts", "total")

    def __init__(self, total: Tensor, **parts: Tensor | Callable[[], Tensor]) -> None:
        self.total = total
        self.parts = parts

    def values(self) -> dict[str, float]:
        """Total and parts as numbers."""
        computed = {name: part() if callable(part) else part for name, part in self.parts.items()}
        return {"total": self.total.item(), **{name: value.item() for name, value in computed.items()}}


@dataclass(frozen=True)
class Adam:
    """Settings of the Adam optimiser."""

    lr: float = 1e-4
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8


@dataclass(frozen=True)
class Update:
    """One optimiser step: minimise `loss` over the submodules named in `trains`."""

    name: str
    loss: Callable[[Batch, int], Terms]  # (batch, step) -> Terms
    trains: tuple[str, ...]
    optimizer: Adam
    batch_size: int
    stream: str = "train"  # which batches: "train" or "labelled"
    repeats: int = 1


class Posterior(Protocol):
    """A distribution over codes given observations."""

    @property
    def mean(self) -> Tensor:
        """The code that represents the observation, [b, latent]."""

    def rsample(self) -> Tensor:
        """A draw through which gradients flow, [b, latent]."""

    def kl_per_latent(self) -> Tensor:
        """How far each latent is from its prior, [b, latent]: what it says of the observation, in nats."""


class Method(nn.Module, ABC):
    """A model with its losses. Losses keep no state: schedules are functions of the step."""

    # Whether `encode` reads labels. Declared here, and shown in every table.
    encoder_needs_labels: ClassVar[bool] = False

    @abstractmethod
    def updates(self) -> tuple[Update, ...]:
        """The optimiser steps that make up one training step, in order."""


@runtime_checkable
class Encodes(Protocol):
    """A method that finds codes: keys `c` (classes), `u` (class-related or observed), `z` (the rest)."""

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """The posterior of each group of codes.

        `y` is the earlier stages' output, for later stages; `labels` [b, factor] are there for methods that
        declare `encoder_needs_labels`, and ignored by all others.
        """


@runtime_checkable
class Decodes(Protocol):
    """A method that makes observations from codes."""

    def decode(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """The mean of p(x | codes), in the space of the observations."""


@dataclass(frozen=True, kw_only=True)
class MethodConfig(ABC):
    """What a method is made from; `build` makes it. Frozen, comparable, and plain JSON on disk."""

    name: ClassVar[str]
    # A later stage is conditioned on y, the output of the stages before it.
    conditional: ClassVar[bool] = False

    batch_size: int = option(64, "observations in a training batch, over all devices")

    @abstractmethod
    def build(self, data: DataSpec) -> Method:
        """The untrained method for data of this shape. Draws its weights from torch's global generator."""
