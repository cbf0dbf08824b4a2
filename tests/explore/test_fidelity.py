"""How tightly weights are packed: levels that cost the fewest bytes within a bound on the error."""

from math import hypot

import numpy as np
import pytest
from onnx import helper, numpy_helper

from unbraid.explore.fidelity import tightest
from unbraid.explore.packing import Levels, large_tensors

SIZES = {"small": 4096, "large": 16384, "tiny": 100}


def graph() -> object:
    tensors = [numpy_helper.from_array(np.zeros(size, np.float32), name) for name, size in SIZES.items()]
    return helper.make_model(helper.make_graph([], "weights", [], [], tensors))


def test_each_tensor_spends_its_share_of_the_error() -> None:
    """By hand: 0.0887 = 0.2 · 0.85⁵ is the first bound that keeps to 0.1; levels are a / bound · √(all / own)."""

    def error(levels: Levels) -> float:
        return hypot(*({"small": 3.0, "large": 4.0}[name] / most for name, most in levels.items()))

    assert large_tensors(graph()) == {"small": 4096, "large": 16384}
    assert tightest(graph(), error, 0.1) == {"small": 76, "large": 51}
    assert error({"small": 76, "large": 51}) == pytest.approx(0.0878, abs=1e-4)
    assert error({"small": 65, "large": 43}) > 0.1  # one try before


def test_what_a_byte_is_too_coarse_for_stays_in_half_precision() -> None:
    def error(levels: Levels) -> float:
        return hypot(0, *({"small": 40.0, "large": 0.5}[name] / most for name, most in levels.items()))

    found = tightest(graph(), error, 0.1)
    assert "small" not in found
    assert 0 < error(found) <= 0.1


def test_nothing_is_packed_that_never_keeps_to_the_bound() -> None:
    assert tightest(graph(), lambda levels: 1.0, 0.1) == {}
