"""Models of a given size: β-TCVAE-L, Big-β-TCVAE and Big-VAE (MS-VAE, §4 and appendix H).

A comparison with a two-stage model is fair if the single-stage one has as many latents, or as many parameters. The
match is computed from the models themselves and can be printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from unbraid.core import DataSpec, MethodConfig
from unbraid.errors import InputError
from unbraid.methods.vae.beta_tcvae import BetaTCVAE
from unbraid.methods.vae.beta_vae import VAE
from unbraid.methods.vae.gaussian import GaussianConfig

WIDEST = 32.0


@dataclass(frozen=True)
class Match:
    """A configuration made to the size of others."""

    config: GaussianConfig
    parameters: int
    latents: int
    target_parameters: int
    target_latents: int

    def __str__(self) -> str:
        off = self.parameters / self.target_parameters - 1
        return (
            f"{self.config.name} at width {self.config.width:.4g}: {self.parameters:,} parameters for "
            f"{self.target_parameters:,} ({off:+.2%}), {self.latents} latents for {self.target_latents}"
        )


def parameters(config: MethodConfig, data: DataSpec) -> int:
    """How many parameters the method has, counted without making them.

    Example:
        >>> parameters(VAE(latents=2, network="mlp", likelihood="gaussian", width=0.01), DataSpec((5,), 10)) > 0
        True
    """
    with torch.device("meta"):
        return sum(p.numel() for p in config.build(data).parameters())


def latents(stages: Sequence[MethodConfig]) -> int:
    """All latents of some stages together.

    Example:
        >>> latents([BetaTCVAE(latents=10), BetaTCVAE(latents=5)])
        15
    """
    return sum(int(getattr(stage, name, 0)) for stage in stages for name in ("latents", "residual_latents", "codes"))


def with_latents_of(config: GaussianConfig, stages: Sequence[MethodConfig], data: DataSpec) -> Match:
    """The same model with as many latents as all `stages` together: β-TCVAE-L, if it is a β-TCVAE.

    Args:
        config: the model to be changed.
        stages: whose latents are counted.
        data: what the models are for.

    Returns:
        The changed model beside its target.
    """
    return _match(replace(config, latents=latents(stages)), stages, data)


def with_size_of(config: GaussianConfig, stages: Sequence[MethodConfig], data: DataSpec) -> Match:
    """The model with the latents of all `stages` and the width that comes nearest to their number of parameters.

    Args:
        config: the model to be changed.
        stages: whose latents and parameters are counted.
        data: what the models are for.

    Returns:
        The changed model beside its target.
    """
    target = sum(parameters(stage, data) for stage in stages)
    sized = replace(config, latents=latents(stages))

    def count(width: float) -> int:
        return parameters(replace(sized, width=width), data)

    low, high = 0.01, WIDEST
    if not count(low) <= target <= count(high):
        raise InputError(f"no width from {low} to {high:g} gives {config.name} {target:,} parameters.")
    while high / low > 1.0002:  # parameters grow with width, in steps of whole units
        middle = (low * high) ** 0.5
        low, high = (middle, high) if count(middle) <= target else (low, middle)
    width = min((low, high), key=lambda w: abs(count(w) - target))
    return _match(replace(sized, width=width), stages, data)


def beta_tcvae_l(stages: Sequence[MethodConfig], data: DataSpec) -> Match:
    """β-TCVAE-L: stage 1 with |C| + |Z| latents.

    Reference:
        MS-VAE, §4.
    """
    return with_latents_of(_first(stages), stages, data)


def big_beta_tcvae(stages: Sequence[MethodConfig], data: DataSpec) -> Match:
    """Big-β-TCVAE: stage 1 with as many latents and parameters as all stages together.

    Reference:
        MS-VAE, appendix H.
    """
    return with_size_of(_first(stages), stages, data)


def big_vae(stages: Sequence[MethodConfig], data: DataSpec) -> Match:
    """Big-VAE: a VAE with as many latents and parameters as all stages together.

    Reference:
        MS-VAE, §4.1 and figure 4.
    """
    first = _first(stages)
    shared = {
        name: getattr(first, name) for name in ("likelihood", "scale", "network", "adam", "batch_size", "resolution")
    }
    return with_size_of(VAE(**shared), stages, data)


def _first(stages: Sequence[MethodConfig]) -> BetaTCVAE:
    if not stages or not isinstance(stages[0], BetaTCVAE):
        raise InputError("these sizes are made from a chain whose first stage is a beta-tcvae.")
    return stages[0]


def _match(config: GaussianConfig, stages: Sequence[MethodConfig], data: DataSpec) -> Match:
    return Match(
        config,
        parameters(config, data),
        config.latents,
        sum(parameters(stage, data) for stage in stages),
        latents(stages),
    )
