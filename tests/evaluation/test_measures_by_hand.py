"""What measures feed into their formulas, worked out by hand on stages that are a line of arithmetic."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from unbraid import metrics
from unbraid.data.published.download import RemoteFile
from unbraid.errors import InputError
from unbraid.evaluation import (
    class_priors,
    classes,
    downstream,
    identity,
    inception,
    leakage,
    lpips,
    reconstruction,
    table,
)
from unbraid.evaluation.conditioning import conditioning_scores
from unbraid.evaluation.measure import MeasureOptions
from unbraid.metrics import Score
from unbraid.ops.given import Point
from unbraid.ops.mixture import GaussianModes
from unbraid.runs.chain import Chain

CONFIG = SimpleNamespace(encoder_needs_labels=False, reconstructs=True, uses_codes=False)


class Sure(Point):
    """A code that measures take as it is, and of which they draw none."""

    def rsample(self) -> Tensor:
        raise AssertionError


class Sums(nn.Module):
    """Stage 1: its one code is the sum of both values of x, and it makes that code twice."""

    config: Any = CONFIG

    def __init__(self) -> None:
        super().__init__()
        self.somewhere = nn.Parameter(torch.zeros(1))

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Point]:
        return {"z": Sure(x.sum(1, keepdim=True))}

    def decode(self, codes: dict[str, Tensor], y: Tensor | None = None) -> Tensor:
        return codes["z"].expand(-1, 2)


class Adds(Sums):
    """Stage 2: its code is what is left of the second value, and it adds ten times that to y."""

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Point]:
        assert y is not None
        return {"z": Sure((x - y)[:, 1:])}

    def decode(self, codes: dict[str, Tensor], y: Tensor | None = None) -> Tensor:
        assert y is not None
        return y + 10 * codes["z"]


class Learned(Adds):
    """The same with a p(z | y) of its own."""

    prior_rows = 4

    def fit_prior(self, x_and_y: Any) -> None:
        raise AssertionError

    def draw_given(self, y: Tensor) -> dict[str, Tensor]:
        return {"z": 100 + y[:, :1]}


def run_of(last: nn.Module, x: Tensor) -> Any:
    first = Sums()
    return SimpleNamespace(
        data=x, plan=SimpleNamespace(seed=5), chain=Chain([first, last]), stage=lambda number: first,  # type: ignore[list-item]
        config=lambda number: CONFIG, batches=lambda *_, **__: [(x[:2], x[:2, :0]), (x[2:], x[2:, :0])],
    )  # fmt: skip


@pytest.mark.parametrize("learned", [False, True])
def test_conditioning_compares_the_codes_of_x_with_those_of_what_was_made(
    learned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M1 of y, M2 of x̂, M3 of x̂ with z drawn, M4 of x̂ with y drawn (MS-VAE, §4): codes are sums."""
    drawn: list[np.ndarray] = []
    given: list[np.ndarray] = []
    plain = torch.randn_like

    def recorded(like: Tensor) -> Tensor:
        drawn.append(plain(like).numpy())
        return torch.from_numpy(drawn[-1])

    def caught(*codes: np.ndarray, **options: Any) -> dict[str, Score]:
        assert options == {"seed": 5, "calibrate": True}
        given.extend(codes)
        return {"M3": Score(0.25)}

    monkeypatch.setattr(torch, "randn_like", recorded)
    monkeypatch.setattr(metrics, "conditioning", caught)
    monkeypatch.setattr(metrics, "code_information", lambda a, b, **_: Score(float(b.sum())))
    x = torch.tensor([[1.0, 2.0], [0.0, 5.0], [-1.0, 3.0]])
    found = conditioning_scores(run_of(Learned() if learned else Adds(), x), show=False)
    code = np.array([[3.0], [5.0], [2.0]])
    left = np.array([[-1.0], [0.0], [1.0]])  # of the second value: x − y
    noise_z = np.concatenate((drawn[0], drawn[3]))
    noise_y = np.concatenate((drawn[2], drawn[5])).sum(1, keepdims=True)
    by_noise = 2 * code + 20 * noise_z
    by_draw = 2 * code + 20 * (100 + code)
    expected = [code, 2 * code, 2 * code + 20 * left, by_draw if learned else by_noise, noise_y + 20 * left]
    for one, other in zip(given, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    score = found["conditioning/M3"]
    assert score.value == 0.25
    details = {"z": "learned", "normal": pytest.approx(by_noise.sum(), rel=1e-6)} if learned else {}
    assert score.details == details


def test_inception_is_given_images_from_minus_one_to_one_enlarged_between_pixels() -> None:
    seen: list[Tensor] = []

    def network(x: Tensor) -> Tensor:
        seen.append(x)
        return x[:, :, 74, 0]

    images = np.array([[[0], [0]], [[255], [255]]], dtype=np.uint8)[None]
    images = np.concatenate((images, np.full((17, 2, 2, 1), 51, np.uint8)))
    found = inception.features(network, images, "", False)
    assert [part.shape for part in seen] == [(16, 3, 299, 299), (2, 3, 299, 299)]
    # Row 74 of 299 is at 74.5·2/299 − ½ < 0 of the two rows: still the first one.
    np.testing.assert_allclose(found[0], [-1.0] * 3)
    np.testing.assert_allclose(found[1:], -0.6, atol=1e-6)
    half = seen[0][0, 0, :, 0]
    assert half[149].item() == pytest.approx(0, abs=1e-6)
    assert half[-1].item() == 1


def test_the_perceptual_network_is_given_both_images_from_minus_one_to_one() -> None:
    a, b = np.zeros((40, 4, 4, 1), np.uint8), np.full((40, 4, 4, 1), 51, np.uint8)
    found = lpips.distances(lambda left, right: left[:, 2, 0, 0] - 10 * right[:, 0, 3, 3], a, b)
    np.testing.assert_allclose(found, np.full(40, -1 + 6.0), atol=1e-6)


class Observed:
    """A data set of which only the observations are known."""

    def __init__(self, observations: np.ndarray) -> None:
        self.observations = observations
        self.fingerprint = "these"

    def __len__(self) -> int:
        return len(self.observations)


def test_errors_are_those_of_the_stage_that_they_are_called_after(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of three stages the second draws: it has no error, and the last one's has no prefix."""
    x = np.arange(12.0).reshape(6, 2)
    stages = [Sums(), Sums(), Sums()]
    stages[1].config = SimpleNamespace(reconstructs=False)
    run: Any = SimpleNamespace(data=Observed(x), plan=SimpleNamespace(seed=0), chain=SimpleNamespace(stages=stages))
    monkeypatch.setattr(reconstruction, "comparable", lambda run, values: values)
    monkeypatch.setattr(reconstruction, "outputs", lambda run, rows, *_, **__: [x[rows] + d for d in (1, 3, 4)])
    found = reconstruction.compute(run, ("l1", "l2"), MeasureOptions(rows=4, show=False), True)
    values = {key: score.value for key, score in found.items()}
    assert values == {"stage-1/l1": 1, "l1": 4, "stage-1/l2": 1, "l2": 16}


def test_features_of_each_stage_are_compared_with_those_of_the_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(0)
    images = random.integers(0, 200, (6, 4, 4, 1)).astype(np.uint8)
    run: Any = SimpleNamespace(data=Observed(images), plan=SimpleNamespace(seed=0))
    monkeypatch.setattr(inception, "outputs", lambda run, rows, *_, **__: [images[rows] + np.uint8(51), images[rows]])
    monkeypatch.setattr(inception, "find_network", lambda file: file)
    seen: list[int] = []

    def network(x: Tensor) -> Tensor:
        seen.append(len(x))
        return x.mean((2, 3))

    monkeypatch.setattr(inception, "load_network", lambda file: (network, "a network"))
    monkeypatch.setattr("unbraid.data.cache.folder", lambda: tmp_path)
    (tmp_path / "features").mkdir()
    found = inception.compute(run, ("fid",), MeasureOptions(images=6, show=False), True)
    assert {key: score.value for key, score in found.items()} == pytest.approx(
        {"stage-1/fid": 3 * (51 / 127.5) ** 2, "fid": 0.0}, abs=1e-5
    )
    assert sum(seen) == 18
    asked: list[tuple[int, int, int]] = []

    def chosen(*given: int) -> np.ndarray:
        asked.append(given)  # type: ignore[arg-type]
        return np.arange(6)

    monkeypatch.setattr(inception, "choose_rows", chosen)
    inception.compute(run, ("fid",), MeasureOptions(images=6, show=False), True)
    assert sum(seen) == 30, "features of the data are kept"
    assert asked == [(6, 6, 0)]


def test_features_of_each_precision_are_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A weight of 1 + 2⁻¹⁰ is 1 in bfloat16: what was computed in which precision shows in the features."""
    images = np.full((4, 4, 4, 1), 255, dtype=np.uint8)
    run: Any = SimpleNamespace(data=Observed(images), plan=SimpleNamespace(seed=0))
    weight = torch.full((1, 3), 1 + 2.0**-10)

    def network(x: Tensor) -> Tensor:
        return torch.nn.functional.linear(x.mean((2, 3)), weight)

    monkeypatch.setattr("unbraid.data.cache.folder", lambda: tmp_path)
    (tmp_path / "features").mkdir()
    rows = np.arange(4)
    for precision, expected in (("float32", 3 + 3 * 2.0**-10), ("bfloat16", 3.0)):
        for _ in range(2):  # made, then read
            found = inception.cached_features(network, "net", run, rows, False, precision)
            assert found.dtype == np.float32
            assert found == pytest.approx(expected, abs=1e-6)
    assert len(list((tmp_path / "features").iterdir())) == 2


def test_a_score_counts_for_the_precision_that_it_was_made_in() -> None:
    older, half = {"value": 1.0, "details": {}}, {"value": 1.0, "details": {"precision": "bfloat16"}}
    for asked, expected in (("float32", (True, False)), ("bfloat16", (False, True)), ("auto", (True, True))):
        options = MeasureOptions(feature_precision=asked)
        assert tuple(inception.is_current(score, options) for score in (older, half)) == expected
    assert inception.chosen_precision("auto") in ("float32", "bfloat16")
    assert [inception.chosen_precision(name) for name in ("float32", "bfloat16")] == ["float32", "bfloat16"]
    with pytest.raises(InputError, match="bfloat16"):
        inception.chosen_precision("float16")


def test_a_network_of_somebodys_own_is_taken_if_it_gives_features_and_else_refused() -> None:
    x, path = torch.rand(4, 3, 9, 9), Path("own.pt")
    assert inception.guarded(lambda x: x.mean((2, 3)), path)(x).shape == (4, 3)
    for wrong in (lambda x: x.mean((2, 3))[:2], lambda x: x.mean(), lambda x: x.mean((2, 3)) / 0, lambda x: x @ x[:2]):
        with pytest.raises(InputError, match=r"'own.pt' does not .* give Inception"):
            inception.guarded(wrong, path)(x)


def test_the_network_is_looked_for_where_it_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[RemoteFile] = []
    monkeypatch.setattr("unbraid.data.cache.folder", lambda: tmp_path)

    def fetch(file: RemoteFile, folder: Path) -> Path:
        asked.append(file)
        return folder / file.name

    monkeypatch.setattr(inception, "fetch", fetch)
    assert inception.find_network(None) == tmp_path / "inception" / "pt_inception-2015-12-05-6726825d.pth"
    assert asked[0].name == "pt_inception-2015-12-05-6726825d.pth"
    assert all(address.startswith("https://") and address.endswith(asked[0].name) for address in asked[0].urls)
    assert asked[0].fixed


@pytest.mark.parametrize("labels", [True, False])
def test_what_encodes_reads_labels_where_it_may_and_else_none(labels: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every measure that encodes passes on whether labels may be read; their default is that they may."""
    asked: list[bool] = []

    def stop(*_: Any, labels: bool = not labels, **__: Any) -> Any:
        asked.append(labels)
        raise StopIteration

    run: Any = SimpleNamespace(data=Observed(np.zeros((4, 2))), plan=SimpleNamespace(seed=0), codes=stop, is_image=True)
    options = MeasureOptions(show=False)
    for module in (reconstruction, inception, lpips):
        monkeypatch.setattr(module, "outputs", stop)
    monkeypatch.setattr(reconstruction, "comparable", lambda run, values: values)
    monkeypatch.setattr(inception, "find_network", lambda file: file)
    monkeypatch.setattr(inception, "load_network", lambda file: (None, ""))
    monkeypatch.setattr(inception, "cached_features", lambda *_: np.zeros((4, 2)))
    monkeypatch.setattr(lpips, "load_network", lambda file: None)
    for module, name in (
        (reconstruction, "l1"),
        (downstream, "downstream_by_stage"),
        (inception, "fid"),
        (lpips, "lpips"),
        (leakage, "leakage"),
        (table, "mig"),
    ):
        with pytest.raises(StopIteration):
            module.compute(run, (name,), options, labels)
    assert asked == [labels] * 6


class Parted:
    """Two variables of two and three classes with two codes each, of which it makes the codes themselves."""

    class_sizes, codes_per_variable = (2, 3), 2
    means = (
        torch.tensor([[0.0, 1.0], [4.0, -1.0]]),
        torch.tensor([[-2.0, 0.0], [3.0, 7.0], [0.5, 2.0]]),
    )
    log_vars = (torch.zeros(2, 2), torch.tensor([[0.0, 1.0], [-1.0, 0.5], [0.2, 0.0]]))
    shares = (torch.tensor([0.3, 0.7]), torch.tensor([0.2, 0.5, 0.3]))

    def class_modes(self, variable: int) -> GaussianModes:
        return GaussianModes(self.shares[variable], self.means[variable], self.log_vars[variable])

    def class_codes(self, variable: int, classes: Tensor) -> Tensor:
        chosen = [classes if k == variable else self.shares[k].argmax().expand(len(classes)) for k in (0, 1)]
        return torch.cat([mean[c] for mean, c in zip(self.means, chosen, strict=True)], dim=1)

    def decode(self, codes: dict[str, Tensor]) -> Tensor:
        return torch.cat([codes["u"], codes["z"]], dim=1)


@pytest.mark.parametrize(("variable", "code"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_a_prior_is_walked_along_with_the_likeliest_class_at_each_mark(
    variable: int, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = Parted()
    monkeypatch.setattr(class_priors, "class_method", lambda run: method)
    monkeypatch.setattr(class_priors, "typical_z", lambda run: torch.tensor([9.0]))
    monkeypatch.setattr(class_priors, "class_names", lambda run, k: ("c", ("a", "b", "c")[: method.class_sizes[k]]))
    run: Any = SimpleNamespace(device=torch.device("cpu"))
    found = class_priors.class_prior(run, variable, code, marks=4, steps=7)
    mean, deviation = method.means[variable][:, code].numpy(), np.exp(method.log_vars[variable][:, code].numpy() / 2)
    low, high = (mean - 3 * deviation).min(), (mean + 3 * deviation).max()
    np.testing.assert_allclose(found.values, np.linspace(low, high, 7), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found.marks, np.linspace(low, high, 6)[1:-1], rtol=1e-5, atol=1e-6)

    def densities(at: np.ndarray) -> np.ndarray:
        away = (at - mean[:, None]) / deviation[:, None]
        normal = np.exp(-(away**2) / 2) / deviation[:, None] / np.sqrt(2 * np.pi)
        return np.asarray(method.shares[variable].numpy()[:, None] * normal)

    np.testing.assert_allclose(found.densities, densities(found.values), rtol=1e-4, atol=1e-7)
    likeliest = densities(found.marks).argmax(0)
    assert len(set(likeliest)) > 1
    other = 1 - variable
    for mark, which, made in zip(found.marks, likeliest, found.observations, strict=True):
        own = method.means[variable][which].tolist()
        own[code] = mark
        u = {variable: own, other: method.means[other][method.shares[other].argmax()].tolist()}
        np.testing.assert_allclose(made, [*u[0], *u[1], 9.0], rtol=1e-5)
    for i in range(method.class_sizes[variable]):
        for j in range(method.class_sizes[variable]):
            a, b = method.means[variable][i].numpy(), method.means[variable][j].numpy()
            v, w = (np.exp(method.log_vars[variable][k].numpy()) for k in (i, j))
            distance = (a - b) ** 2 / (4 * (v + w)) + 0.5 * np.log((v + w) / (2 * np.sqrt(v * w)))
            assert found.overlaps[i, j] == pytest.approx(np.exp(-distance.sum()), rel=1e-5)


def test_groups_that_move_and_variables_that_are_labelled(monkeypatch: pytest.MonkeyPatch) -> None:
    """c alone where there is one; a variable whose classes are as many as a factor's values."""
    for groups, moved in ((("u", "c", "z"), ["c"]), (("z", "u"), ["z", "u"])):
        stage = SimpleNamespace(prior=lambda n, groups=groups: dict.fromkeys(groups))
        assert identity.moved_groups(SimpleNamespace(stages=[stage])) == moved  # type: ignore[arg-type]
    factors = [SimpleNamespace(name=name, size=size) for name, size in (("a", 3), ("b", 4), ("c", 2), ("d", 9))]
    monkeypatch.setattr(classes, "class_method", lambda run: SimpleNamespace(class_sizes=(3, 2, 5)))
    run: Any = SimpleNamespace(label_factors=factors)
    assert {k: factor.name for k, factor in classes.labelled_variables(run).items()} == {0: "a"}


def test_as_many_identities_as_images_have_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int, int]] = []

    def features(chain: Any, function: Any, *, identities: int, poses: int, seed: int) -> np.ndarray:
        asked.append((identities, poses, seed))
        return np.random.default_rng(0).normal(size=(identities, poses, 2))

    stage = SimpleNamespace(prior=lambda n: {"z": None})
    run: Any = SimpleNamespace(is_image=False, plan=SimpleNamespace(seed=5), chain=SimpleNamespace(stages=[stage]))
    monkeypatch.setattr(identity, "traversed_features", features)
    for images, identities in ((100, 6), (16, 2), (48, 3)):
        score = identity.compute(run, (), MeasureOptions(images=images, show=False), True)["identity_change"]
        assert asked[-1] == (identities, 16, 5)
        assert score.details["features"] == "values"
        assert score.details["moved"] == ["z"]
        assert score.details["seed"] == 5


def test_classes_are_the_likeliest_of_rows_whose_labels_were_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = np.array([0.0, 1.0, 1.0, np.nan, 0.0, 1.0])
    odds = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5], [0.3, 0.7], [0.1, 0.9]])
    data = Observed(np.arange(6.0)[:, None])
    data.column = lambda name: truth  # type: ignore[attr-defined]
    seen = np.full((6, 1), np.nan)
    seen[:2, 0] = truth[:2]
    run: Any = SimpleNamespace(data=data, visible_labels=seen, plan=SimpleNamespace(seed=0))
    monkeypatch.setattr(classes, "labelled_variables", lambda run: {0: SimpleNamespace(name="shape")})
    monkeypatch.setattr(classes, "classify", lambda run, x: [odds[x[:, 0].astype(int)]])
    score = classes.class_scores(run)["class_accuracy/shape"]
    assert score.value == pytest.approx(1 / 3)  # of rows 2, 4 and 5
    assert score.details["observations"] == 3
    assert score.details["naming"] == "given"
    assert not score.details["seen_in_training"]
    run.visible_labels = truth[:, None]
    every = classes.class_scores(run)["class_accuracy/shape"]
    assert every.value == pytest.approx(3 / 5)
    assert every.details["seen_in_training"]
