"""Options that many methods share, each with one name, one default, one help text and one set of bounds.

A method's configuration inherits from those that apply; where a paper has another default, `with_default` says so.
Override only in a method's own class: of two bases that share an option, Python takes the first one's default.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass

from unbraid.core import Adam, DataSpec, MethodConfig
from unbraid.data.pairs import Pairs
from unbraid.errors import InputError
from unbraid.nets.stacks import NetworkName
from unbraid.ops.likelihood import LIKELIHOODS, Likelihood
from unbraid.util.schema import option


@dataclass(frozen=True, kw_only=True)
class NetworkOptions(MethodConfig, ABC):
    """Options of every method that trains networks."""

    width: float = option(1.0, "fraction of the paper's units in every layer", above=0)
    adam: Adam = option(Adam(), "optimiser")


@dataclass(frozen=True, kw_only=True)
class StackOptions(NetworkOptions, ABC):
    """Options of the methods that take one of the papers' encoders and decoders by name."""

    network: NetworkName = option(
        "auto",
        "conv (for images), conv-bn, conv-celeba, conv-mnist, mlp, conv1d (signals); broadcast (decodes places), "
        "additive, additive-2 (decode codes one by one, or two by two, and add)",
    )


@dataclass(frozen=True, kw_only=True)
class ObservationOptions(NetworkOptions, ABC):
    """Options of the methods with an observation model p(x | codes)."""

    likelihood: Likelihood = option("bernoulli", LIKELIHOODS)
    scale: float = option(1.0, "standard deviation (gaussian) or width (laplace) of the observation model", above=0)


@dataclass(frozen=True, kw_only=True)
class PairOptions(MethodConfig, ABC):
    """Options of the methods that learn from pairs of observations."""

    pairs: Pairs = option(Pairs(), "how the other observation of a pair is chosen")


def check_likelihood(name: Likelihood, data: DataSpec) -> None:
    """Refuse a Bernoulli model of vectors: it means values in [0, 1], which only images promise.

    Example:
        >>> check_likelihood("bernoulli", DataSpec(shape=(3, 64, 64), size=10))
        >>> check_likelihood("gaussian", DataSpec(shape=(5,), size=10))
    """
    if name == "bernoulli" and not data.is_image:
        raise InputError("a bernoulli likelihood needs images; for vectors pass --likelihood gaussian or laplace.")
