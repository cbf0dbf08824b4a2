"""The factor probe: its loss and slopes against cross-entropy in NumPy, and what it shows of an observation."""

import hand
import numpy as np
import pytest
import torch
from torch import nn

from unbraid.core import DataSpec
from unbraid.data import Factor
from unbraid.methods.labelled.probe import FactorProbe

pytestmark = pytest.mark.usefixtures("double")
X = hand.observations(3, 1, 2, 2)
SPEC = DataSpec((1, 2, 2), 10, (Factor("a", 2, "categorical"), Factor("b", 3, "categorical")))
LABELS = np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 0.0]])


class TinyEncoder(nn.Module):
    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.trunk, self.head = hand.Tiny(4, 5), hand.Tiny(5, outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.trunk(x))  # type: ignore[no-any-return]


@pytest.mark.parametrize(("factor", "column", "size"), [("a", 0, 2), ("", 1, 3)])
def test_a_probe_names_the_value_of_its_factor(factor: str, column: int, size: int) -> None:
    probe = FactorProbe(factor=factor, width=0.01).build(SPEC)
    probe.encoder = TinyEncoder(size)

    def by_hand(w: hand.Weights) -> dict[str, float]:
        p = hand.softmax(hand.linear(w, "encoder.head", hand.linear(w, "encoder.trunk", X)))
        values = LABELS[:, column].astype(int)
        return {"total": -np.log(p[np.arange(3), values]).mean(), "accuracy": (p.argmax(1) == values).mean()}

    hand.check_loss(probe, "probe", hand.batch(X, LABELS), by_hand)
    w = {name: parameter.detach().numpy() for name, parameter in probe.named_parameters()}
    features = hand.linear(w, "encoder.trunk", X)
    expected = features / np.linalg.norm(features, axis=1, keepdims=True)
    np.testing.assert_allclose(probe.encode(torch.from_numpy(X))["z"].mean.detach().numpy(), expected)
    (update,) = probe.updates()
    assert (update.trains, update.stream) == (("encoder",), "labelled")
    assert FactorProbe.uses_labels
    assert FactorProbe().required_labels(("a", "b")) == ("a", "b")


def test_the_kind_and_width_of_network_are_those_asked_for() -> None:
    narrow, wide = (FactorProbe(network="mlp", width=width).build(SPEC).encoder for width in (0.1, 0.2))
    assert not any(isinstance(layer, nn.Conv2d) for layer in narrow.modules())
    assert narrow.head.in_features < wide.head.in_features
