import numpy as np
import pytest

import unbraid.data as ud
from unbraid.data.own.csv_files import read_csv
from unbraid.errors import InputError


def sheet(tmp_path, text, **options):
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    return read_csv(path, **options)


def test_a_file_without_header_keeps_its_first_row(tmp_path):
    found = sheet(tmp_path, "5.1,3.5,setosa\n4.9,3.0,setosa\n6.0,2.2,virginica\n")
    assert found.columns == {
        "c1": ["5.1", "4.9", "6.0"],
        "c2": ["3.5", "3.0", "2.2"],
        "c3": ["setosa"] * 2 + ["virginica"],
    }
    assert found.notes == (
        "there is no header line: columns are called c1 to c3 (--data.header yes if the first line is one)",
    )


@pytest.mark.parametrize(
    "text",
    [
        "mass,width\n1,2\n3,4\n",
        "0,1,2\n1.5,2.5,3.5\n4,5,6\n",  # an array's columns, as pandas writes them
        "2019,2020,2021\n1.5,2.5,3.5\n4,5,6\n",
        "name,2020\nada,7\nbob,8\n",
        "kind,mood\nred,calm\nblue,wild\n",
        ",mass\n0,1.5\n1,2.5\n",
    ],
)
def test_headers_are_known_by_what_stands_under_them(tmp_path, text):
    found = sheet(tmp_path, text)
    assert list(found.columns)[-1] == text.split("\n")[0].split(",")[-1]
    assert all(len(values) == 2 for values in found.columns.values())
    assert not found.notes


def test_one_row_of_numbers_is_a_row(tmp_path):
    assert sheet(tmp_path, "1,2,3\n").columns == {"c1": ["1"], "c2": ["2"], "c3": ["3"]}


def test_a_header_can_be_asserted_or_denied(tmp_path):
    assert list(sheet(tmp_path, "1.5,2.5\n3,4\n", header="yes").columns) == ["1.5", "2.5"]
    assert sheet(tmp_path, "a,b\nc,d\n", header=False).columns == {"c1": ["a", "c"], "c2": ["b", "d"]}
    with pytest.raises(InputError, match="header='maybe' is unknown"):
        sheet(tmp_path, "a,b\nc,d\n", header="maybe")


def test_decimal_commas_are_points_and_said(tmp_path):
    found = sheet(tmp_path, "mass;width;note\n1,5;1.234,25;a, b\n-2;3,5e2;c\n")
    assert found.columns == {"mass": ["1.5", "-2"], "width": ["1234.25", "3.5e2"], "note": ["a, b", "c"]}
    assert found.notes == ("fields are separated by semicolons", "decimal commas are read as points, in mass, width")


def test_commas_between_thousands_are_no_decimal_commas_where_commas_separate(tmp_path):
    found = sheet(tmp_path, 'price,share\n"1,234","0,5"\n"12,000","1,25"\n')
    assert found.columns == {"price": ["1234", "12000"], "share": ["0.5", "1.25"]}


def test_awkward_forms_of_one_table_give_the_same_observations(tmp_path):
    table = np.random.default_rng(0).normal(size=(30, 3)).round(3)
    plain = "a,b,c\n" + "\n".join(",".join(map(str, row)) for row in table)
    awkward = "\n".join(";".join(str(v).replace(".", ",") for v in row) for row in table)
    (tmp_path / "plain.csv").write_text(plain)
    (tmp_path / "awkward.csv").write_text("\ufeff" + awkward + "\n\n", encoding="utf-8")
    one, two = (ud.load(tmp_path / name) for name in ("plain.csv", "awkward.csv"))
    assert len(two) == 30
    np.testing.assert_array_equal(one.observations, two.observations)
