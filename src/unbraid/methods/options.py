"""Options that many methods share, each with one name, one default, one help text and one set of bounds.

A method's configuration inherits from those that apply; where a paper has another default, `with_default` says so.
Override only in a method's own class: of two bases that share an option, Python takes the first one's default.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import Any, ClassVar

from unbraid.core import Adam, DataSpec, MethodConfig
from unbraid.data.pairs import Pairs
from unbraid.errors import InputError
from unbraid.nets.counts import CountLayers
from unbraid.nets.stacks import NetworkName
from unbraid.ops.counts import COUNT_LIKELIHOODS
from unbraid.ops.likelihood import LIKELIHOODS, Likelihood
from unbraid.util.schema import later_option, option


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
        "conv (for images), conv-bn, conv-celeba, conv-mnist, mlp, mlp-pca (wide vectors: begins as PCA), conv1d "
        "(signals); broadcast (decodes places), "
        "additive, additive-2 (decode codes one by one, or two by two, and add)",
    )


@dataclass(frozen=True, kw_only=True)
class ObservationOptions(NetworkOptions, ABC):
    """Options of the methods with an observation model p(x | codes)."""

    likelihood: Likelihood = option("bernoulli", LIKELIHOODS)
    scale: float = option(1.0, "standard deviation (gaussian) or width (laplace) of the observation model", above=0)
    library_size: bool = later_option(False, "of counts: rates are shares of each observation's own total")
    # Whether its networks can take and make counts.
    models_counts: ClassVar[bool] = True

    def count_layers(self, data: DataSpec) -> CountLayers | None:
        """What networks need around them for counts; None where the observation model is of something else."""
        if self.likelihood not in COUNT_LIKELIHOODS or data.counts is None:
            return None
        return CountLayers(data.counts, self.library_size, dispersed=self.likelihood == "negative-binomial")


@dataclass(frozen=True, kw_only=True)
class PairOptions(MethodConfig, ABC):
    """Options of the methods that learn from pairs of observations."""

    pairs: Pairs = option(Pairs(), "how the other observation of a pair is chosen")


@dataclass(frozen=True, kw_only=True)
class ObservedNetworks(ObservationOptions, StackOptions, ABC):
    """Options of the methods with an observation model that take networks by name."""


def network_options(config: ObservedNetworks, data: DataSpec) -> dict[str, Any]:
    """How `Encoder` and `decoder` are built for these data, besides their sizes.

    Example:
        >>> from unbraid.methods.vae.beta_vae import VAE
        >>> network_options(VAE(likelihood="gaussian"), DataSpec((6,), 10, signal=(2, 3)))["signal"]
        (2, 3)
    """
    counts = config.count_layers(data)
    return {"network": config.network, "width": config.width, "counts": counts, "signal": data.signal}


def check_likelihood(name: Likelihood, data: DataSpec) -> None:
    """Refuse a Bernoulli model of vectors: it means values in [0, 1], which only images promise; and an open choice.

    Example:
        >>> check_likelihood("bernoulli", DataSpec(shape=(3, 64, 64), size=10))
        >>> check_likelihood("gaussian", DataSpec(shape=(5,), size=10))
    """
    if name == "auto":
        raise InputError("--likelihood auto is chosen from the data when a run is planned: call fit, or name a model.")
    if name in COUNT_LIKELIHOODS and data.counts is None:
        raise InputError(f"--likelihood {name} is for counts: pass auto, or --data.kind counts where they are.")
    if name == "bernoulli" and not data.is_image:
        raise InputError(
            "a bernoulli likelihood needs images: pass --likelihood auto, gaussian or laplace for vectors."
        )
