"""JointVAE (Dupont 2018): continuous and discrete codes, each held at a capacity that grows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from unbraid.core import Adam, Batch, DataSpec, Method, Posterior, Terms, Update
from unbraid.methods.options import NetworkOptions, ObservedNetworks, check_likelihood, network_options
from unbraid.nets.stacks import Encoder, decoder
from unbraid.ops import likelihood
from unbraid.ops.categorical import Categorical, capacity_limit
from unbraid.ops.gaussian import DiagonalGaussian
from unbraid.ops.schedules import linear
from unbraid.util.schema import option, with_default


@dataclass(frozen=True, kw_only=True)
class JointVAE(ObservedNetworks):
    """JointVAE: Gaussian codes z and discrete codes c, whose KLs follow capacities.

    Reference:
        Dupont 2018, eq. 7; the defaults are those of its appendix for dSprites.

    Example:
        >>> JointVAE(classes=(10,)).classes
        (10,)
    """

    name: ClassVar[str] = "joint-vae"
    title: ClassVar[str] = "JointVAE"
    paper: ClassVar[str] = "Dupont 2018"
    when: ClassVar[str] = (
        "Where some of what varies is a kind and not an amount: it has discrete codes beside continuous "
        "ones, without labels."
    )
    latents: int = option(6, "number of continuous codes", least=1)
    classes: tuple[int, ...] = option((3,), "number of values of each discrete code", least=2)
    gamma: float = option(150.0, "weight of the distances between KLs and capacities", least=0)
    capacity: float = option(40.0, "capacity of the continuous codes at the end, in nats", least=0)
    discrete_capacity: float = option(
        1.1, "capacity of the discrete codes at the end, in nats; no more than Σ log L", least=0
    )
    capacity_steps: int = option(300_000, "steps until the capacities are reached", least=0)
    temperature: float = option(0.67, "of the Gumbel-softmax draws", above=0)
    adam: Adam = with_default(NetworkOptions, "adam", Adam(lr=5e-4))

    def build(self, data: DataSpec) -> JointVAEModel:
        """The untrained model."""
        return JointVAEModel(self, data)


class JointVAEModel(Method):
    """Dupont 2018, eq. 7. The defaults are those of its appendix for dSprites."""

    config: JointVAE

    def __init__(self, config: JointVAE, data: DataSpec) -> None:
        super().__init__()
        check_likelihood(config.likelihood, data)
        self.config = config
        values = sum(config.classes)
        nets = network_options(config, data)
        self.encoder = Encoder(data.shape, 2 * config.latents + values, **nets)
        self.decoder = decoder(config.latents + values, data.shape, **nets)

    def posteriors(self, x: Tensor) -> tuple[DiagonalGaussian, Categorical]:
        """q(z | x) and q(c | x)."""
        parameters, logits = self.encoder(x).split((2 * self.config.latents, sum(self.config.classes)), dim=1)
        return (
            DiagonalGaussian.from_parameters(parameters),
            Categorical(logits, self.config.classes, self.config.temperature),
        )

    def capacities(self, step: int) -> tuple[float, float]:
        """C_z and C_c at this step; a discrete code cannot say more than log L."""
        c, steps = self.config, self.config.capacity_steps
        most = min(c.discrete_capacity, capacity_limit(c.classes))
        return linear(step, 0.0, c.capacity, steps), min(most, linear(step, 0.0, c.discrete_capacity, steps))

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | z, c) + γ·|KL_z − C_z(t)| + γ·|KL_c − C_c(t)|, the distances taken of the batch's mean KLs."""
        q_z, q_c = self.posteriors(batch.x)
        output = self.decoder(torch.cat((q_z.rsample(), q_c.rsample()), dim=1))
        o = self.config
        reconstruction = likelihood.nll(o.likelihood, output, batch.x, o.scale, own_total=o.library_size)
        kl_z, kl_c = q_z.kl(), q_c.kl()
        capacity_z, capacity_c = self.capacities(step)
        gamma, far_z, far_c = self.config.gamma, (kl_z - capacity_z).abs(), (kl_c - capacity_c).abs()
        return Terms(
            reconstruction + gamma * (far_z + far_c),
            reconstruction=reconstruction,
            kl_continuous_distance=(gamma, far_z),
            kl_discrete_distance=(gamma, far_c),
            kl=lambda: kl_z + kl_c,
            kl_continuous=lambda: kl_z,
            kl_discrete=lambda: kl_c,
        )

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """q(z | x) and q(c | x)."""
        q_z, q_c = self.posteriors(x)
        return {"z": q_z, "c": q_c}

    def decode(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """The mean of p(x | z, c)."""
        return likelihood.mean(self.config.likelihood, self.decoder(torch.cat((codes["z"], codes["c"]), dim=1)))

    def prior(self, n: int) -> dict[str, Posterior]:
        """z ~ N(0, 1), c uniform."""
        like = next(self.parameters())
        logits = like.new_zeros(n, sum(self.config.classes))
        return {
            "z": DiagonalGaussian.standard(n, self.config.latents, like),
            "c": Categorical(logits, self.config.classes, self.config.temperature),
        }

    def updates(self) -> tuple[Update, ...]:
        """One step for encoder and decoder."""
        return (Update("vae", self.loss, ("encoder", "decoder"), self.config.adam, self.config.batch_size),)
