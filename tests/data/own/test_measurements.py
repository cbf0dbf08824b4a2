import json

import numpy as np
import pytest

import unbraid.data as ud
from unbraid.errors import InputError

TEXT = "mass,colour,count\n1.0,red,0\n2.0,blue,3\n4.0,red,7\n9.0,green,1\n"


@pytest.fixture
def path(tmp_path):
    (tmp_path / "t.csv").write_text(TEXT)
    return tmp_path / "t.csv"


def test_categories_are_a_value_each_and_come_back_as_their_values(path):
    data = ud.load(path, standardize=False)
    # mass, then blue, green, red in their order, then count.
    np.testing.assert_array_equal(
        data.observations, [[1, 0, 0, 1, 0], [2, 1, 0, 0, 3], [4, 0, 0, 1, 7], [9, 0, 1, 0, 1]]
    )
    how = data.preprocessing
    assert how.value_names == ("mass", "colour=blue", "colour=green", "colour=red", "count")
    made = how.as_columns(np.array([[5.0, 0.2, 0.7, 0.1, 2.0]]))
    assert made == {"mass": [5.0], "colour": ["green"], "count": [2.0]}


def test_logarithms_are_taken_before_standardising_and_undone_after(path):
    data = ud.load(path, log1p=["count"], exclude=["colour"])
    logs = np.log1p([0, 3, 7, 1])
    np.testing.assert_allclose(data.observations[:, 1], (logs - logs.mean()) / logs.std(), rtol=1e-5)
    raw = np.array([[1, 0], [2, 3], [4, 7], [9, 1]], np.float32)
    back = data.preprocessing.raw(data.observations.astype(np.float32))
    np.testing.assert_allclose(back, raw, atol=1e-4)
    np.testing.assert_allclose(data.preprocessing.standardized(raw), data.observations, atol=1e-5)
    everywhere = ud.load(path, log1p="all")
    assert everywhere.preprocessing.log1p == (0, 4)  # numbers only: the three between are categories


def test_the_record_loads_other_rows_the_same_way(path, tmp_path):
    data = ud.load(path, log1p="count")
    record = json.loads(json.dumps(data.arguments))
    np.testing.assert_array_equal(ud.load(path, **record).observations, data.observations)
    (tmp_path / "one.csv").write_text("colour,count,mass\nblue,3,2.0\n")
    np.testing.assert_allclose(ud.load(tmp_path / "one.csv", **record).observations, data.observations[1:2], atol=1e-6)


def test_gaps_are_refused_dropped_or_filled(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,10\n2,\n3,40\n")
    with pytest.raises(InputError, match="column 'b' has no value in row 2, 1 row has gaps"):
        ud.load(tmp_path / "t.csv")
    dropped = ud.load(tmp_path / "t.csv", missing="drop", standardize=False)
    assert dropped.observations.tolist() == [[1, 10], [3, 40]]
    filled = ud.load(tmp_path / "t.csv", missing="mean", standardize=False)
    assert filled.observations.tolist() == [[1, 10], [2, 25], [3, 40]]
    assert filled.preprocessing.fill == (2.0, 25.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"log1p": "colour"}, "'colour' is a category"),
        ({"log1p": "mass", "exclude": "mass"}, "'mass' is not learned from"),
        ({"exclude": "weight"}, "no column in .* 'weight'"),
        ({"missing": "guess"}, "missing='guess' is unknown"),
    ],
)
def test_what_cannot_be_asked_for_is_one_sentence(path, arguments, message):
    with pytest.raises(InputError, match=message):
        ud.load(path, **arguments)


def test_values_without_logarithm_name_their_place(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,10\n2,-4\n3,40\n")
    with pytest.raises(InputError, match="column 'b' holds -4 in row 2, which has no log"):
        ud.load(tmp_path / "t.csv", log1p="all")


def test_runs_of_before_there_were_kinds_load_as_they_did(tmp_path):
    (tmp_path / "t.csv").write_text("a,target\n1,0\n2,1\n3,1\n")
    old = {"standardize": {"mean": [2.0, 1.0], "scale": [1.0, 2.0]}}
    assert ud.load(tmp_path / "t.csv", **old).observations.tolist() == [[-1, -0.5], [0, 0], [1, 0]]
