"""MS-VAE's second stage (Improving the Reconstruction of Disentangled Representation Learners, §3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import Tensor, nn

from unbraid.core import Batch, DataSpec, LaterStage, Method, MethodConfig, Posterior, Terms, Update
from unbraid.errors import InputError
from unbraid.methods.options import ObservationOptions, check_likelihood
from unbraid.nets.adain import STYLES_OF, StylesOf, adain_network, check_styles, residual_trunk
from unbraid.nets.from_codes import DecoderFromCodes
from unbraid.ops import likelihood
from unbraid.ops.gaussian import DiagonalGaussian
from unbraid.util.schema import later_option, option, with_default


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
    latents: int = option(5, "number of residual codes z", least=1)
    beta: float = option(1.0, "weight of the KL term", least=0)
    batch_size: int = with_default(MethodConfig, "batch_size", 32)
    # Appendix L: M2 is codes+z, M3 is codes, M4 is y; M5 is codes+z and x after a plain VAE, with a greater beta.
    content: Literal["y", "codes", "codes+z"] = option(
        "y", "what the decoder starts from: y; stage 1's codes in its place; or codes and z side by side, without AdaIN"
    )
    styles: StylesOf = later_option("channels", STYLES_OF)
    encoder_sees: Literal["residual", "x"] = option("residual", "what z is inferred from: x − y, or x")

    def __post_init__(self) -> None:
        """Refuse --styles places for a decoder that starts from codes."""
        if self.styles == "places" and self.uses_codes:
            raise InputError(f"--styles places is for a decoder that starts from y, not --content {self.content}.")

    @property
    def uses_codes(self) -> bool:
        """Only where codes take the place of y."""
        return self.content != "y"

    def check(self, data: DataSpec) -> None:
        """Refuse --styles places for vectors, which have no places."""
        check_styles(self.styles, data)

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
        trunk, features = residual_trunk(data.shape, config.width)
        self.encoder = nn.Sequential(trunk, nn.Linear(features, 2 * config.latents))
        if config.uses_codes:
            self.decoder: nn.Module = DecoderFromCodes(
                data.shape, data.codes, config.latents, config.width, concatenate=config.content == "codes+z"
            )
        else:
            self.decoder = adain_network(data.shape, config.latents, config.width, config.styles)

    def posterior(self, x: Tensor, y: Tensor) -> DiagonalGaussian:
        """q(z | x, y), from the residual."""
        return DiagonalGaussian.from_parameters(self.encoder(x - y if self.config.encoder_sees == "residual" else x))

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | y, z) + β·KL[q(z | x, y) ‖ p(z)]."""
        y = required_y(batch.y)
        q = self.posterior(batch.x, y)
        output = self.decoder(y if batch.codes is None else batch.codes, q.rsample())
        reconstruction = likelihood.nll(self.config.likelihood, output, batch.x, self.config.scale)
        kl = q.kl()
        return Terms(reconstruction + self.config.beta * kl, reconstruction=reconstruction, kl=kl)

    def updates(self) -> tuple[Update, ...]:
        """One step for encoder and decoder."""
        return (Update("vae", self.loss, ("encoder", "decoder"), self.config.adam, self.config.batch_size),)

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """q(z | x, y), under the key `z`."""
        return {"z": self.posterior(x, required_y(y))}

    def decode(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """The mean of p(x | y, z)."""
        content = codes["given"] if self.config.uses_codes else required_y(y)
        return likelihood.mean(self.config.likelihood, self.decoder(content, codes["z"]))

    def prior(self, n: int) -> dict[str, Posterior]:
        """z ~ N(0, 1)."""
        return {"z": DiagonalGaussian.standard(n, self.config.latents, next(self.parameters()))}


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
