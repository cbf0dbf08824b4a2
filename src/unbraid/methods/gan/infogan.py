"""InfoGAN (Chen et al. 2016), in the form that Chen et al. 2018 compare β-TCVAE with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from unbraid.core import Adam, Batch, DataSpec, Method, Posterior, Terms, Update
from unbraid.methods.options import NetworkOptions
from unbraid.nets.gan import GANNetwork, generator, trunk
from unbraid.ops.density_ratio import classification_loss, mistaken_loss
from unbraid.ops.gaussian import noise_like
from unbraid.ops.information import UNIFORM_ENTROPY, RecognisedCode, UniformCode, information_bound
from unbraid.ops.schedules import linear
from unbraid.util.schema import option


@dataclass(frozen=True, kw_only=True)
class InfoGAN(NetworkOptions):
    """InfoGAN: a generator whose codes can be read back from what it makes.

    Reference:
        Chen et al. 2016, eq. 6.

    Example:
        >>> InfoGAN(codes=10).codes
        10
    """

    name: ClassVar[str] = "infogan"
    title: ClassVar[str] = "InfoGAN"
    paper: ClassVar[str] = "Chen et al. 2016"
    when: ClassVar[str] = (
        "As the adversarial baseline: sharp draws, codes that can be set, and no encoder that reconstructs."
    )
    codes: int = option(5, "number of codes, uniform on [−1, 1]", least=1)
    noise: int = option(5, "number of noise variables, which are not read back", least=0)
    information: float = option(1.0, "weight λ of the information bound", least=0)
    instance_noise: float = option(
        0.1, "standard deviation of noise on all images that the critic sees, at the start", least=0
    )
    noise_steps: int = option(20_000, "steps until the instance noise is gone", least=0)
    network: GANNetwork = option(
        "auto",
        "conv-bn (for images), dcgan (wider, learns sooner), conv, conv-celeba, conv-mnist, mlp, conv1d (signals)",
    )
    adam: Adam = option(Adam(lr=2e-4, beta1=0.5), "optimiser of the generator (DCGAN's settings)")
    critic_adam: Adam = option(Adam(lr=2e-4, beta1=0.5), "optimiser of the critic and the recognition network")

    def build(self, data: DataSpec) -> InfoGANModel:
        """The untrained model."""
        return InfoGANModel(self, data)


class InfoGANModel(Method):
    """Chen et al. 2016, eq. 6, with the non-saturating generator loss and instance noise (Sønderby et al. 2017)."""

    config: InfoGAN

    def __init__(self, config: InfoGAN, data: DataSpec) -> None:
        super().__init__()
        self.config, self.data = config, data
        self.generator = generator(config.codes + config.noise, data.shape, config.network, config.width)
        self.trunk, features = trunk(data.shape, config.network, config.width)
        self.critic = nn.Linear(features, 1)
        self.recognition = nn.Linear(features, 2 * config.codes)

    def make(self, codes: Tensor, noise: Tensor) -> Tensor:
        """Observations from codes and noise; images in [0, 1]."""
        output = self.generator(torch.cat((codes, noise), dim=1))
        return output.sigmoid() if self.data.is_image else output  # type: ignore[no-any-return]

    def draw(self, like: Tensor) -> tuple[Tensor, Tensor]:
        """Codes drawn from their prior, and the observations generated from them."""
        codes = UniformCode(like.new_zeros(len(like), self.config.codes)).rsample()
        noise = torch.randn((len(like), self.config.noise), device=like.device)
        return codes, self.make(codes, noise)

    def blurred(self, x: Tensor, step: int) -> Tensor:
        """x with instance noise: real and generated observations then overlap, and the critic cannot win outright."""
        deviation = linear(step, self.config.instance_noise, 0.0, self.config.noise_steps)
        return x + deviation * noise_like(x)

    def judge(self, x: Tensor, step: int) -> tuple[Tensor, RecognisedCode]:
        """The log-odds that x is real, [b], and Q(c | x)."""
        features = self.trunk(self.blurred(x, step))
        return self.critic(features).squeeze(1), self.recognise(features)

    def recognise(self, features: Tensor) -> RecognisedCode:
        """Q(c | x) from the shared features."""
        mean, log_var = self.recognition(features).chunk(2, dim=1)
        return RecognisedCode(mean, log_var)

    def bound(self, codes: Tensor, q: RecognisedCode) -> Tensor:
        """L_I(G, Q) ≤ I(c; G(c, noise)), in nats."""
        return information_bound(q.log_prob(codes), self.config.codes * UNIFORM_ENTROPY)

    def critic_loss(self, batch: Batch, step: int) -> Terms:
        """Cross-entropy of real against generated, − λ·L_I: the recognition network shares the critic's trunk."""
        with torch.no_grad():  # the generator is the other update's
            codes, made = self.draw(batch.x)
        real_odds, _ = self.judge(batch.x, step)
        made_odds, q = self.judge(made, step)
        adversarial, accuracy = classification_loss(real_odds, made_odds)
        information = self.bound(codes, q)
        weight = self.config.information
        total = adversarial - weight * information
        return Terms(total, adversarial=adversarial, information=(-weight, information), accuracy=lambda: accuracy)

    def generator_loss(self, batch: Batch, step: int) -> Terms:
        """−log D(G(c, noise)) − λ·L_I."""
        codes, made = self.draw(batch.x)
        odds, q = self.judge(made, step)
        adversarial = mistaken_loss(odds)
        information = self.bound(codes, q)
        weight = self.config.information
        total = adversarial - weight * information
        return Terms(total, adversarial=adversarial, information=(-weight, information))

    def updates(self) -> tuple[Update, ...]:
        """A step for critic and recognition, then one for the generator."""
        config = self.config
        return (
            Update(
                "critic", self.critic_loss, ("trunk", "critic", "recognition"), config.critic_adam, config.batch_size
            ),
            Update("generator", self.generator_loss, ("generator",), config.adam, config.batch_size),
        )

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """Q(c | x), under the key `z`: the codes are continuous."""
        return {"z": self.recognise(self.trunk(x))}

    def decode(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """What the generator makes of the codes with its noise at zero."""
        return self.make(codes["z"], codes["z"].new_zeros(codes["z"].shape[0], self.config.noise))

    def prior(self, n: int) -> dict[str, Posterior]:
        """Codes uniform on [−1, 1]."""
        return {"z": UniformCode(next(self.parameters()).new_zeros(n, self.config.codes))}
