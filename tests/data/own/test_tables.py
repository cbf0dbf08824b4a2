from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

import unbraid.data as ud
from unbraid.errors import InputError


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    for place in ("a/1.png", "a/2.png", "b/1.png", "b/3.png"):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        Image.new("L", (4, 4), 9).save(folder / place)
    return folder


def test_labels_are_joined_by_file_name_with_gaps(photos, tmp_path):
    (tmp_path / "labels.csv").write_text("file,smile,age,pose\nb/3.png,1,31.5,left\na/1,-1,,right\n2.png,1,7.25,\n")
    data = ud.load(photos, labels=tmp_path / "labels.csv", kinds={"pose": "cyclic"})
    assert data.factor_names == ("class", "smile", "age", "pose")
    np.testing.assert_array_equal(data.column("smile"), [0, 1, np.nan, 1])
    np.testing.assert_array_equal(data.column("age"), [np.nan, 7.25, np.nan, 31.5])
    np.testing.assert_array_equal(data.column("pose"), [1, np.nan, np.nan, 0])
    assert data.factor_info[3].kind == "cyclic"
    assert data.factor_info[1].values == ("-1", "1")


def test_labels_of_missing_images_are_refused_or_ignored(photos, tmp_path):
    (tmp_path / "labels.csv").write_text("file,smile\nb/3.png,1\nc/9.png,0\n")
    with pytest.raises(InputError, match=r"names 1 image that the folder does not hold \('c/9.png'"):
        ud.load(photos, labels=tmp_path / "labels.csv")
    data = ud.load(photos, labels=tmp_path / "labels.csv", extra_labels="ignore")
    assert np.isfinite(data.column("smile")).sum() == 1


def test_an_image_that_is_named_twice_is_refused(photos, tmp_path):
    (tmp_path / "twice.csv").write_text("file,mood\na/1.png,calm\n./a/1.png,wild\n")
    with pytest.raises(InputError, match=r"names 'a/1.png' twice, in rows 1 and 2; remove one"):
        ud.load(photos, labels=tmp_path / "twice.csv")


def test_ambiguous_names_are_refused(photos, tmp_path):
    (tmp_path / "labels.csv").write_text("file,smile\n1.png,1\n")
    with pytest.raises(InputError, match=r"several images are called '1.png'"):
        ud.load(photos, labels=tmp_path / "labels.csv")


def test_measurements_are_standardised_and_remember_how(tmp_path):
    (tmp_path / "m.csv").write_text("mass,width,kind\n1,10,x\n2,20,y\n3,60,x\n")
    data = ud.load(tmp_path / "m.csv", factors=["kind"])
    assert data.shape == (2,)
    np.testing.assert_allclose(data.observations.mean(0), 0, atol=1e-6)
    np.testing.assert_allclose(data.observations.std(0), 1, rtol=1e-6)
    record = json.loads(json.dumps(data.arguments))
    np.testing.assert_allclose(record["standardize"]["mean"], [2, 30])
    again = ud.load(data.name, **record)
    np.testing.assert_array_equal(again.observations, data.observations)
    # New rows are brought to the scale of the old ones.
    (tmp_path / "new.csv").write_text("mass,width,kind\n2,30,x\n")
    np.testing.assert_allclose(ud.load(tmp_path / "new.csv", **record).observations, 0, atol=1e-6)


def test_parquet_is_read_like_csv(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"mass": [1.0, 2.0, 3.0], "width": [10, 20, 60], "kind": ["x", "y", "x"]})
    parquet.write_table(table, tmp_path / "m.parquet")
    (tmp_path / "m.csv").write_text("mass,width,kind\n1,10,x\n2,20,y\n3,60,x\n")
    one, two = (ud.load(tmp_path / f"m.{kind}", factors=["kind"]) for kind in ("csv", "parquet"))
    np.testing.assert_array_equal(one.observations, two.observations)
    np.testing.assert_array_equal(one.factors, two.factors)


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("a,b\n1,2\n2,x\n3,4\n", {}, r"column 'b' holds text \('x' in row 2\) .*factors="),
        ("a,b\n1,2\n3,\n4,5\n", {}, "column 'b' has no value in row 2, 1 row has gaps; .*missing='drop'"),
        ("a,b\n1\n", {}, "line 2 has 1 field"),
        ("a,a\n1,2\n", {}, "two columns named 'a'"),
        ("a,b\n", {}, "header line and at least one row"),
        ("a,b\n1,2\n", {"columns": ["c"]}, "'c'"),
        ("a,b\n1,2\n", {"factors": ["a", "b"]}, "no column is left"),
    ],
)
def test_bad_tables_are_one_sentence_that_helps(tmp_path, text, arguments, message):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        ud.load(tmp_path / "t.csv", **arguments)
