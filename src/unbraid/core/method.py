"""The contracts: what a method is, what it receives and what it returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import cos, pi
from typing import ClassVar, Literal

from torch import Tensor, nn

from unbraid.core.terms import Terms as Terms
from unbraid.data.pairs import Pairs
from unbraid.data.spec import DataSpec as DataSpec
from unbraid.ops.posterior import Posterior as Posterior
from unbraid.util.schema import later_option, option


@dataclass(frozen=True)
class Batch:
    """Observations as networks see them, with what else is known of them."""

    x: Tensor  # [b, channel, height, width] in [0, 1], or [b, value]
    index: Tensor  # [b] rows of the data set
    factors: Tensor  # [b, factor], NaN where the label is missing or withheld
    y: Tensor | None = None  # what the earlier stages make of x, where there are earlier stages
    codes: Tensor | None = None  # [b, code] what y was made from: codes of the stage before, for stages that use them
    pair: Tensor | None = None  # another observation for each of x, for updates that ask for pairs


@dataclass(frozen=True)
class Adam:
    """Settings of the Adam optimiser.

    Example:
        >>> Adam(lr=2.0, end=0.5).rate(1.0)
        1.0
    """

    lr: float = option(1e-4, "learning rate", least=0)
    beta1: float = option(0.9, "decay of the mean of gradients", least=0, below=1)
    beta2: float = option(0.999, "decay of the mean of squared gradients", least=0, below=1)
    eps: float = option(1e-8, "added to the divisor", least=0)
    end: float = later_option(1.0, "part of lr that is left at the last step", least=0, most=1)
    schedule: Literal["linear", "cosine"] = later_option("linear", "how lr falls to that: on a line, or as a cosine")
    warmup: int = later_option(0, "first steps, over which lr rises from 0", least=0)
    decay: float = later_option(0.0, "decay of weights in each step, times lr (AdamW)", least=0)
    clip: float = later_option(0.0, "length to which longer gradients are shortened (0: they are not)", least=0)

    def rate(self, progress: float, step: int | None = None) -> float:
        """The learning rate after this part of training, 0 to 1; of the `step` that comes next, with its warm-up."""
        fallen = progress if self.schedule == "linear" else 0.5 * (1 - cos(pi * progress))
        warm = 1.0 if step is None or step >= self.warmup else (step + 1) / self.warmup
        return warm * self.lr * (1 - (1 - self.end) * fallen)


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
    pairs: Pairs | None = None  # how each observation's partner is chosen; None: they have none


class Method(nn.Module, ABC):
    """A model with its losses. Losses keep no state: schedules are functions of the step."""

    config: MethodConfig  # what it was built from; its special properties are declared there

    @abstractmethod
    def updates(self) -> tuple[Update, ...]:
        """The optimiser steps that make up one training step, in order."""


@dataclass(frozen=True, kw_only=True)
class MethodConfig(ABC):
    """The options of a method; `build` makes the method. Frozen, comparable, and plain JSON on disk."""

    name: ClassVar[str]  # on the command line and in files
    title: ClassVar[str]  # as people write it, for pages and figures; the name, if a method does not say
    # Where it is published, for lists: authors and year, or a paper of this tool by its method, with the place in it.
    paper: ClassVar[str] = ""
    when: ClassVar[str] = ""  # a sentence on what it is good for, for its page and for who asks for its options
    # Whether it is a later stage: one that is conditioned on y, the output of the stages before it.
    conditional: ClassVar[bool] = False
    # Whether training reads labels: only then does it see any, and only then is the label budget part of its key.
    uses_labels: ClassVar[bool] = False
    # Whether it reads labels only of observations that have all of them: a budget is then spent on those.
    needs_complete_labels: ClassVar[bool] = False
    # Whether the codes are labels, read off and not inferred: where one is missing there is no code.
    codes_are_labels: ClassVar[bool] = False
    # Whether `encode` reads labels where there are any. Declared here, and shown in every table: such a method is
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

    batch_size: int = option(64, "observations in a training batch, over all devices", least=1)
    average: float = later_option(
        0.0,
        "decay of a running average of the weights over the steps, kept in their place at the end (0: none)",
        least=0,
        below=1,
    )

    def __init_subclass__(cls) -> None:
        if "name" in vars(cls) and "title" not in vars(cls):
            cls.title = cls.name

    @property
    def uses_codes(self) -> bool:
        """Whether a later stage reads the codes of the stage before, not only y; `decode` has them under `given`."""
        return False

    def required_labels(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Of these factors those whose labels an observation must have to count as labelled; none: any will do."""
        return names if self.needs_complete_labels else ()

    def check(self, data: DataSpec) -> None:  # noqa: B027  (most have nothing to refuse)
        """Refuse data that it could not learn from. Called before training, never when a finished run is opened."""

    def cautions(self, observations: int) -> list[str]:
        """Sentences, said before training, on settings under which a method does something else than its name says.

        Args:
            observations: how many the data set has.
        """
        return []

    @abstractmethod
    def build(self, data: DataSpec) -> Method:
        """The untrained method for data of this shape. Draws its weights from torch's global generator."""


def build_method(config: MethodConfig, data: DataSpec) -> Method:
    """The untrained method for data of this shape, which knows what it was built from."""
    method = config.build(data)
    method.config = config
    return method


Condition = Literal["sample", "mean", "observation"]


@dataclass(frozen=True, kw_only=True)
class LaterStage(MethodConfig, ABC):
    """What every later stage shares: which y of the earlier stages it is trained on."""

    conditional: ClassVar[bool] = True
    condition: Condition = option(
        "sample", "y from a draw of the earlier codes (sample), their means (mean), or drawn itself too (observation)"
    )
    draws: int = option(1, "how many y are made for each observation; each pass over the data has the next", least=1)
