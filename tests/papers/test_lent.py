"""What images lend to each other: a model that hands on nothing, one that hands on everything."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from unbraid.papers.measures.lent import CONTENTS, STYLES, lent, slant

SIDE = 8


def bars(seed: int, n: int) -> tuple[Any, Any]:
    """Upright (0) or lying (1) bars of several thicknesses."""
    draw = np.random.default_rng(seed)
    labels, images = draw.integers(0, 2, n), np.zeros((n, SIDE, SIDE, 1), np.uint8)
    for image, lying in zip(images, labels, strict=True):
        thick = draw.integers(1, 4)
        place = slice(4 - thick, 4 + thick)
        image[place if lying else slice(None), slice(None) if lying else place] = 200
    return images, labels.astype(float)


def run_that_makes(transfer: Any) -> Any:
    images, labels = bars(0, 500)

    class Data:
        observations = images

        def __len__(self) -> int:
            return len(images)

        def column(self, name: str) -> Any:
            assert name == "way"
            return labels

    return SimpleNamespace(data=Data(), transfer=transfer)


@pytest.mark.parametrize(("lends", "kept", "ink"), [(False, 1.0, 0.0), (True, 0.5, 1.0)])
def test_the_class_stays_or_the_rest_comes_along(lends: bool, kept: float, ink: float) -> None:
    images, labels = bars(1, CONTENTS + STYLES)

    def transfer(content: Any, style: Any) -> Any:
        shape = (len(content), len(style), SIDE, SIDE, 1)
        return np.broadcast_to(style[None] if lends else content[:, None], shape).copy()

    found = lent(run_that_makes(transfer), "way", images, labels)
    assert found["real"] == 1.0
    assert found["kept"] == pytest.approx(kept, abs=0.1)  # the lenders' classes are as often one as the other
    assert found["ink"] == pytest.approx(ink)


def test_what_leans_to_the_right_going_down_has_a_positive_slant() -> None:
    image = np.zeros((1, 9, 9, 1), np.uint8)
    for row in range(9):
        image[0, row, row // 2] = 100
    assert slant(image)[0] == pytest.approx(0.5, abs=0.05)
    assert slant(image[:, :, ::-1])[0] == pytest.approx(-0.5, abs=0.05)
