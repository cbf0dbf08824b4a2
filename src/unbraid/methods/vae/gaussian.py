"""What every method with Gaussian codes shares: q(z | x), its ELBO and its prior."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass

from torch import Tensor

from unbraid.core import DataSpec, Posterior
from unbraid.methods.autoencoding import AutoencodingConfig, AutoencodingModel
from unbraid.ops.gaussian import DiagonalGaussian


@dataclass(frozen=True, kw_only=True)
class GaussianConfig(AutoencodingConfig, ABC):
    """Options of the methods with one group of Gaussian codes."""


class GaussianVAE(AutoencodingModel, ABC):
    """An encoder to q(z | x), a decoder to p(x | z) and a standard normal prior; what is minimised differs."""

    config: GaussianConfig

    def __init__(self, config: GaussianConfig, data: DataSpec) -> None:
        super().__init__(config, data, outputs=2)

    def posterior(self, x: Tensor) -> DiagonalGaussian:
        """q(z | x)."""
        return DiagonalGaussian.from_parameters(self.encoded(x))

    def drawn_codes(self, x: Tensor) -> Tensor:
        """A draw of q(z | x)."""
        return self.posterior(x).rsample()

    def elbo(self, x: Tensor) -> tuple[DiagonalGaussian, Tensor, Tensor]:
        """q(z | x) and the two terms of −ELBO at a draw of it: −log p(x | z) and KL[q(z | x) ‖ p(z)]."""
        q = self.posterior(x)
        return q, self.reconstruction(q.rsample(), x), q.kl()

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """q(z | x), under the key `z`."""
        return {"z": self.posterior(x)}

    def prior(self, n: int) -> dict[str, Posterior]:
        """z ~ N(0, 1)."""
        return {"z": DiagonalGaussian.standard(n, self.latents, next(self.parameters()))}
