"""What a method may be able to do beyond its losses: each capability is a protocol, declared and never discovered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol, runtime_checkable

from torch import Tensor

from unbraid.ops.gaussian import DiagonalGaussian
from unbraid.ops.mixture import GaussianModes
from unbraid.ops.posterior import Posterior


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
class HasLikelihood(Protocol):
    """A method with an explicit p(x | z): its ELBO can be reported."""

    def nll_rows(self, x: Tensor) -> Tensor:
        """−log p(x | z) at a draw of q(z | x), for each observation, [b]."""


@runtime_checkable
class HasConditionalPrior(Protocol):
    """A method whose prior of the codes `z` depends on labels: p(z | u)."""

    def conditional_prior_of(self, labels: Tensor) -> DiagonalGaussian:
        """p(z | u) for labels [n, factor] as they stand in the data set, all of them known; mean and log_var [n, z]."""


@runtime_checkable
class HasClasses(Encodes, Decodes, Protocol):
    """A method that names classes: discrete variables c, each with codes of its own among `u`, and the rest in `z`.

    Codes of variable k are columns k·n to (k + 1)·n of `u`, with n = `codes_per_variable`.
    """

    @property
    def class_sizes(self) -> tuple[int, ...]:
        """How many classes each discrete variable has."""

    @property
    def codes_per_variable(self) -> int:
        """How many codes of `u` belong to each discrete variable."""

    def classify(self, x: Tensor) -> list[Tensor]:
        """q(c | x) for each discrete variable, [b, class]."""

    def class_modes(self, variable: int) -> GaussianModes:
        """The learned prior of this variable's codes."""

    def class_codes(self, variable: int, classes: Tensor) -> Tensor:
        """Expected `u` [n, code] for these classes [n] of one variable, the others being of their likeliest class."""


@runtime_checkable
class LearnsPrior(Protocol):
    """A later stage that learns which z belong to a y, p(z | y), as its last step, from its own codes.

    y is all that it knows of the codes c before it, so this is its p(z | c). Codes of many latents fill a small part
    of N(0, 1): draws of that look like no observation.
    """

    @property
    def prior_rows(self) -> int:
        """How many observations it learns that from; 0 if it was not asked to, and `prior` is all there is."""

    def fit_prior(self, x_and_y: Iterator[tuple[Tensor, Tensor]]) -> None:
        """Look at observations and their y, batch by batch, and keep what was learned in `learned_prior`, a submodule.

        A function of them, of the weights and of torch's generator alone.
        """

    def draw_given(self, y: Tensor) -> dict[str, Tensor]:
        """A draw from p(z | y) for every y."""


@runtime_checkable
class Adjusts(Protocol):
    """A method that sets some of its weights anew between steps (a rotation of its codes, for example)."""

    def adjusts(self, step: int, steps: int) -> bool:
        """Whether that is due before this step of so many."""

    def adjust(self, x: Tensor) -> None:
        """Look at some observations. A function of them and of the weights alone."""


@runtime_checkable
class HasTarget(Protocol):
    """A configuration whose method may be trained to predict something else than the observations."""

    @property
    def target(self) -> str:
        """The name of one of the data set's targets; empty for the observations."""
