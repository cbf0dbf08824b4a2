"""Which rows, variables and codes a measure looks at, on runs that are a line of arithmetic."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from unbraid import metrics
from unbraid.evaluation import classes, conditioning, table
from unbraid.evaluation.identifiability import identifiability
from unbraid.evaluation.measure import MeasureOptions
from unbraid.metrics import Score
from unbraid.ops.gaussian import DiagonalGaussian
from unbraid.ops.given import Point
from unbraid.runs.chain import Chain
from unbraid.runs.codes import CodeTable


class Sums(nn.Module):
    """Stage 1: its code is the sum of both values of x, which it makes twice."""

    config: Any = SimpleNamespace(encoder_needs_labels=False, reconstructs=True, uses_codes=False)

    def __init__(self) -> None:
        super().__init__()
        self.somewhere = nn.Parameter(torch.zeros(1))

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Point]:
        return {"z": Point(x.sum(1, keepdim=True))}

    def decode(self, codes: dict[str, Tensor], y: Tensor | None = None) -> Tensor:
        return codes["z"].expand(-1, 2)


class FromCodes(Sums):
    """Stage 2: it makes stage 1's codes and ten times its own, and of y nothing."""

    config: Any = SimpleNamespace(encoder_needs_labels=False, reconstructs=True, uses_codes=True)

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Point]:
        return {"z": Point(x[:, 1:])}

    def decode(self, codes: dict[str, Tensor], y: Tensor | None = None) -> Tensor:
        return torch.cat((codes["given"], 10 * codes["z"]), dim=1)


def test_a_stage_that_starts_from_codes_is_given_noise_in_their_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """M4 of model M2 or M3 of appendix L: c is what it starts from, so that c is drawn, not only y."""
    drawn: list[np.ndarray] = []
    given: list[np.ndarray] = []
    plain = torch.randn_like

    def recorded(like: Tensor) -> Tensor:
        drawn.append(plain(like).numpy())
        return torch.from_numpy(drawn[-1])

    def caught(*codes: np.ndarray, **_: Any) -> dict[str, Score]:
        given.extend(codes)
        return {}

    monkeypatch.setattr(torch, "randn_like", recorded)
    monkeypatch.setattr(metrics, "conditioning", caught)
    x = torch.tensor([[1.0, 2.0], [0.0, 5.0], [-1.0, 3.0]])
    first = Sums()
    run: Any = SimpleNamespace(
        data=x, plan=SimpleNamespace(seed=5), chain=Chain([first, FromCodes()]), stage=lambda number: first,  # type: ignore[list-item]
        config=lambda number: Sums.config, batches=lambda *_, **__: [(x, x[:, :0])],
    )  # fmt: skip
    conditioning.conditioning_scores(run, show=False)
    code, own = np.array([[3.0], [5.0], [2.0]]), np.array([[2.0], [5.0], [3.0]])
    of_z, of_codes, _ = drawn
    expected = [code, 2 * code, code + 10 * own, code + 10 * of_z, of_codes + 10 * own]
    for one, other in zip(given, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_every_variable_is_scored_by_its_own_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = {"shape": np.array([0.0, 1.0, 1.0, 0.0]), "colour": np.array([2.0, 0.0, 1.0, 2.0])}
    guessed = [np.array([0, 0, 0, 0]), np.array([2, 0, 1, 1])]  # two of four are right, then three
    data = SimpleNamespace(observations=np.arange(4.0)[:, None], column=lambda name: truth[name])

    class Rows(SimpleNamespace):
        def __len__(self) -> int:
            return 4

    run: Any = SimpleNamespace(
        data=Rows(**vars(data)), visible_labels=np.zeros((4, 2)), plan=SimpleNamespace(seed=0, held_out=None)
    )
    monkeypatch.setattr(
        classes,
        "labelled_variables",
        lambda run: {0: SimpleNamespace(name="shape"), 1: SimpleNamespace(name="colour")},
    )
    odds = [np.eye(3)[which] for which in guessed]
    monkeypatch.setattr(classes, "classify", lambda run, x: [one[x[:, 0].astype(int)] for one in odds])
    found = classes.class_scores(run)
    assert {name: score.value for name, score in found.items()} == {
        "class_accuracy/shape": 0.5,
        "class_accuracy/colour": 0.75,
    }


def test_the_condition_is_asked_at_every_different_label_that_is_complete() -> None:
    asked: list[list[list[float]]] = []

    class Conditional(nn.Module):
        def conditional_prior_of(self, labels: Tensor) -> DiagonalGaussian:
            asked.append(labels.tolist())
            return DiagonalGaussian(labels, -labels)

    labels = np.array([[1.0, 0.0], [np.nan, 2.0], [0.0, 1.0], [1.0, 0.0], [np.nan, np.nan], [2.0, 2.0]])
    run: Any = SimpleNamespace(
        stage=lambda number: Conditional(),
        visible_labels=labels,
        plan=SimpleNamespace(seed=0),
        device=torch.device("cpu"),
    )
    assert identifiability(run).points == 3
    assert asked == [[[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]]]


@pytest.mark.parametrize("part", ["held-out", "training", "all"])
def test_metrics_of_a_part_are_of_its_rows_alone(part: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    held_out = np.array([True, False, False, True, False])
    arrays = {
        "codes": np.arange(10.0).reshape(5, 2), "columns": np.array(["z1", "z2"]), "rows": np.arange(5),
        "factors": np.arange(5.0)[:, None], "factor_names": np.array(["a"]), "factor_kinds": np.array(["ordinal"]),
        "factor_sizes": np.array([5]), "held_out": held_out,
    }  # fmt: skip
    seen: list[np.ndarray] = []

    def suite(given: Any, **_: Any) -> dict[str, Score]:
        seen.append(given.codes)
        return {}

    monkeypatch.setattr(metrics, "suite", suite)
    monkeypatch.setattr(table, "replaces_codes", lambda run: False)
    asked: list[bool] = []

    def codes(*, labels: bool, show: bool) -> CodeTable:
        asked.append(labels)
        return CodeTable(arrays)

    run: Any = SimpleNamespace(codes=codes, plan=SimpleNamespace(seed=0))
    table.compute(run, ("mig",), MeasureOptions(show=False, part=part), labels=False)
    chosen = {"held-out": held_out, "training": ~held_out, "all": held_out | True}[part]
    assert (seen[0] == arrays["codes"][chosen]).all()
    assert asked == [False]
