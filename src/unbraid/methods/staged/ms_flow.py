"""MS-FLOW's second stage: a conditional coupling flow p(x | y) (MS-VAE, appendix D; Dinh et al. 2017)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
import zuko
from torch import Tensor

from unbraid.core import Batch, DataSpec, LaterStage, Method, MethodConfig, Posterior, Terms, Update
from unbraid.methods.options import NetworkOptions
from unbraid.methods.staged.ms_vae import required_y
from unbraid.nets.stacks import scaled
from unbraid.ops import logit_space
from unbraid.ops.gaussian import DiagonalGaussian
from unbraid.ops.given import Point
from unbraid.util.schema import option, with_default

UNITS = 1000


@dataclass(frozen=True, kw_only=True)
class MSFlow(LaterStage, NetworkOptions):
    """MS-FLOW: affine couplings that turn noise into x, given y; densities are exact, in logit space for images.

    Reference:
        MS-VAE, appendix D; Dinh et al. 2017.

    Example:
        >>> MSFlow(transforms=5).reconstructs
        False
    """

    name: ClassVar[str] = "ms-flow"
    title: ClassVar[str] = "MS-Flow"
    paper: ClassVar[str] = "MS-VAE, D"
    when: ClassVar[str] = "As a second stage where exact densities are wanted."
    reconstructs: ClassVar[bool] = False
    transforms: int = option(5, "number of affine couplings", least=1)
    layers: int = option(1, "hidden layers of each coupling's network, 1000 units each at width 1", least=0)
    batch_size: int = with_default(MethodConfig, "batch_size", 100)

    def build(self, data: DataSpec) -> MSFlowModel:
        """The untrained flow."""
        return MSFlowModel(self, data)


class MSFlowModel(Method):
    """x = f(z; y) with z ~ N(0, 1) as long as x. `encode` inverts the flow: z is exact, and so is the way back."""

    config: MSFlow

    centre: Tensor
    spread: Tensor

    def __init__(self, config: MSFlow, data: DataSpec) -> None:
        super().__init__()
        self.config, self.shape = config, data.shape
        self.values = logit_space.dimension(data.shape)
        units = scaled(UNITS, config.width)
        self.flow = zuko.flows.RealNVP(
            self.values, self.values, transforms=config.transforms, hidden_features=[units] * config.layers
        )
        self.register_buffer("centre", torch.zeros(self.values))
        self.register_buffer("spread", torch.ones(self.values))

    def prepare(self, x: Iterator[Tensor]) -> None:
        """Centre and spread of each value, so that the flow starts from standardised data."""
        count, total, squares = 0, torch.zeros_like(self.centre).double(), torch.zeros_like(self.centre).double()
        for batch in x:
            t = logit_space.enter_noisily(batch).double()
            count, total, squares = count + len(t), total + t.sum(0), squares + t.square().sum(0)
        mean = total / count
        self.centre.copy_(mean)
        self.spread.copy_((squares / count - mean.square()).clamp_min(1e-6).sqrt())

    def distribution(self, y: Tensor) -> Any:
        """The flow given y."""
        return self.flow(y.flatten(1))

    def log_density(self, x: Tensor, y: Tensor) -> Tensor:
        """log p(x | y), [b], of observations dequantised anew."""
        return self.log_density_at(logit_space.enter_noisily(x), y)

    def log_density_at(self, t: Tensor, y: Tensor) -> Tensor:
        """log p(t | y), [b], at points of logit space."""
        standard = (t - self.centre) / self.spread
        return self.distribution(y).log_prob(standard) - self.spread.log().sum()  # type: ignore[no-any-return]

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | y)."""
        density = self.log_density(batch.x, required_y(batch.y)).mean()
        return Terms(-density, log_density=(-1.0, density))

    def updates(self) -> tuple[Update, ...]:
        """One step for the flow."""
        return (Update("flow", self.loss, ("flow",), self.config.adam, self.config.batch_size),)

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """z = f⁻¹(x; y), under the key `z`: a point."""
        standard = (logit_space.enter(x) - self.centre) / self.spread
        return {"z": Point(self.distribution(required_y(y)).transform(standard))}

    def prior(self, n: int) -> dict[str, Posterior]:
        """Standard normal noise."""
        return {"z": DiagonalGaussian.standard(n, self.values, self.centre)}

    def decode(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """f(z; y)."""
        standard = self.distribution(required_y(y)).transform.inv(codes["z"])
        return logit_space.leave(standard * self.spread + self.centre, self.shape)


def log_density(mixture_log_weights: Tensor, centres: Tensor, flow: MSFlowModel, x: Tensor) -> tuple[Tensor, Tensor]:
    """log p(x) = log Σₖ πₖ p(x | yₖ) of a mixture and the flow that follows it, exactly.

    Args:
        mixture_log_weights: log πₖ, [component].
        centres: the y that the first stage makes of each component, [component, …].
        flow: the trained second stage.
        x: observations, [b, …].

    Returns:
        log p(x), [b], and the component that explains each x best, [b].

    Reference:
        MS-VAE, appendix D.
    """
    t = logit_space.enter_noisily(x)
    each = [flow.log_density_at(t, y.expand(len(x), *y.shape)) for y in centres]
    joint = torch.stack(each, dim=1) + mixture_log_weights
    return joint.logsumexp(1), joint.argmax(1)
