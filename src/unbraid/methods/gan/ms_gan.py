"""MS-GAN's second stage: a conditional GAN on pairs (x, y), with z through AdaIN (MS-VAE, appendix E)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from unbraid.core import Adam, Batch, DataSpec, LaterStage, Method, Posterior, Terms, Update
from unbraid.methods.options import NetworkOptions
from unbraid.methods.staged.ms_vae import required_y
from unbraid.nets.adain import STYLES_OF, StylesOf, adain_network, check_styles
from unbraid.nets.dcgan import PairCritic
from unbraid.ops.density_ratio import classification_loss, mistaken_loss
from unbraid.ops.gaussian import DiagonalGaussian
from unbraid.util.schema import later_option, option


@dataclass(frozen=True, kw_only=True)
class MSGAN(LaterStage, NetworkOptions):
    """MS-GAN: a generator that adds to y the detail that a critic of pairs (x, y) misses.

    After `controls` it is the supervised MS-GAN, after `beta-vae` with few latents the unsupervised one.

    Reference:
        MS-VAE, appendix E.

    Example:
        >>> MSGAN().conditional
        True
    """

    name: ClassVar[str] = "ms-gan"
    title: ClassVar[str] = "MS-GAN"
    paper: ClassVar[str] = "MS-VAE, E"
    when: ClassVar[str] = "As a second stage where draws must look real and need not be reconstructions."
    reconstructs: ClassVar[bool] = False
    latents: int = option(10, "number of codes z, standard normal", least=1)
    critic_width: float = later_option(0.0, "the same for the critic alone; 0: as the generator's", least=0)
    styles: StylesOf = later_option("channels", STYLES_OF)
    adam: Adam = option(Adam(beta1=0.5), "optimiser of the generator")
    critic_adam: Adam = option(Adam(beta1=0.5), "optimiser of the critic")

    def check(self, data: DataSpec) -> None:
        """Refuse --styles places for vectors, which have no places."""
        check_styles(self.styles, data)

    def build(self, data: DataSpec) -> MSGANModel:
        """The untrained second stage."""
        return MSGANModel(self, data)


class MSGANModel(Method):
    """Eq. 3: the critic's output is log p(x | y)/p_G(x | y). There is no encoder: of z only the prior is known.

    No layer of the generator looks at the batch: batch statistics are noise of their own, and drown z (E.3).
    """

    config: MSGAN

    def __init__(self, config: MSGAN, data: DataSpec) -> None:
        super().__init__()
        self.config, self.is_image = config, data.is_image
        self.generator = adain_network(data.shape, config.latents, config.width, config.styles)
        # The critic sees one image at a time and does not ask for variety: a z of little effect at first stays unused.
        self.generator.styles.init_unit_variance()
        self.critic = PairCritic(data.shape, data.shape, config.critic_width or config.width)

    def make(self, y: Tensor, z: Tensor) -> Tensor:
        """G(y, z)."""
        output = self.generator(y, z)
        return output.sigmoid() if self.is_image else output  # type: ignore[no-any-return]

    def noise(self, like: Tensor) -> Tensor:
        """z for each row of a batch."""
        return torch.randn(len(like), self.config.latents, device=like.device)

    def critic_loss(self, batch: Batch, step: int) -> Terms:
        """Cross-entropy of the critic, which tells real pairs (x, y) from generated ones (G(y, z), y)."""
        y = required_y(batch.y)
        with torch.no_grad():  # the generator is the other update's
            made = self.make(y, self.noise(y))
        loss, accuracy = classification_loss(self.critic(batch.x, y), self.critic(made, y))
        return Terms(loss, accuracy=lambda: accuracy)

    def generator_loss(self, batch: Batch, step: int) -> Terms:
        """−log D(G(y, z), y): the generator's loss in the form that does not saturate."""
        y = required_y(batch.y)
        adversarial = mistaken_loss(self.critic(self.make(y, self.noise(y)), y))
        return Terms(adversarial, adversarial=adversarial)

    def updates(self) -> tuple[Update, ...]:
        """A step for the critic, then one for the generator."""
        config = self.config
        return (
            Update("critic", self.critic_loss, ("critic",), config.critic_adam, config.batch_size),
            Update("generator", self.generator_loss, ("generator",), config.adam, config.batch_size),
        )

    def prior(self, n: int) -> dict[str, Posterior]:
        """z ~ N(0, 1)."""
        return {"z": DiagonalGaussian.standard(n, self.config.latents, next(self.parameters()))}

    def decode(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """G(y, z)."""
        return self.make(required_y(y), codes["z"])
