"""Traversals in numbers: what is moved, how x̂ follows y, and how many codes move a shape."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from unbraid.ops.given import Point
from unbraid.papers.measures.followed import compare
from unbraid.papers.measures.moving import Moves, move_each
from unbraid.papers.measures.shape_moves import moved_by_one, place_and_size

PATTERNS = torch.tensor([[1.0, -1.0], [1.0, 1.0], [0.0, 0.0]]).reshape(3, 1, 1, 2).expand(3, 1, 2, 2)


class Coarse:
    """y is a sum of patterns, one for each code; x̂ follows the first code, and goes against the second."""

    signs = torch.tensor([2.0, -3.0, 0.0])

    def encode(self, x: Tensor) -> list[dict[str, Point]]:
        return [{"z": Point(x)}, {"z": Point(x)}]

    def decode(self, codes: list[dict[str, Tensor]]) -> list[Tensor]:
        c = codes[0]["z"]
        y = torch.einsum("nc,cijk->nijk", c, PATTERNS)
        return [y, torch.einsum("nc,cijk->nijk", c * self.signs, PATTERNS) + codes[1]["z"][:, :1, None, None]]


class Shapes:
    """One bright pixel: its column follows codes 1 and 2, its row code 3, its brightness code 4."""

    def encode(self, x: Tensor) -> list[dict[str, Point]]:
        return [{"z": Point(x)}]

    def decode(self, codes: list[dict[str, Tensor]]) -> list[Tensor]:
        c = codes[0]["z"].sign().long()
        images = torch.zeros(len(c), 1, 9, 9)
        column, row = 4 + 2 * c[:, 0] + c[:, 1], 4 + c[:, 2]
        images[torch.arange(len(c)), 0, row, column] = (2.0 + c[:, 3]) ** 2
        return [images]


def run(chain: Any, codes: int, told: tuple[float, ...]) -> Any:
    x = torch.from_numpy(np.random.default_rng(0).normal(size=(400, codes))).float()
    return SimpleNamespace(
        observations=lambda rows: x,
        data=x,
        chain=chain,
        plan=SimpleNamespace(seed=0),
        encode=lambda show: SimpleNamespace(arrays={"information": np.array(told)}),
    )


def test_only_one_code_moves_at_a_time_and_only_codes_that_tell() -> None:
    moves = move_each(run(Coarse(), 3, (1.0, 1.0, 0.05)))
    assert moves.used == [0, 1]
    change = moves.after[0][0] - moves.before[0]
    assert torch.allclose(change[..., 0], -change[..., 1], atol=1e-6)  # the first pattern alone
    assert change.abs().max() > 1


def test_made_images_follow_y_or_go_against_it() -> None:
    down, across = torch.tensor([[0.0, 0.0], [1.0, 1.0]]), torch.tensor([[0.0, 1.0], [0.0, 1.0]])

    def moves(*signs: float) -> Moves:
        parts = [part.expand(5, 1, 2, 2) for part in (down, across)]
        after = [[part, sign * part] for part, sign in zip(parts, signs, strict=True)]
        return Moves(torch.ones(2), [0, 1], [torch.zeros(5, 1, 2, 2)] * 2, after)

    real = 4 * across.expand(5, 1, 2, 2)
    same, other, coarse, fine = compare(moves(2.0, 3.0), real)
    assert (same, other) == pytest.approx((1.0, 0.5))  # the two patterns share one of four pixels
    assert (coarse, fine) == pytest.approx((1 / 4, 2.5 / 4))
    assert compare(moves(2.0, -3.0), real)[0] == pytest.approx(0.0, abs=1e-6)
    assert compare(moves(-1.0, -1.0), real)[:2] == pytest.approx((-1.0, 0.5))


def test_the_centre_and_size_of_a_shape() -> None:
    image = torch.zeros(1, 1, 5, 7)
    image[0, 0, 1, 2:6] = 0.5
    image[0, 0, 3, 2:6] = 0.5
    assert place_and_size(image).tolist() == [[3.5, 2.0, 2.0]]


def test_a_factor_that_two_codes_move_is_shared_between_them() -> None:
    # Column: codes of weights 2 and 1 move it by 4 : 1 squared; row and size have a code each.
    assert moved_by_one(run(Shapes(), 4, (1.0,) * 4)) == pytest.approx((0.8 + 1 + 1) / 3, abs=0.02)
    assert np.isnan(moved_by_one(run(Shapes(), 4, (0.0,) * 4)))
