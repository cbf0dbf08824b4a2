"""Codes that are moved one at a time, on a chain that is a line of arithmetic."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from unbraid.ops.given import Point
from unbraid.papers.measures import moved_alone as module
from unbraid.papers.measures.moved_alone import moved_alone

# x̂ = M·c + z: moving c₁ by 1 moves what is read of c₁ by 2 and of c₂ by 1; c₂ moves itself by 3; c₃ tells nothing.
MIXING = torch.tensor([[2.0, 0.0, 0.0], [1.0, 3.0, 0.0], [0.0, 0.0, 5.0]])


class Chain:
    def encode(self, x: Tensor) -> list[dict[str, Point]]:
        return [{"z": Point(x)}, {"z": Point(10 * x)}]

    def decode(self, codes: list[dict[str, Tensor]]) -> list[Tensor]:
        return [codes[0]["z"], codes[0]["z"] @ MIXING.T + codes[1]["z"]]


def run(told: tuple[float, ...]) -> Any:
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(400, 3)) * [1.0, 2.0, 1.0]).float()
    return SimpleNamespace(
        observations=lambda rows: x,
        data=x,
        chain=Chain(),
        plan=SimpleNamespace(seed=0),
        encode=lambda show: SimpleNamespace(arrays={"information": np.array(told)}),
    )


def test_the_share_of_codes_that_move_with_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "found_in", lambda run, images: images)
    found = run((3.0, 2.0, 0.01))
    # In parts of variances 1 and 4, with moves of c₁ and c₂ whose squares are 2 and 8 on average over permutations.
    moves = np.array([[4.0 * 2, 1.0 * 2 / 4], [0.0, 9.0 * 8 / 4]])
    assert moved_alone(found) == pytest.approx(1 - np.trace(moves) / moves.sum(), abs=0.004)
    assert moved_alone(found, stage=0) == pytest.approx(0, abs=1e-6)


def test_codes_that_tell_nothing_are_not_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "found_in", lambda run, images: images)
    assert moved_alone(run((3.0, 0.05, 0.05))) == pytest.approx(0, abs=1e-6)
    assert np.isnan(moved_alone(run((0.0, 0.05, 0.1))))
