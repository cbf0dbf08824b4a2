"""A classifier of one factor: not a disentangler, but a judge for measures that ask what an image shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor
from torch.nn import functional as F

from unbraid.core import Adam, Batch, DataSpec, Method, Posterior, Terms, Update
from unbraid.errors import InputError, unknown
from unbraid.methods.options import NetworkOptions, StackOptions
from unbraid.nets.stacks import Encoder
from unbraid.ops.given import Point
from unbraid.util.schema import option, with_default


@dataclass(frozen=True, kw_only=True)
class FactorProbe(StackOptions):
    """Factor probe: a network that reads one discrete factor off an observation.

    Reference:
        None: it is a measuring device of this library.

    Example:
        >>> FactorProbe(factor="shape").factor
        'shape'
    """

    name: ClassVar[str] = "factor-probe"
    title: ClassVar[str] = "Factor probe"
    uses_labels: ClassVar[bool] = True
    needs_complete_labels: ClassVar[bool] = True
    factor: str = option("", "the factor to read; the last one if none is named")
    adam: Adam = with_default(NetworkOptions, "adam", Adam(lr=1e-3))

    def build(self, data: DataSpec) -> FactorProbeModel:
        """The untrained probe."""
        return FactorProbeModel(self, data)


class FactorProbeModel(Method):
    """Its codes are the features before the last layer, of length one: what tells the values of the factor apart."""

    config: FactorProbe

    def __init__(self, config: FactorProbe, data: DataSpec) -> None:
        super().__init__()
        names = [factor.name for factor in data.factors]
        chosen = config.factor or (names[-1] if names else "")
        if chosen not in names:
            raise unknown("factor", chosen, names)
        self.column, self.config = names.index(chosen), config
        size = data.factors[self.column].size
        if size < 2:
            raise InputError(f"a probe reads discrete factors, and {chosen!r} is continuous.")
        self.encoder = Encoder(data.shape, size, network=config.network, width=config.width)

    def features(self, x: Tensor) -> Tensor:
        """What the last layer reads, [b, feature], of length one."""
        return F.normalize(self.encoder.trunk(x), dim=1)

    def loss(self, batch: Batch, step: int) -> Terms:
        """Cross-entropy of the factor's value."""
        output, value = self.encoder(batch.x), batch.factors[:, self.column].long()
        accuracy = (output.argmax(1) == value).float().mean()
        loss = F.cross_entropy(output, value)
        return Terms(loss, accuracy=lambda: accuracy)

    def updates(self) -> tuple[Update, ...]:
        """One step on labelled rows."""
        size = self.config.batch_size
        return (Update("probe", self.loss, ("encoder",), self.config.adam, size, stream="labelled"),)

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        """The features, under the key `z`."""
        return {"z": Point(self.features(x))}
