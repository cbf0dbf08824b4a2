"""Given control variables: a stage whose codes are known factors needs no encoder (MS-VAE, appendices C and F.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from unbraid.core import Batch, DataSpec, LaterStage, Method, Posterior, Terms, Update
from unbraid.methods.options import ObservationOptions, ObservedNetworks, check_likelihood, network_options
from unbraid.methods.staged.control_inputs import ControlInputs, GivenFactors
from unbraid.nets.adain import adain_network
from unbraid.nets.stacks import decoder
from unbraid.ops import likelihood
from unbraid.util.schema import option


@dataclass(frozen=True, kw_only=True)
class Controls(GivenFactors, ObservedNetworks):
    """Given controls: p(y | c) for known factors c, trained to predict the observations or a given target.

    Reference:
        MS-VAE, appendices C and F.1.

    Example:
        >>> Controls(factors=("azimuth",)).required_labels(("azimuth", "shape"))
        ('azimuth',)
    """

    name: ClassVar[str] = "controls"
    title: ClassVar[str] = "Given controls"
    paper: ClassVar[str] = "MS-VAE, C and F.1"
    when: ClassVar[str] = (
        "As the first stage where the factors are known and set by hand (a pose, the settings of a machine)."
    )
    models_counts: ClassVar[bool] = False
    target: str = option("", "what to predict: one of the data set's targets by name, or the observations")

    def build(self, data: DataSpec) -> ControlsModel:
        """The untrained stage."""
        inputs = ControlInputs(data, self.factors)
        net = decoder(inputs.features, data.shape, **network_options(self, data))
        return ControlsModel(self, data, inputs, net)


@dataclass(frozen=True, kw_only=True)
class MSControls(GivenFactors, LaterStage, ObservationOptions):
    """Given controls as a later stage: p(x | c, y), as (B, Y₀) → Y₁ of the pendulum.

    Reference:
        MS-VAE, appendices C and F.1.

    Example:
        >>> MSControls().conditional
        True
    """

    name: ClassVar[str] = "ms-controls"
    title: ClassVar[str] = "Given controls (later stage)"
    paper: ClassVar[str] = "MS-VAE, C and F.1"
    when: ClassVar[str] = "Where further known factors come in at a later stage, as the second of three of a pendulum."
    models_counts: ClassVar[bool] = False
    target: str = option("", "what to predict: one of the data set's targets by name, or the observations")

    def build(self, data: DataSpec) -> ControlsModel:
        """The untrained stage: y through the layers, c through AdaIN."""
        inputs = ControlInputs(data, self.factors)
        return ControlsModel(self, data, inputs, adain_network(data.shape, inputs.features, self.width))


class ControlsModel(Method):
    """p(x | c), or p(x | c, y) in a later stage. Its `encode` reads c off the labels: there is nothing to infer."""

    config: Controls | MSControls

    def __init__(self, config: Controls | MSControls, data: DataSpec, inputs: ControlInputs, net: nn.Module) -> None:
        super().__init__()
        check_likelihood(config.likelihood, data)
        self.config, self.inputs, self.decoder = config, inputs, net

    def output(self, c: Tensor, y: Tensor | None) -> Tensor:
        """Parameters of p(x | c, y)."""
        features = self.inputs(c)
        return self.decoder(features) if y is None else self.decoder(y, features)  # type: ignore[no-any-return]

    def loss(self, batch: Batch, step: int) -> Terms:
        """−log p(x | c, y)."""
        output = self.output(self.inputs.given(batch.factors).mean, batch.y)
        o = self.config
        reconstruction = likelihood.nll(o.likelihood, output, batch.x, o.scale, own_total=o.library_size)
        return Terms(reconstruction, reconstruction=reconstruction)

    def updates(self) -> tuple[Update, ...]:
        """One step on observations whose labels are known."""
        size = self.config.batch_size
        return (Update("controls", self.loss, ("decoder",), self.config.adam, size, stream="labelled"),)

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """The controls as they are given, under the key `c`."""
        if labels is None:
            return self.prior(x.shape[0])
        return {"c": self.inputs.given(labels)}

    def prior(self, n: int) -> dict[str, Posterior]:
        """All values of the controls alike."""
        return {"c": self.inputs.prior(n)}

    def decode(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """The mean of p(x | c, y)."""
        return likelihood.mean(self.config.likelihood, self.output(codes["c"], y))

    def sample_x(self, codes: Mapping[str, Tensor], y: Tensor | None = None) -> Tensor:
        """A draw from p(x | c, y)."""
        return likelihood.sample(self.config.likelihood, self.output(codes["c"], y), self.config.scale)
