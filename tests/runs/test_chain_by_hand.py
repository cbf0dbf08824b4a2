"""What goes from stage to stage in a chain, on stages that are a line of arithmetic: y, codes and draws."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from unbraid.errors import InputError
from unbraid.runs.chain import Chain, bounds, columns, drawn_codes, flat, has_learned_prior, unflat
from unbraid.runs.decoding import decode_part


class Code:
    """A code whose draw is its mean and a half."""

    def __init__(self, mean: Tensor) -> None:
        self.mean = mean

    def rsample(self) -> Tensor:
        return self.mean + 0.5

    def kl_per_latent(self) -> Tensor:
        return self.mean * 0


class Stage(nn.Module):
    """Its code is number·(x − y); it makes y + 10^number · (code + codes that it is given)."""

    def __init__(self, number: int, *, uses_codes: bool = False, reconstructs: bool = True) -> None:
        super().__init__()
        self.number, self.somewhere = number, nn.Parameter(torch.zeros(1))
        self.config: Any = SimpleNamespace(
            uses_codes=uses_codes, reconstructs=reconstructs, encoder_needs_labels=number == 3
        )

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Any]:
        known = 0 if labels is None else labels
        return {"z": Code(self.number * (x - (0 if y is None else y)) + known)}

    def decode(self, codes: Any, y: Tensor | None = None) -> Tensor:
        given = codes["given"] if self.config.uses_codes else 0
        return (0 if y is None else y) + 10.0**self.number * (codes["z"] + given)

    def prior(self, n: int) -> dict[str, Any]:
        return {"z": Code(torch.full((n, 1), float(self.number)))}

    def sample_x(self, codes: Any, y: Tensor | None = None) -> Tensor:
        return self.decode(codes, y) + 0.125


class Learned(Stage):
    """One whose z is drawn given y."""

    prior_rows = 5

    def fit_prior(self, x_and_y: Any) -> None:
        raise AssertionError

    def draw_given(self, y: Tensor) -> dict[str, Tensor]:
        return {"z": -y}


class Blind(nn.Module):
    """One that has a prior and no encoder."""

    def __init__(self) -> None:
        super().__init__()
        self.somewhere = nn.Parameter(torch.zeros(1))
        self.config: Any = SimpleNamespace(uses_codes=False, reconstructs=False, encoder_needs_labels=False)

    def prior(self, n: int) -> dict[str, Any]:
        return {"z": Code(torch.full((n, 1), 4.0))}

    def decode(self, codes: Any, y: Tensor | None = None) -> Tensor:
        return codes["z"] + (0 if y is None else y)


def chain(*stages: nn.Module) -> Chain:
    return Chain(list(stages))  # type: ignore[arg-type]


X = torch.tensor([[2.0], [-1.0]])


def passed(x: float, half: float, *, uses: tuple[bool, ...] = (False, False, False)) -> tuple[list[float], list[float]]:
    """Codes and outputs of three stages by hand; `half` is added to each code."""
    codes: list[float] = []
    outputs: list[float] = []
    for k, given in enumerate(uses, 1):
        y = outputs[-1] if outputs else 0.0
        codes.append(k * (x - y) + half)
        outputs.append(y + 10.0**k * (codes[-1] + (codes[-2] if given else 0.0)))
    return codes, outputs


@pytest.mark.parametrize("uses", [(False, False, False), (False, True, True)])
@pytest.mark.parametrize("half", [0.0, 0.5])
def test_each_stage_sees_what_the_one_before_it_made(uses: tuple[bool, ...], half: float) -> None:
    made = chain(*(Stage(k, uses_codes=given) for k, given in enumerate(uses, 1)))
    expected = [passed(float(x), half, uses=uses) for x in X]
    sample = half > 0
    for number, output in enumerate(made.reconstruct(X, sample=sample)):
        assert output[:, 0].tolist() == pytest.approx([outputs[number] for _, outputs in expected])
    for number, q in enumerate(made.encode(X, sample=sample)):
        codes = q["z"].rsample() if sample else q["z"].mean
        assert codes[:, 0].tolist() == pytest.approx([codes[number] for codes, _ in expected])
    codes_ = [{"z": torch.tensor([[codes[k]] for codes, _ in expected])} for k in range(3)]
    for number, output in enumerate(made.decode(codes_)):
        assert output[:, 0].tolist() == pytest.approx([outputs[number] for _, outputs in expected], rel=1e-4)
    last = made.decode_last({"z": X, "given": X}, X + 1)
    assert last.tolist() == (X + 1 + 1000 * (2 * X if uses[2] else X)).tolist()
    assert made.needs_labels


def test_labels_go_to_every_encoder() -> None:
    first, second = chain(Stage(1), Stage(2)).encode(X, torch.tensor([[0.25], [0.5]]))
    y = 10 * (X + torch.tensor([[0.25], [0.5]]))
    assert first["z"].mean.tolist() == [[2.25], [-0.5]]
    assert second["z"].mean.tolist() == (2 * (X - y) + torch.tensor([[0.25], [0.5]])).tolist()
    assert not chain(Stage(1), Stage(2)).needs_labels


@pytest.mark.parametrize("uses", [False, True])
def test_samples_go_through_all_stages(uses: bool) -> None:
    codes, outputs = chain(Stage(1), Stage(2, uses_codes=uses), Stage(3, uses_codes=uses)).sample(2)
    drawn = [1.5, 2.5, 3.5]
    assert [code["z"][0, 0].item() for code in codes] == drawn
    y = 0.0
    for k, output in enumerate(outputs):
        y = y + 10.0 ** (k + 1) * (drawn[k] + (drawn[k - 1] if uses and k else 0))
        assert output[:, 0].tolist() == [y, y]


def test_a_learned_prior_draws_given_y_unless_it_is_not_to() -> None:
    made = chain(Stage(1), Learned(2))
    codes, outputs = made.sample(2)
    assert codes[1]["z"].tolist() == [[-15.0]] * 2
    assert outputs[1].tolist() == [[15.0 - 100 * 15.0]] * 2
    assert made.sample(2, learned=False)[0][1]["z"].tolist() == [[2.5]] * 2
    stage: Any = Learned(2)
    assert has_learned_prior(stage)
    assert drawn_codes(stage, 2, X)["z"].tolist() == (-X).tolist()
    assert drawn_codes(stage, 2, None)["z"].tolist() == [[2.5]] * 2
    stage.prior_rows = 0
    assert not has_learned_prior(stage)
    assert drawn_codes(stage, 2, X)["z"].tolist() == [[2.5]] * 2
    assert not has_learned_prior(Stage(1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "half", "more"), [("mean", 0.0, 0.0), ("sample", 0.5, 0.0), ("observation", 0.5, 0.125)]
)
@pytest.mark.parametrize("stages", [1, 2, 3])
def test_what_a_later_stage_is_conditioned_on(kind: Any, half: float, more: float, stages: int) -> None:
    uses = (False, True, True)[:stages]
    made = chain(*(Stage(k, uses_codes=given) for k, given in enumerate(uses, 1)))
    y, codes = made.condition(X, None, kind)
    expected = [passed(float(x), half, uses=uses) for x in X]
    assert y[:, 0].tolist() == pytest.approx([outputs[-1] + more for _, outputs in expected], rel=1e-5)
    assert codes[:, 0].tolist() == pytest.approx([own[-1] for own, _ in expected])


def test_what_cannot_be_inferred_is_drawn_or_at_the_middle_of_its_prior() -> None:
    made = chain(Stage(1), Blind())
    assert made.encode(X)[1]["z"].mean.tolist() == [[4.0]] * 2
    assert made.reconstruct(X)[1].tolist() == (10 * X + 4.5).tolist()  # not a reconstruction: z is drawn
    assert made.condition(X, None, "mean")[0].tolist() == (10 * X + 4).tolist()
    with pytest.raises(InputError, match="Blind draws no observations"):
        made.condition(X, None, "observation")
    drawing = chain(Stage(1), Stage(2, reconstructs=False))
    assert drawing.reconstruct(X)[1].tolist() == (10 * X + 100 * 2.5).tolist()


def test_groups_of_codes_side_by_side() -> None:
    groups = {"c": torch.tensor([[1.0, 2.0]]), "z": torch.tensor([[3.0]])}
    assert flat(groups).tolist() == [[1.0, 2.0, 3.0]]
    assert {key: value.tolist() for key, value in unflat(flat(groups), groups).items()} == {
        "c": [[1.0, 2.0]],
        "z": [[3.0]],
    }
    named: Any = SimpleNamespace(mean=groups["c"], names=["size", "mass"], bounds=[(0.0, 1.0), (2.0, 3.0)])
    both: Any = {"c": named, "z": Code(groups["z"])}
    assert columns(both) == ["size", "mass", "z1"]
    assert bounds(both) == [(0.0, 1.0), (2.0, 3.0), (-float("inf"), float("inf"))]


def test_codes_are_decoded_stage_by_stage_and_what_is_not_given_is_the_priors() -> None:
    """Stage 2 starts from the codes of stage 1; without codes of its own it takes its prior's mean, or draws for y."""
    like = [{"z": torch.empty(0, 1)}] * 2
    run: Any = SimpleNamespace(chain=chain(Stage(1), Stage(2, uses_codes=True)), device=torch.device("cpu"))
    own = torch.tensor([[3.0], [4.0]])
    first, second = decode_part(run, [X, own], like)
    assert first.tolist() == (10 * X).tolist()
    assert second.tolist() == (10 * X + 100 * (own + X)).tolist()
    _, second = decode_part(run, [X, None], like)
    assert second.tolist() == (10 * X + 100 * (2 + X)).tolist()
    run.chain = chain(Stage(1), Learned(2))
    _, drawn = decode_part(run, [X, None], like)
    assert drawn.tolist() == (10 * X + 100 * (-10 * X)).tolist()
