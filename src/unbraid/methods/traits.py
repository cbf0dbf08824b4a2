"""What the data are like, and the observation model that follows from it: `--likelihood auto`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unbraid.core import MethodConfig
from unbraid.data.factor_data import FactorData
from unbraid.data.own.vectors import WIDE
from unbraid.errors import InputError
from unbraid.methods.options import ObservationOptions
from unbraid.methods.staged.ms_vae import MSVAE
from unbraid.ops.counts import COUNT_LIKELIHOODS
from unbraid.ops.likelihood import Likelihood

# Bytes this near to black or white count as binary: halved binary images have grey edges.
NEAR, BINARY_SHARE, ROWS = 32, 0.95, 500
POISSON = 1.2  # variance by mean up to which counts are taken for Poisson's, whose ratio is 1


@dataclass(frozen=True)
class Traits:
    """What choices look at: shapes of observations, whether images are black and white, vectors counts or signals.

    Example:
        >>> Traits((13,)).likelihood
        'gaussian-optimal'
        >>> Traits((1, 64, 64), binary=True).because
        'likelihood: Bernoulli, because the images are black and white'
        >>> Traits((200,), dispersion=7.31).because
        'likelihood: negative binomial, because the values are counts with variance 7.3 times their mean'
    """

    shape: tuple[int, ...]
    binary: bool = False
    dispersion: float | None = None  # of counts: their variance by their mean, in the middle of all columns
    signal: bool = False  # whether vectors are signals of several channels

    @classmethod
    def of(cls, data: FactorData) -> Traits:
        """The traits of a data set, from up to 500 observations spread over all."""
        if data.counts is not None:
            mean, variance = data.observations.mean(axis=0), data.observations.var(axis=0)
            return cls(data.shape, dispersion=float(np.median(variance[mean > 0] / mean[mean > 0])))
        if not data.is_image:
            return cls(data.shape, signal=data.preprocessing.signal is not None)
        rows = np.linspace(0, len(data) - 1, min(len(data), ROWS)).astype(np.int64)
        values = data.observations[rows]
        extreme = (values < NEAR) | (values >= 256 - NEAR)
        return cls(data.shape, bool(extreme.mean() >= BINARY_SHARE))

    @property
    def is_image(self) -> bool:
        """Whether observations are images."""
        return len(self.shape) == 3

    @property
    def is_wide(self) -> bool:
        """Whether observations are vectors of so many measurements that they are likely features of another model.

        Example:
            >>> Traits((768,)).is_wide, Traits((64,)).is_wide, Traits((768,), signal=True).is_wide
            (True, False, False)
        """
        return len(self.shape) == 1 and self.shape[0] >= WIDE and self.dispersion is None and not self.signal

    @property
    def likelihood(self) -> Likelihood:
        """The observation model for such data. A negative binomial can become a Poisson; the reverse is not so."""
        if self.dispersion is not None:
            return "poisson" if self.dispersion <= POISSON else "negative-binomial"
        return "bernoulli" if self.binary else "gaussian-optimal"

    @property
    def because(self) -> str:
        """That choice and its reason, in a sentence."""
        if self.dispersion is not None:
            model = self.likelihood.replace("-", " ").replace("poisson", "Poisson")
            times = f"{self.dispersion:.2g} times their mean"
            return f"likelihood: {model}, because the values are counts with variance {times}"
        if self.binary:
            return "likelihood: Bernoulli, because the images are black and white"
        what = "images have shades" if self.is_image else "values are measurements"
        return f"likelihood: Gaussian whose scale follows the error, because the {what}"


def resolve_likelihoods(configs: Sequence[MethodConfig], data: FactorData) -> tuple[list[MethodConfig], list[str]]:
    """Put the observation model that suits the data in the place of every `auto`.

    Args:
        configs: of all stages.
        data: what they are to learn from.

    Returns:
        The configurations, and a sentence for what was chosen and why.

    Example:
        >>> from unbraid.methods.vae.beta_vae import VAE
        >>> traces = FactorData("traces", np.zeros((2, 5), np.float32), np.zeros((2, 0)))
        >>> resolve_likelihoods([VAE(likelihood="auto")], traces)[0][0].likelihood
        'gaussian-optimal'
    """
    if not any(is_open(config) for config in configs):
        return list(configs), []
    traits = Traits.of(data)
    resolved: list[MethodConfig] = []
    for config in configs:
        if isinstance(config, ObservationOptions) and is_open(config):
            makes_images = isinstance(config, MSVAE) and config.network == "fast"  # and no logits
            config = replace(config, likelihood="gaussian-optimal" if makes_images else traits.likelihood)
        resolved.append(config)
    return resolved, [traits.because]


def check_counts(configs: Sequence[MethodConfig], data: FactorData) -> None:
    """Refuse to learn counts by a method or an observation model that is made for measurements."""
    if data.counts is None:
        return
    values = "read them as values with --data.kind values"
    for config in configs:
        if not isinstance(config, ObservationOptions) or not config.models_counts:
            raise InputError(f"{data.name} holds counts, which {config.name} has no model of: {values}.")
        if config.likelihood not in ("auto", *COUNT_LIKELIHOODS):
            named = f"--likelihood {config.likelihood}"
            raise InputError(f"{data.name} holds counts, which {named} is not for: leave it out, or {values}.")


def is_open(config: MethodConfig) -> bool:
    """Whether the observation model of this method is still to be chosen."""
    return isinstance(config, ObservationOptions) and config.likelihood == "auto"
