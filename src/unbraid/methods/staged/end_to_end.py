"""Both stages of MS-VAE trained together (MS-VAE, appendix L.1, model M1): what two-step training is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from unbraid.core import Batch, DataSpec, Method, MethodConfig, Posterior, Terms, Update
from unbraid.methods.options import ObservationOptions, check_likelihood
from unbraid.nets.from_codes import DecoderFromCodes
from unbraid.nets.residual import residual_trunk
from unbraid.ops import likelihood
from unbraid.ops.gaussian import DiagonalGaussian
from unbraid.util.schema import later_option, option, with_default


@dataclass(frozen=True, kw_only=True)
class EndToEnd(ObservationOptions):
    """MS-VAE trained end to end (ablation M1): a VAE that penalises its codes c more than z, which enters by AdaIN.

    Reference:
        MS-VAE, appendix L.1, model M1.

    Example:
        >>> EndToEnd().residual_latents
        5
    """

    name: ClassVar[str] = "end-to-end"
    title: ClassVar[str] = "MS-VAE end to end"
    paper: ClassVar[str] = "MS-VAE, L.1"
    when: ClassVar[str] = "As the ablation of MS-VAE that shows what training by stages is worth."
    models_counts: ClassVar[bool] = False
    latents: int = option(5, "number of codes c, whose KL weighs more", least=1)
    residual_latents: int = option(5, "number of codes z, whose KL weighs less", least=1)
    beta: float = option(4.0, "weight of the KL of c", least=0)
    residual_beta: float = later_option(1.0, "weight of the KL of z", least=0)
    batch_size: int = with_default(MethodConfig, "batch_size", 32)

    def build(self, data: DataSpec) -> EndToEndModel:
        """The untrained model."""
        return EndToEndModel(self, data)


class EndToEndModel(Method):
    """One encoder for c and z, and MS-VAE's decoder started from c."""

    config: EndToEnd

    def __init__(self, config: EndToEnd, data: DataSpec) -> None:
        super().__init__()
        check_likelihood(config.likelihood, data)
        self.config = config
        trunk, features = residual_trunk(data.shape, config.width)
        self.encoder = nn.Sequential(trunk, nn.Linear(features, 2 * (config.latents + config.residual_latents)))
        self.decoder = DecoderFromCodes(data.shape, config.latents, config.residual_latents, config.width)

    def posteriors(self, x: Tensor) -> tuple[DiagonalGaussian, DiagonalGaussian]:
        """q(c | x) and q(z | x)."""
        c, z = self.encoder(x).split([2 * self.config.latents, 2 * self.config.residual_latents], dim=1)
        return DiagonalGaussian.from_parameters(c), DiagonalGaussian.from_parameters(z)

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | c, z) + β·KL[q(c | x) ‖ p(c)] + β_z·KL[q(z | x) ‖ p(z)]."""
        c, z = self.posteriors(batch.x)
        output = self.decoder(c.rsample(), z.rsample())
        reconstruction = likelihood.nll(self.config.likelihood, output, batch.x, self.config.scale)
        kl_c, kl_z = c.kl(), z.kl()
        beta, beta_z = self.config.beta, self.config.residual_beta
        total = reconstruction + beta * kl_c + beta_z * kl_z
        return Terms(total, reconstruction=reconstruction, kl_c=(beta, kl_c), kl_z=(beta_z, kl_z))

    def updates(self) -> tuple[Update, ...]:
        """One step for encoder and decoder."""
        return (Update("vae", self.loss, ("encoder", "decoder"), self.config.adam, self.config.batch_size),)

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """q(c | x) and q(z | x)."""
        c, z = self.posteriors(x)
        return {"c": c, "z": z}

    def prior(self, n: int) -> dict[str, Posterior]:
        """Standard normal, both."""
        like = next(self.parameters())
        sizes = {"c": self.config.latents, "z": self.config.residual_latents}
        return {key: DiagonalGaussian.standard(n, size, like) for key, size in sizes.items()}

    def decode(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """The mean of p(x | c, z)."""
        return likelihood.mean(self.config.likelihood, self.decoder(codes["c"], codes["z"]))
