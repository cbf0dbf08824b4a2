"""The contracts: what a method is, what it is given and what it returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, runtime_checkable

from torch import Tensor, nn

from unbraid.config import later_option, option
from unbraid.data.base import Factor
from unbraid.errors import InputError


@dataclass(frozen=True)
class DataSpec:
    """What a method may know of the data when it builds its networks."""

    shape: tuple[int, ...]  # (channel, height, width) or (value,)
    size: int  # number of observations
    factors: tuple[Factor, ...] = ()  # those whose labels it may see
    ranges: tuple[tuple[float, float], ...] = ()  # least and greatest known value of each factor
    codes: int = 0  # number of codes of the stage before, for stages that use them
    labelled: int = 0  # observations of which at least one label is known
    shares: tuple[tuple[float, ...], ...] = ()  # of each value among the known labels, for each discrete factor
    means: tuple[float, ...] = ()  # of the known labels of each factor

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
    codes: Tensor | None = None  # [b, code] what y was made from: codes of the stage before, for stages that use them


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
    end: float = later_option(1.0, "part of lr that is left at the last step; it falls on a straight line")

    def __post_init__(self) -> None:
        """Refuse what Adam cannot do, and a rate that would grow or change its sign."""
        for name in ("lr", "eps"):
            if not getattr(self, name) >= 0:
                raise InputError(f"adam.{name} is {getattr(self, name):g}; it must be at least 0.")
        for name in ("beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"adam.{name} is {getattr(self, name):g}; it must be at least 0 and less than 1.")
        if not 0 <= self.end <= 1:
            raise InputError(f"adam.end is {self.end:g}; it is the part of lr that is left at the last step, 0 to 1.")

    def rate(self, progress: float) -> float:
        """The learning rate after this part of training, 0 to 1."""
        return self.lr * (1 - (1 - self.end) * progress)


# Which rows a batch is drawn from: all; those with every label; those with at least one; or one half of the batch from
# those with at least one (or all of these, if they are fewer), the other from those with none.
Stream = Literal["train", "labelled", "partly-labelled", "half-labelled"]


@dataclass(frozen=True)
class Update:
    """One optimiser step: minimise `loss` over the submodules named in `trains`."""

    name: str
    loss: Callable[[Batch, int], Terms]  # (batch, step) -> Terms
    trains: tuple[str, ...]
    optimizer: Adam
    batch_size: int
    stream: Stream = "train"
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

    # Whether `encode` reads labels where it is given them. Declared here, and shown in every table: such a method is
    # scored with the labels and without, where it must do with what it makes of NaN.
    encoder_needs_labels: ClassVar[bool] = False
    # Whether `decode` of `encode` shows what the codes keep of an observation. A flow inverts whatever it has learned,
    # and a generator without an encoder knows no z: what these make of an observation is a draw.
    reconstructs: ClassVar[bool] = True
    # Whether the prior of the codes is the standard normal, to which ELBOs are reported.
    standard_prior: ClassVar[bool] = True
    # Whether a later stage has codes in place of stage 1's, not beside them: the model is then steered by these, and
    # scored for them.
    replaces_codes: ClassVar[bool] = False
    # Whether this is a later stage whose decoder is also given the codes of the stage before, under the key `given`.
    uses_codes: bool = False

    @abstractmethod
    def updates(self) -> tuple[Update, ...]:
        """The optimiser steps that make up one training step, in order."""


@runtime_checkable
class Encodes(Protocol):
    """A method that finds codes: keys `c` (classes), `u` (class-related or observed), `z` (the rest)."""

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """The posterior of each group of codes.

        `y` is the earlier stages' output, for later stages; `labels` [b, factor], NaN where unknown, are there for
        methods that declare `encoder_needs_labels`, and ignored by all others.
        """


@runtime_checkable
class Decodes(Protocol):
    """A method that makes observations from codes."""

    def decode(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """The mean of p(x | codes), in the space of the observations."""


@runtime_checkable
class HasPrior(Protocol):
    """A method whose codes have a prior to draw from; without an encoder, the prior is all it knows of its codes."""

    def prior(self, n: int) -> dict[str, Posterior]:
        """The prior of each group of codes, for n observations."""


@runtime_checkable
class Draws(Protocol):
    """A method that can draw from p(x | codes), not only give its mean."""

    def sample_x(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """A draw from p(x | codes), in the space of the observations."""


@runtime_checkable
class Prepares(Protocol):
    """A method that sets some of its weights from the data before the first step (a mixture by EM, for example)."""

    def prepare(self, x: Iterator[Tensor]) -> None:
        """Look at the observations, batch by batch. A function of them and of torch's generator alone."""


@runtime_checkable
class Adjusts(Protocol):
    """A method that sets some of its weights anew between steps (a rotation of its codes, for example)."""

    def adjusts(self, step: int, steps: int) -> bool:
        """Whether that is due before this step of so many."""

    def adjust(self, x: Tensor) -> None:
        """Look at some observations. A function of them and of the weights alone."""


@dataclass(frozen=True, kw_only=True)
class MethodConfig(ABC):
    """What a method is made from; `build` makes it. Frozen, comparable, and plain JSON on disk."""

    name: ClassVar[str]
    # Where it is published, for lists: authors and year, or a paper of this tool by its method, with the place in it.
    paper: ClassVar[str] = ""
    # A later stage is conditioned on y, the output of the stages before it.
    conditional: ClassVar[bool] = False
    # Whether training reads labels: only then is it given any, and only then is the label budget part of its key.
    uses_labels: ClassVar[bool] = False
    # Whether labels are read only of observations of which all are known: a budget is then spent on those.
    needs_complete_labels: ClassVar[bool] = False
    # Whether the codes are labels, read off and not inferred: where one is missing there is no code.
    codes_are_labels: ClassVar[bool] = False

    batch_size: int = option(64, "observations in a training batch, over all devices")

    @property
    def uses_codes(self) -> bool:
        """Whether the method uses the codes of the stage before, not only its output y."""
        return False

    def required_labels(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Of these factors those whose labels an observation must have to count as labelled; none: any will do."""
        return names if self.needs_complete_labels else ()

    def check(self, data: DataSpec) -> None:  # noqa: B027  (most have nothing to refuse)
        """Refuse data that it could not learn from. Asked before training, never when a finished run is opened."""

    @abstractmethod
    def build(self, data: DataSpec) -> Method:
        """The untrained method for data of this shape. Draws its weights from torch's global generator."""


Condition = Literal["sample", "mean", "observation"]


@dataclass(frozen=True, kw_only=True)
class LaterStage(MethodConfig, ABC):
    """What every later stage shares: which y of the earlier stages it is trained on."""

    conditional: ClassVar[bool] = True
    condition: Condition = option(
        "sample", "y from a draw of the earlier codes (sample), their means (mean), or drawn itself too (observation)"
    )
    draws: int = option(1, "how many y are made for each observation")


@runtime_checkable
class HasTarget(Protocol):
    """A configuration that may be trained to make something else than the observations."""

    @property
    def target(self) -> str:
        """The name of one of the data set's targets; empty for the observations."""
