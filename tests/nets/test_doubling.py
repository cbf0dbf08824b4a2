"""All ways of making maps twice as large are PyTorch's transposed convolution; each is taken where it is fastest."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from unbraid.nets import doubling
from unbraid.nets.doubling import doubled, overlaps, phases, shifts

Way = Callable[[Tensor, Tensor, Tensor | None], Tensor]


@pytest.mark.parametrize("way", [phases, shifts, overlaps])
@pytest.mark.parametrize("after", [1, 2, 5])
@pytest.mark.parametrize("stored", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("biased", [False, True])
def test_every_way_is_pytorchs(way: Way, after: int, stored: torch.memory_format, biased: bool) -> None:
    torch.manual_seed(0)
    x = torch.randn(3, 4, 5, 2, dtype=torch.float64).to(memory_format=stored)
    weight = torch.randn(4, after, 4, 4, dtype=torch.float64).to(memory_format=stored)
    bias = torch.randn(after, dtype=torch.float64) if biased else None
    made = way(x, weight, bias)
    torch.testing.assert_close(made, F.conv_transpose2d(x, weight, bias, 2, 1), rtol=1e-12, atol=1e-12)
    assert made.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("way", [phases, shifts, overlaps])
def test_a_single_place_is_enough(way: Way) -> None:
    x, weight = torch.randn(1, 2, 1, 1, dtype=torch.float64), torch.randn(2, 3, 4, 4, dtype=torch.float64)
    torch.testing.assert_close(way(x, weight, None), F.conv_transpose2d(x, weight, None, 2, 1))


@pytest.mark.parametrize(
    ("before", "after", "half", "wanted"),
    [
        (8, 1, False, "overlaps"),
        (64, 1, False, "overlaps"),
        (8, 1, True, "phases"),
        (16, 3, False, "phases"),
        (16, 4, False, "shifts"),
        (16, 16, False, "shifts"),
        (16, 16, True, "phases"),
        (17, 16, False, "phases"),
        (16, 17, False, "conv_transpose2d"),
    ],
)
def test_the_way_depends_on_channels_and_precision(
    monkeypatch: pytest.MonkeyPatch, before: int, after: int, half: bool, wanted: str
) -> None:
    taken: list[str] = []
    for place, name in ((doubling, "phases"), (doubling, "shifts"), (doubling, "overlaps"), (F, "conv_transpose2d")):
        monkeypatch.setattr(place, name, lambda x, *_, name=name: taken.append(name) or x)
    with torch.autocast("cpu", torch.bfloat16, enabled=half):
        doubled(torch.zeros(1, before, 2, 2), torch.zeros(before, after, 4, 4))
    doubled(torch.zeros(1, before, 2, 2).bfloat16(), torch.zeros(before, after, 4, 4).bfloat16())
    assert taken == [wanted, wanted if after > 16 else "phases"]
