"""MS-VAE's second stage (Improving the Reconstruction of Disentangled Representation Learners, §3.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar, Literal

from torch import Tensor, nn

from unbraid.core import Adam, Batch, DataSpec, LaterStage, Method, MethodConfig, Posterior, Terms, Update
from unbraid.errors import InputError, unknown
from unbraid.methods.options import ObservationOptions, check_likelihood
from unbraid.nets.adain import STYLES_OF, StylesOf, adain_network, check_styles
from unbraid.nets.detail import DetailDecoder, DetailEncoder
from unbraid.nets.from_codes import DecoderFromCodes
from unbraid.nets.nearest_codes import NearestCodes
from unbraid.nets.residual import residual_trunk
from unbraid.ops import likelihood
from unbraid.ops.gaussian import DiagonalGaussian
from unbraid.util.schema import later_option, option, typed, with_default

DETAILS = ("sites", "norm", "logits", "leaky")
LEAST_SHADE = 1 / 510  # half of a byte's step: y is kept in bytes, and the logits of 0 and 1 have no bound


@dataclass(frozen=True, kw_only=True)
class MSVAE(LaterStage, ObservationOptions):
    """MS-VAE: a conditional VAE p(x | y, z) that restores the detail that stage 1 lost.

    Reference:
        MS-VAE, §3.2; `content` and `encoder_sees` are the ablations of appendix L.

    Example:
        >>> MSVAE(content="codes").uses_codes
        True
    """

    name: ClassVar[str] = "ms-vae"
    title: ClassVar[str] = "MS-VAE"
    paper: ClassVar[str] = "MS-VAE, §3.2"
    when: ClassVar[str] = (
        "After any method whose codes are good and whose pictures are blurred: it gives detail back and "
        "leaves the codes alone."
    )
    latents: int = option(5, "number of residual codes z", least=1)
    models_counts: ClassVar[bool] = False
    beta: float = option(1.0, "weight of the KL term", least=0)
    batch_size: int = with_default(MethodConfig, "batch_size", 32)
    # Appendix L: M2 is codes+z, M3 is codes, M4 is y; M5 is codes+z and x after a plain VAE, with a greater beta.
    content: Literal["y", "codes", "codes+z"] = option(
        "y", "what the decoder starts from: y; stage 1's codes in its place; or codes and z side by side, without AdaIN"
    )
    styles: StylesOf = later_option("channels", STYLES_OF)
    encoder_sees: Literal["residual", "x"] = option("residual", "what z is inferred from: x − y, or x")
    network: Literal["paper", "fast"] = later_option(
        "paper", "the paper's, or for images one that learns detail in minutes: x̂ = y + what z adds (nets/detail.py)"
    )
    details: tuple[str, ...] = later_option(
        (),
        "what the authors' code has and the text has not, in the paper's network for images: sites (z enters after the "
        "dense layer, not after the first convolution), norm (instance norm in the encoder), logits (of y), leaky",
    )
    normalize: bool = later_option(False, "instance norm in the fast network: z then enters by AdaIN, as in the paper")
    bounded: bool = later_option(
        False, "values of the fast network's image beyond [0, 1] are cut off in training as in pictures: white is white"
    )
    z_prior: Literal["normal", "learned"] = later_option(
        "normal", "what z is drawn from: N(0, 1), or p(z given y) learned once the networks are trained"
    )

    @classmethod
    def fast(cls, **changes: Any) -> MSVAE:
        """What gives detail back in minutes on one core, with other options changed if so asked."""
        adam = Adam(lr=2e-3, beta2=0.99, end=0.02, schedule="cosine", warmup=100, clip=1.0)
        recipe = MSVAE(
            network="fast",
            latents=192,
            likelihood="gaussian-optimal",
            batch_size=16,
            average=0.99,
            adam=adam,
            bounded=True,
            z_prior="learned",
        )
        return replace(recipe, **changes)

    def __post_init__(self) -> None:
        """Refuse options of the one network where there is the other."""
        for name in self.details:
            if name not in DETAILS:
                raise unknown("detail", name, DETAILS)
        if self.styles == "places" and self.uses_codes:
            raise InputError(f"--styles places is for a decoder that starts from y, not --content {self.content}.")
        if self.network == "fast":
            for name in ("content", "styles", "encoder_sees", "details"):
                value = getattr(self, name)
                if value != getattr(type(self), name):
                    shown = value if isinstance(value, str) else ",".join(value)
                    raise InputError(f"--{typed(name)} {shown} is for --network paper (--recipe paper).")
            if self.likelihood == "bernoulli":
                raise InputError(
                    "--network fast makes images, not logits, so that --likelihood bernoulli is not for ms-vae: "
                    "give it to stage 1 alone (--1.likelihood), or take --recipe paper."
                )

    @property
    def uses_codes(self) -> bool:
        """Only where codes take the place of y."""
        return self.content != "y"

    def check(self, data: DataSpec) -> None:
        """Refuse --styles places for vectors, which have no places."""
        check_styles(self.styles, data)
        if self.details and not data.is_image:
            raise InputError("--details are of the network for images: leave them out for vectors.")

    def build(self, data: DataSpec) -> MSVAEModel:
        """The untrained second stage."""
        return MSVAEModel(self, data)


class MSVAEModel(Method):
    """Eq. 2, term (b): z explains x − y and enters the decoder through AdaIN only."""

    config: MSVAE

    def __init__(self, config: MSVAE, data: DataSpec) -> None:
        super().__init__()
        check_likelihood(config.likelihood, data)
        self.config = config
        self.is_fast = config.network == "fast" and data.is_image  # vectors have no detail at places
        self.values = prod(data.shape)
        if config.z_prior == "learned":
            self.learned_prior = NearestCodes(data.shape, config.latents, data.size)
        if self.is_fast:
            self.encoder: nn.Module = DetailEncoder(data.shape, config.latents, config.width)
            self.decoder: nn.Module = DetailDecoder(
                data.shape, config.latents, config.width, normalize=config.normalize
            )
            return
        leaky, norm = "leaky" in config.details, nn.InstanceNorm2d if "norm" in config.details else None
        trunk, features = residual_trunk(data.shape, config.width, norm=norm, leaky=leaky)
        self.encoder = nn.Sequential(trunk, nn.Linear(features, 2 * config.latents))
        if config.uses_codes:
            self.decoder = DecoderFromCodes(
                data.shape, data.codes, config.latents, config.width, concatenate=config.content == "codes+z"
            )
        else:
            details = {"dense_styled": "sites" in config.details, "leaky": leaky} if config.details else {}
            self.decoder = adain_network(data.shape, config.latents, config.width, config.styles, **details)

    def seen(self, y: Tensor) -> Tensor:
        """y as the networks are given it: the image, or its logits."""
        return y.clamp(LEAST_SHADE, 1 - LEAST_SHADE).logit() if "logits" in self.config.details else y

    def posterior(self, x: Tensor, y: Tensor) -> DiagonalGaussian:
        """q(z | x, y), from the residual."""
        y = self.seen(y)
        return DiagonalGaussian.from_parameters(self.encoder(x - y if self.config.encoder_sees == "residual" else x))

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | y, z) + β·KL[q(z | x, y) ‖ p(z)]."""
        y = required_y(batch.y)
        q = self.posterior(batch.x, y)
        output = self.decoder(self.seen(y) if batch.codes is None else batch.codes, q.rsample())
        if self.is_fast:  # the output is an image, where the paper's network has logits
            mean = likelihood.cut_to_unit(output) if self.config.bounded else output
            reconstruction = likelihood.error_rows(self.config.likelihood, batch.x - mean, self.config.scale).mean()
        else:
            reconstruction = likelihood.nll(self.config.likelihood, output, batch.x, self.config.scale)
        kl = q.kl()
        beta = self.config.beta
        return Terms(reconstruction + beta * kl, reconstruction=reconstruction, kl=(beta, kl))

    def updates(self) -> tuple[Update, ...]:
        """One step for encoder and decoder. The loss is a sum over values, and so is the gradient that is clipped."""
        adam = replace(self.config.adam, clip=self.config.adam.clip * self.values)
        return (Update("vae", self.loss, ("encoder", "decoder"), adam, self.config.batch_size),)

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """q(z | x, y), under the key `z`."""
        return {"z": self.posterior(x, required_y(y))}

    def decode(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """The mean of p(x | y, z)."""
        content = codes["given"] if self.config.uses_codes else self.seen(required_y(y))
        if self.is_fast:
            return self.decoder(content, codes["z"]).clamp(0, 1)  # type: ignore[no-any-return]
        return likelihood.mean(self.config.likelihood, self.decoder(content, codes["z"]))

    def prior(self, n: int) -> dict[str, Posterior]:
        """z ~ N(0, 1)."""
        return {"z": DiagonalGaussian.standard(n, self.config.latents, next(self.parameters()))}

    @property
    def prior_rows(self) -> int:
        """Where z has a prior to learn, a few thousand."""
        return self.learned_prior.rows if self.config.z_prior == "learned" else 0

    def fit_prior(self, x_and_y: Iterator[tuple[Tensor, Tensor]]) -> None:
        """p(z | y) from the codes of these observations."""
        posteriors = ((y, self.posterior(x, y)) for x, y in x_and_y)
        self.learned_prior.learn((y, q.mean, q.log_var) for y, q in posteriors)

    def draw_given(self, y: Tensor) -> dict[str, Tensor]:
        """z ~ p(z | y)."""
        return {"z": self.learned_prior(y)}


def required_y(y: Tensor | None) -> Tensor:
    """y, which a later stage cannot do without; a sentence that says so where there is none.

    Example:
        >>> import torch
        >>> required_y(torch.zeros(1)).item()
        0.0
    """
    if y is None:
        raise InputError("this is a later stage: name a first one, as in --method beta-tcvae ms-vae.")
    return y
