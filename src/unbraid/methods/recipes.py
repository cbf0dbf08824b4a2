"""Recipes by name: where the options of a method start when a command names none of them.

`paper` is what a method's fields say, the published setting. `fast` is what learns most in minutes on a CPU, for the
methods that have such a setting; others start from the paper's, with the observation model that suits the data
(`--likelihood auto`). What is fast depends on the data: the reconstruction is a sum over an observation's values, so
that the weights beside it grow with their number. Small batches and many steps win at this scale. With batches of 32
the total correlation acts largely as more weight on the KL and is no measure of correlation: studies of it need large
batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod
from typing import Any, Literal, get_args

from unbraid.core import Adam, MethodConfig
from unbraid.methods.gan.infogan import InfoGAN
from unbraid.methods.options import ObservationOptions
from unbraid.methods.staged.ms_vae import MSVAE
from unbraid.methods.traits import Traits as Traits
from unbraid.methods.vae.beta_tcvae import BetaTCVAE
from unbraid.util.schema import to_json

Recipe = Literal["fast", "paper"]
RECIPES: tuple[Recipe, ...] = get_args(Recipe)
SIDE = 32  # of the images that a fast first stage works on: what it makes is blurred anyway, and a quarter as much work


IMAGE = Traits((3, 64, 64))


def fast_beta_tcvae(data: Traits) -> BetaTCVAE:
    """β-TCVAE with a broadcast decoder, codes that are turned towards independence, and weights for this many values.

    Binary images have the weights of Chen et al. 2018 at 64×64, 1 : 6 : 1, for each 4,096 values; others have
    1 : 20 : 1 for each 3,072. Vectors have the plain network, and wide ones `wide_beta_tcvae`.

    Example:
        >>> fast_beta_tcvae(Traits((1, 64, 64), binary=True)).beta, fast_beta_tcvae(Traits((3, 64, 64))).beta
        (6.0, 80.0)
    """
    if data.is_wide:
        return wide_beta_tcvae()
    is_image = data.is_image
    size, beta = (4096, 6.0) if data.binary else (3072, 20.0)
    weight = prod(data.shape) / size if is_image else 1.0
    return BetaTCVAE(
        network="broadcast" if is_image else "auto",
        width=0.25 if data.binary else 0.5,
        likelihood="auto",
        alpha=weight,
        beta=beta * weight if is_image else 4.0,
        gamma=weight,
        batch_size=32 if is_image else 64,
        adam=Adam(lr=2e-3, end=0.02),
        turns=9,
        resolution=SIDE if is_image and min(data.shape[1:]) > SIDE and data.shape[1] == data.shape[2] else 0,
    )


def wide_beta_tcvae() -> BetaTCVAE:
    """The ELBO itself for features of other models: 32 codes that begin as PCA and are turned towards independence.

    Features have tens of directions that matter, and PCA of as many is the measure: with weights above 1, or begun
    at random, most of the codes are never used, and PCA is ahead.
    """
    return BetaTCVAE(
        network="mlp-pca",
        latents=32,
        likelihood="auto",
        alpha=1.0,
        beta=1.0,
        gamma=1.0,
        adam=Adam(lr=5e-4, end=0.02),
        turns=3,
    )


def fast_infogan(data: Traits) -> InfoGAN:
    """InfoGAN with half of DCGAN's channels and a higher rate: shapes after 1,500 steps, where the paper's have noise.

    Example:
        >>> fast_infogan(IMAGE).network, fast_infogan(Traits((13,))).network
        ('dcgan', 'auto')
    """
    if not data.is_image:
        return InfoGAN()
    adam = Adam(lr=5e-4, beta1=0.5)
    return InfoGAN(network="dcgan", width=0.5, batch_size=32, noise_steps=3_000, adam=adam, critic_adam=adam)


FAST: dict[type[MethodConfig], Callable[[Traits], MethodConfig]] = {
    BetaTCVAE: fast_beta_tcvae,
    MSVAE: lambda data: MSVAE.fast(),
    InfoGAN: fast_infogan,
}


def start(method: type[MethodConfig], recipe: Recipe, data: Traits = IMAGE) -> MethodConfig:
    """The method as this recipe has it for data with these traits."""
    if recipe == "paper":
        return method()
    return FAST[method](data) if method in FAST else suited(method(), data)


def suited(config: MethodConfig, data: Traits) -> MethodConfig:
    """The paper's setting for data of another kind than the paper's: the likelihood is chosen, and β made to fit.

    Where the scale of a Gaussian follows the error, β counts values. Of a linear model with k latents in use, each
    leaves β·σ² of its variance, so that of D values only D − k·β are left to tell σ² from: at β ≥ D / k nothing can be
    learned. For vectors β is therefore at most D / 2k of the latents there are, and at least 1, which is the ELBO.

    Args:
        config: with the paper's options.
        data: what it is to learn from.

    Returns:
        The same, with other options where they matter.

    Example:
        >>> from unbraid.methods.vae.beta_vae import BetaVAE
        >>> [suited(BetaVAE(), Traits((values,))).beta for values in (13, 60, 200)]
        [1.0, 3.0, 4.0]
    """
    if not isinstance(config, ObservationOptions):
        return config
    changes: dict[str, Any] = {"likelihood": "auto"}
    beta, latents = getattr(config, "beta", None), getattr(config, "latents", None)
    if beta is not None and latents is not None and not data.is_image:
        changes["beta"] = min(beta, max(1.0, prod(data.shape) / (2 * latents)))
    return replace(config, **changes)


def differs(method: type[MethodConfig]) -> bool:
    """Whether `fast` may start from other options than the paper's."""
    return method in FAST or issubclass(method, ObservationOptions)


def changes(method: type[MethodConfig], data: Traits = IMAGE) -> list[tuple[str, Any]]:
    """The options in which `fast` differs from the paper's, as `adam.lr` and its value."""
    return list(differences(to_json(method()), to_json(start(method, "fast", data))))


def differences(default: dict[str, Any], chosen: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The options of one configuration's JSON that another's has not, those of its parts as `adam.lr`."""
    for name, value in chosen.items():
        if isinstance(value, dict):
            yield from differences(default[name], value, f"{prefix}{name}.")
        elif name not in default or value != default[name]:
            yield f"{prefix}{name}", value
