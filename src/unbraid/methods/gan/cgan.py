"""CGAN (Mirza & Osindero 2014) with DCGAN's networks, batch norm included: the baseline of MS-GAN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from unbraid.core import Adam, Batch, DataSpec, Method, Posterior, Terms, Update
from unbraid.methods.options import NetworkOptions
from unbraid.methods.staged.control_inputs import ControlInputs, GivenFactors
from unbraid.nets.dcgan import PairCritic, generator
from unbraid.ops.density_ratio import classification_loss, mistaken_loss
from unbraid.ops.gaussian import DiagonalGaussian
from unbraid.util.schema import later_option, option


@dataclass(frozen=True, kw_only=True)
class CGAN(GivenFactors, NetworkOptions):
    """CGAN: a generator of given factors c and noise z side by side.

    Reference:
        Mirza & Osindero 2014, with the stacks of Radford et al. 2016.

    Example:
        >>> CGAN().reconstructs
        False
    """

    name: ClassVar[str] = "cgan"
    title: ClassVar[str] = "CGAN"
    paper: ClassVar[str] = "Mirza & Osindero 2014"
    when: ClassVar[str] = "As MS-GAN's baseline: factors are given, and nothing keeps to a coarse picture."
    reconstructs: ClassVar[bool] = False
    latents: int = option(10, "number of codes z, standard normal", least=1)
    critic_width: float = later_option(0.0, "the same for the critic alone; 0: as the generator's", least=0)
    adam: Adam = option(Adam(beta1=0.5), "optimiser of the generator")
    critic_adam: Adam = option(Adam(beta1=0.5), "optimiser of the critic")

    def build(self, data: DataSpec) -> CGANModel:
        """The untrained model."""
        return CGANModel(self, data)


class CGANModel(Method):
    """The critic gives log p(x | c)/p_G(x | c) (MS-VAE, lemma 1). c is read off the labels; z is never inferred."""

    config: CGAN

    def __init__(self, config: CGAN, data: DataSpec) -> None:
        super().__init__()
        self.config, self.is_image = config, data.is_image
        self.inputs = ControlInputs(data, config.factors)
        self.generator = generator(self.inputs.features + config.latents, data.shape, config.width)
        self.critic = PairCritic(data.shape, (self.inputs.features,), config.critic_width or config.width)

    def make(self, features: Tensor, z: Tensor) -> Tensor:
        """G(c, z)."""
        output = self.generator(torch.cat((features, z), dim=1))
        return output.sigmoid() if self.is_image else output  # type: ignore[no-any-return]

    def noise(self, like: Tensor) -> Tensor:
        """z for each row of a batch."""
        return torch.randn(len(like), self.config.latents, device=like.device)

    def features(self, batch: Batch) -> Tensor:
        """The given factors as the networks see them."""
        return self.inputs(self.inputs.given(batch.factors).mean)  # type: ignore[no-any-return]

    def critic_loss(self, batch: Batch, step: int) -> Terms:
        """Cross-entropy of the critic, which tells real pairs (x, c) from generated ones (G(c, z), c)."""
        c = self.features(batch)
        with torch.no_grad():  # the generator is the other update's
            made = self.make(c, self.noise(c))
        loss, accuracy = classification_loss(self.critic(batch.x, c), self.critic(made, c))
        return Terms(loss, accuracy=lambda: accuracy)

    def generator_loss(self, batch: Batch, step: int) -> Terms:
        """−log D(G(c, z), c): the generator's loss in the form that does not saturate."""
        c = self.features(batch)
        adversarial = mistaken_loss(self.critic(self.make(c, self.noise(c)), c))
        return Terms(adversarial, adversarial=adversarial)

    def updates(self) -> tuple[Update, ...]:
        """A step for the critic, then one for the generator, both on labelled rows."""
        config, size = self.config, self.config.batch_size
        return (
            Update("critic", self.critic_loss, ("critic",), config.critic_adam, size, stream="labelled"),
            Update("generator", self.generator_loss, ("generator",), config.adam, size, stream="labelled"),
        )

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """c as it is given and the prior of z."""
        known = self.prior(x.shape[0])
        return known if labels is None else known | {"c": self.inputs.given(labels)}

    def prior(self, n: int) -> dict[str, Posterior]:
        """All values of c alike, z ~ N(0, 1)."""
        z = DiagonalGaussian.standard(n, self.config.latents, next(self.parameters()))
        return {"c": self.inputs.prior(n), "z": z}

    def decode(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """G(c, z)."""
        return self.make(self.inputs(codes["c"]), codes["z"])
