"""Which rows, variables and codes a measure looks at, on runs that are a line of arithmetic."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from unbraid import metrics
from unbraid.errors import InputError
from unbraid.evaluation import class_priors, classes, conditioning, inception, lpips, table, verdict
from unbraid.evaluation.generalisation import is_overfitted, overfitting, scores_are_of
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


def test_transfers_need_an_observation_that_is_not_the_first_of_its_class(monkeypatch: pytest.MonkeyPatch) -> None:
    class Rows(SimpleNamespace):
        def __len__(self) -> int:
            return len(self.observations)

    monkeypatch.setattr(class_priors, "classify", lambda run, x: [np.eye(3)[x[:, 0].astype(int)]])
    monkeypatch.setattr(class_priors, "class_names", lambda run, k: ("c", ("a", "b", "c")))
    monkeypatch.setattr(class_priors, "transfer", lambda run, content, style: content[:, None] + 10 * style[None])
    method: Any = SimpleNamespace(class_sizes=(3,))
    for values, styles in (([0, 1, 2], 0), ([0, 1, 2, 1], 1)):
        run: Any = SimpleNamespace(data=Rows(observations=np.array(values)[:, None]), plan=SimpleNamespace(seed=0))
        found = class_priors.transfer_pictures(run, method)
        if not styles:
            assert found == {}
            continue
        assert sorted(found["transfer/content"][:, 0]) == [0, 1, 2]
        assert found["transfer/style"][:, 0].tolist() == [1]
        assert found["transfer/made"].shape == (3, 1, 1)


def test_up_to_ten_thousand_observations_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Rows(SimpleNamespace):
        def __len__(self) -> int:
            return 3

    asked: list[int] = []

    def chosen(count: int, most: int, seed: int) -> np.ndarray:
        asked.append(most)
        return np.arange(count)

    monkeypatch.setattr(classes, "choose_rows", chosen)
    monkeypatch.setattr(classes, "labelled_variables", lambda run: {0: SimpleNamespace(name="shape")})
    monkeypatch.setattr(classes, "classify", lambda run, x: [np.eye(3)[:, :2]])
    run: Any = SimpleNamespace(
        data=Rows(observations=np.zeros((3, 1)), column=lambda name: np.array([0.0, 1.0, 0.0])),
        visible_labels=np.zeros((3, 1)),
        plan=SimpleNamespace(seed=0, held_out=None),
    )
    classes.class_scores(run)
    assert asked == [10_000]


def run_with(**data: Any) -> Any:
    return SimpleNamespace(
        plan=SimpleNamespace(data={"name": "things", "factors": [], **data}),
        config=lambda number: SimpleNamespace(name="vae", standard_prior=True),
        stage=lambda number: nn.Identity(),
        is_image=len(data.get("shape", (1,))) == 3,
        label_factors=(),
        codes=lambda **_: SimpleNamespace(arrays={"log_var": 0}),
    )


def test_what_is_refused_and_what_is_not() -> None:
    one, two = run_with(factors=[{"size": 2}]), run_with(factors=[{"size": 2}, {"size": 3}])
    for name in table.TELL_FACTORS_APART:
        assert "has only one" in (table.refusal(one, name) or "")
        assert table.refusal(two, name) is None
    for name in ("mig", "sap", "mcc", "irs"):
        assert table.refusal(one, name) is None
    assert inception.refusal(run_with(shape=(1, 8, 8)), "fid") is None
    assert inception.refusal(run_with(shape=(5,)), "fid") == "fid compares images; this run's observations are vectors."
    assert table.row_losses(run_with(), np.arange(2), show=False) is None, "a stage without a likelihood has no losses"


def test_classes_are_compared_with_labels_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    class Finds(nn.Module):
        class_sizes, codes_per_variable = (3,), 1
        classify = class_modes = class_codes = transfer = encode = decode = lambda self: None

    run = run_with()
    run.stage = lambda number: Finds()
    assert classes.refusal(run, "class_accuracy") == "class_accuracy compares classes with labels, and things has none."


def test_a_network_that_fails_without_a_word_is_named_by_its_error() -> None:
    def silent(left: Tensor, right: Tensor) -> Tensor:
        raise ZeroDivisionError

    images = np.zeros((2, 4, 4, 1), np.uint8)
    with pytest.raises(InputError, match=r"does not compare two batches of images \(ZeroDivisionError\)"):
        lpips.checked_distances(silent, images, images, Path("own.pt"))


def test_noise_of_few_errors_is_that_of_a_sample() -> None:
    """Five logarithms with a sample's variance of s²: the difference is beyond 3·√(2·s²/5), if only by a little."""
    logs = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
    noise = np.sqrt(2 * logs.var(ddof=1) / 5)
    assert is_overfitted(np.exp(logs + 3.05 * noise), np.exp(logs))
    assert not is_overfitted(np.exp(logs + 2.95 * noise), np.exp(logs))


def test_sentences_on_held_out_data_name_stages_and_parts() -> None:
    alike = np.tile([1.0, 2.0], 50)
    (one,) = overfitting({1: (3 * alike, alike)})
    assert "Overfitting: the model has 3.0 times" in one.text
    (second,) = overfitting({1: (alike, alike), 2: (3 * alike, alike)})
    assert "Overfitting: stage 2 has 3.0 times" in second.text
    held_out = SimpleNamespace(count=20, by="")
    plan: Any = SimpleNamespace(held_out=held_out, data={"n": 100, "arguments": {}, "name": "things"})
    said = scores_are_of(plan, {"mig": {"of": "held-out"}, "training/mig": {"of": "training"}, "_": {}})
    assert said == "These scores are of held-out data: 20 held-out observations that no training saw."
    mixed = scores_are_of(plan, {"l2": {"of": "held-out"}, "mig": {"of": "training"}})
    assert mixed.startswith("Errors are of 20 held-out observations that no training saw; scores of the codes are of")


@pytest.mark.parametrize(("more", "remedy"), [(0, "lower β"), (500, "lower β or train longer")])
def test_more_steps_are_no_remedy_where_the_loss_is_at_rest(
    more: int, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(verdict, "steering_table", lambda run, found: SimpleNamespace(information=np.ones(2)))
    monkeypatch.setattr(verdict, "judged", lambda run: [1])
    monkeypatch.setattr(verdict, "logged_loss", lambda path: (np.zeros(1), np.zeros(1)))
    monkeypatch.setattr(verdict, "steps_to_rest", lambda steps, loss: more)
    monkeypatch.setattr(verdict, "latents_used", lambda table, remedy: asked.append(remedy))
    monkeypatch.setattr(verdict, "against_pca", lambda run, reads, remedy: (asked.append(remedy) or [], {}))  # type: ignore[func-returns-value]
    monkeypatch.setattr(verdict, "still_falling", lambda run, course, behind: [])
    monkeypatch.setattr(verdict, "read_scores", lambda path: {})
    monkeypatch.setattr(verdict, "against_chance", lambda *_: [])
    monkeypatch.setattr(verdict, "scores_are_of", lambda *_: "")
    run: Any = SimpleNamespace(
        chain=SimpleNamespace(needs_labels=False), codes=lambda **_: None, config=lambda number: VAE_WITH_BETA,
        stage_folder=lambda number: Path("stage"), folder=Path("run"), plan=None,
    )  # fmt: skip
    list(verdict.sentences(run))
    assert asked == [remedy, remedy]


VAE_WITH_BETA = SimpleNamespace(beta=4.0)
