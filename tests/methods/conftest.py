"""What tests of losses share: double precision, and a record of what torch draws."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from hand import Draws


@pytest.fixture
def draws(monkeypatch: pytest.MonkeyPatch) -> Draws:
    """A record of all draws from here on."""
    drawn = Draws()

    def recorded(function: Any, record: list[np.ndarray]) -> Any:
        def draw(*arguments: Any, **options: Any) -> torch.Tensor:
            values = function(*arguments, **options)
            record.append(values.detach().numpy().copy())
            return values

        return draw

    for name, record in (
        ("randn", drawn.normal),
        ("randn_like", drawn.normal),
        ("rand", drawn.uniform),
        ("rand_like", drawn.uniform),
        ("randint", drawn.whole),
        ("randperm", drawn.permutation),
    ):
        monkeypatch.setattr(torch, name, recorded(getattr(torch, name), record))
    monkeypatch.setattr(torch.Tensor, "exponential_", recorded(torch.Tensor.exponential_, drawn.exponential))
    return drawn


@pytest.fixture
def double() -> Iterator[None]:
    """Tensors and networks of 64 bits, and a fixed seed."""
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)
