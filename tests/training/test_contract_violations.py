"""The contract finds methods that break it, and says which part they break."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch
from torch import Tensor

from unbraid.core import Batch, DataSpec, MethodConfig, Posterior, Terms, Update
from unbraid.methods.vae.beta_vae import VAE, BetaVAEModel
from unbraid.ops.given import Point
from unbraid.training import contract
from unbraid.training.batches import TrainingData


class Stateful(BetaVAEModel):
    """Its loss remembers how often it was asked."""

    calls = 0

    def loss(self, batch: Batch, step: int) -> Terms:
        self.calls += 1
        return Terms(super().loss(batch, step).total * self.calls)


class Forgetful(BetaVAEModel):
    """Its terms leave out the weight of one of them."""

    def loss(self, batch: Batch, step: int) -> Terms:
        _, reconstruction, kl = self.elbo(batch.x)
        return Terms(reconstruction + 3 * kl, reconstruction=reconstruction, kl=kl)


class Greedy(BetaVAEModel):
    """Its update names a submodule that the loss does not reach."""

    def updates(self) -> tuple[Update, ...]:
        return (Update("vae", self.loss, ("encoder", "decoder", "unused"), self.config.adam, 8),)

    def __init__(self, config: VAE, data: DataSpec, beta: float) -> None:
        super().__init__(config, data, beta)
        self.unused = torch.nn.Linear(2, 2)


class Crowded(BetaVAEModel):
    """Its codes are relative to the rest of the batch."""

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        mean = self.posterior(x).mean
        return {"z": Point(mean - mean.mean(0))}


class Homebound(BetaVAEModel):
    """Its loss weighs latents by a vector that stays on the CPU."""

    def loss(self, batch: Batch, step: int) -> Terms:
        weights = torch.ones(self.config.latents)
        return Terms((self.posterior(batch.x).mean * weights).square().sum() + super().loss(batch, step).total)


class Absent(BetaVAEModel):
    """Its codes are on the CPU wherever the model is."""

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        return {"z": Point(torch.zeros(len(x), self.config.latents))}


class Measuring(BetaVAEModel):
    """Its loss asks for a value in every step, which makes a GPU wait."""

    def loss(self, batch: Batch, step: int) -> Terms:
        return Terms(super().loss(batch, step).total / batch.x.mean().item())


FAULTY = (Stateful, Forgetful, Greedy, Crowded, Homebound, Absent, Measuring)
BUILT: dict[str, type[BetaVAEModel]] = {one.__name__.lower(): one for one in FAULTY}


@dataclass(frozen=True, kw_only=True)
class Broken(VAE):
    """A VAE with a fault."""

    name: ClassVar[str] = "broken"
    fault: str = ""

    def build(self, data: DataSpec) -> BetaVAEModel:
        return BUILT[self.fault](self, data, beta=1.0)


Check = Callable[[MethodConfig, TrainingData], None]


@pytest.mark.parametrize(
    ("fault", "check", "sentence"),
    [
        ("stateful", contract.check_losses, "vae: its loss must be the same when computed again"),
        ("forgetful", contract.check_losses, "vae: its terms with their weights must add up to its total"),
        ("greedy", contract.check_gradients, "vae: 'unused', which it trains, must change"),
        ("crowded", contract.check_codes, "the code z of an observation must not depend on what else is in the batch"),
        ("homebound", contract.check_other_device, "the loss of vae must run on the model's device .*cpu"),
        ("absent", contract.check_other_device, "encode must run on the model's device .*the mean of z is on the cpu"),
        ("measuring", contract.check_other_device, "the loss of vae must run on the model's device .*item"),
    ],
)
def test_a_broken_method_is_told_what_it_breaks(fault: str, check: Check, sentence: str) -> None:
    config = Broken(width=0.1, fault=fault)
    with pytest.raises(contract.ContractError, match=f"^method contract violated: {sentence}"):
        check(config, contract.training_data(config, contract.small_images()))


def test_a_sound_method_passes_the_same_checks() -> None:
    config = VAE(width=0.1)
    source = contract.training_data(config, contract.small_images())
    for check in (contract.check_losses, contract.check_gradients, contract.check_codes, contract.check_other_device):
        check(config, source)
