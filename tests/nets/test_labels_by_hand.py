"""Labels as networks see them, and as methods refuse them: classes of two, constants, and factors of one value."""

import pytest
import torch

from unbraid import methods
from unbraid.core import DataSpec
from unbraid.data import Factor
from unbraid.errors import InputError

# A class of two, a mass that never changes, and a size of three.
SPEC = DataSpec(
    (1, 16, 16),
    10,
    (Factor("kind", 2, "categorical"), Factor("mass", 0, "continuous"), Factor("size", 3, "ordinal")),
    ranges=((0.0, 1.0), (2.0, 2.0), (0.0, 2.0)),
    labelled=1,
    shares=((0.25, 0.75), (), (0.5, 0.5, 0.0)),
    means=(0.75, 2.0, 0.5),
)
LABELS = torch.tensor([[1.0, 2.0, 1.0], [torch.nan, 2.0, torch.nan]])


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("scaled", [[1.0, 0.0, 0.5], [0.75, 0.0, 0.25]]),
        ("one-hot", [[0.0, 1.0, 0.0, 0.5], [0.25, 0.75, 0.0, 0.25]]),
    ],
)
def test_labels_as_numbers_and_missing_ones_as_their_mean(encoding: str, expected: list[list[float]]) -> None:
    observed = methods.IVAE(encoding=encoding, width=0.02).build(SPEC).observed
    torch.testing.assert_close(observed(LABELS), torch.tensor(expected))
    known = [[True] * len(expected[0]), [*[False] * (len(expected[0]) - 2), True, False]]
    assert observed.known(LABELS).tolist() == known
    assert observed.values == len(expected[0])


def test_a_method_without_any_label_says_so_and_one_label_is_enough() -> None:
    with pytest.raises(InputError, match="learns from labels and there are none"):
        methods.FullVAE(width=0.02).build(DataSpec((1, 16, 16), 10))
    assert methods.FullVAE(width=0.02).build(SPEC)


def test_parted_vae_names_the_factor_that_has_one_value() -> None:
    factors = (Factor("first", 3, "categorical"), Factor("second", 1, "categorical"), Factor("third", 2, "categorical"))
    spec = DataSpec((1, 16, 16), 10, factors, ((0, 2), (0, 0), (0, 1)), labelled=5, shares=((), (), ()))
    with pytest.raises(InputError, match="'second' has one value"):
        methods.PartedVAE(width=0.02).build(spec)


def test_controls_of_a_narrow_range_and_of_a_circle_without_steps() -> None:
    """A mass between 2 and 2.5 fills [−1, 1]; an angle that is not counted has period 1; classes mix between."""
    factors = (Factor("mass", 0, "continuous"), Factor("angle", 0, "cyclic"), Factor("kind", 3, "categorical"))
    spec = DataSpec((1, 16, 16), 10, factors, ranges=((2.0, 2.5), (0.0, 1.0), (0.0, 2.0)), labelled=10)
    inputs = methods.Controls(width=0.02).build(spec).inputs
    found = inputs(torch.tensor([[2.5, 0.25, 1.0], [2.125, 0.5, 0.25]]))
    expected = torch.tensor([[1.0, 1.0, 0.0, 0.0, 1.0, 0.0], [-0.5, 0.0, -1.0, 0.75, 0.25, 0.0]])
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=0)
    assert inputs.features == 6
