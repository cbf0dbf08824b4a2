"""Factors put together from yes-or-no ones."""

import numpy as np
import pytest

from unbraid.data.factor_data import Factor, FactorData
from unbraid.data.load import load
from unbraid.data.one_of import one_of
from unbraid.errors import InputError

NAMES = ("dark", "fair", "grey", "age")
TABLE = np.array([[1, 0, 0, 2], [0, 0, 1, 0], [0, 1, 1, 1], [0, 0, 0, 0], [np.nan, 1, 0, 1]], dtype=np.float64)
DATA = FactorData(
    "toy",
    np.zeros((5, 3), np.float32),
    TABLE,
    (*(Factor(name, 2, "categorical") for name in NAMES[:3]), Factor("age", 3)),
)


def test_a_label_is_the_one_that_is_there() -> None:
    made = one_of(DATA, "hair=dark,fair,grey")
    assert made.factor_names == ("hair", *NAMES)
    assert made.factor_info[0] == Factor("hair", 3, "categorical", ("dark", "fair", "grey"))
    # one; one; two of them; none; one of which it is not known
    assert np.array_equal(made.column("hair"), [0, 2, np.nan, np.nan, np.nan], equal_nan=True)
    assert np.array_equal(made.factors[:, 1:], TABLE, equal_nan=True)
    assert made.fingerprint != DATA.fingerprint


def test_a_run_can_load_it_again() -> None:
    # Two values each of shape and of orientation stand for yes and no.
    arguments = {"size": 32, "stride": {"shape": 2, "orientation": 39, "x": 16, "y": 16}}
    made = load("sprites", **arguments, one_of="kind=shape,orientation")
    again = load(made.name, **(made.arguments or {}))
    assert again.factor_names[0] == "kind"
    assert np.array_equal(again.factors, made.factors, equal_nan=True)
    assert again.fingerprint == made.fingerprint


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("hair=dark,fare", "did you mean 'fair'"),
        ("hair=dark,age", "'age' of toy is not a matter of yes or no"),
        ("hair=dark", "names no factor with two values"),
        ("dark,fair", "names no factor with two values"),
        ("age=dark,fair", "has a factor 'age' already"),
        (" ; ", "names nothing"),
    ],
)
def test_what_cannot_be_is_answered(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        one_of(DATA, text)
