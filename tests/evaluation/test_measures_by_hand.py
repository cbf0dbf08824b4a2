"""What measures feed into their formulas, worked out by hand on stages that are a line of arithmetic."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from unbraid import metrics
from unbraid.evaluation import inception, lpips
from unbraid.evaluation.conditioning import conditioning_scores
from unbraid.metrics import Score
from unbraid.ops.given import Point
from unbraid.runs.chain import Chain

CONFIG = SimpleNamespace(encoder_needs_labels=False, reconstructs=True, uses_codes=False)


class Sums(nn.Module):
    """Stage 1: its one code is the sum of both values of x, and it makes that code twice."""

    config: Any = CONFIG

    def __init__(self) -> None:
        super().__init__()
        self.somewhere = nn.Parameter(torch.zeros(1))

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Point]:
        return {"z": Point(x.sum(1, keepdim=True))}

    def decode(self, codes: dict[str, Tensor], y: Tensor | None = None) -> Tensor:
        return codes["z"].expand(-1, 2)


class Adds(Sums):
    """Stage 2: its code is what is left of the second value, and it adds ten times that to y."""

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Point]:
        assert y is not None
        return {"z": Point((x - y)[:, 1:])}

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
        data=x, plan=SimpleNamespace(seed=0), chain=Chain([first, last]), stage=lambda number: first,  # type: ignore[list-item]
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

    def caught(*codes: np.ndarray, **_: Any) -> dict[str, Score]:
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
