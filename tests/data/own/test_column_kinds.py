import datetime

import pytest

import unbraid.data as ud
from unbraid.data.own.column_kinds import describe_column

ROWS = 24
SAWTOOTH = [k % 7 + 0.5 for k in range(ROWS)]


@pytest.mark.parametrize(
    ("name", "values", "kind", "role"),
    [
        ("mass", SAWTOOTH, "number", "learned from"),
        ("mass", ["1.5", "", "2", "1.5"], "number", "learned from"),
        ("count", [k % 5 for k in range(ROWS)], "whole number", "learned from"),
        ("colour", ["red", "blue"] * 12, "category", "learned from"),
        ("flag", [True, False] * 12, "category", "learned from"),
        ("name", [f"n{k}" for k in range(ROWS)], "id", "left out"),
        ("notes", [f"seen on {k}" for k in range(ROWS)], "text", "left out"),
        ("word", [f"w{k % 22}" for k in range(ROWS + 20)], "text", "left out"),
        ("sample_id", [3, 1, 2], "id", "left out"),
        ("patientID", [31, 17, 24], "id", "left out"),
        ("anything", list(range(5, 5 + ROWS)), "id", "left out"),
        ("anything", list(range(5, 11)), "whole number", "learned from"),
        ("when", ["2024-01-02", "2024-01-01", "2024-01-02"], "date/time", "left out"),
        ("when", ["31.12.2024", "01.02.2025", "05.02.2025"], "date/time", "left out"),
        ("when", [datetime.date(2024, 1, k + 1) for k in range(5)], "date/time", "left out"),
        ("timestamp", [1.7e9 + 3 * k for k in range(ROWS)], "date/time", "left out"),
        ("lab", ["A1"] * ROWS, "constant", "left out"),
        ("gain", [2.0] * ROWS, "constant", "left out"),
        ("nothing", ["", "na", None], "empty", "left out"),
        ("target", [k % 3 for k in range(ROWS)], "whole number", "factor"),
        ("Target", SAWTOOTH, "number", "factor"),
        ("species", ["cat", "dog"] * 12, "category", "factor"),
        ("y", [k % 3 for k in range(ROWS)], "whole number", "factor"),
        ("y", [0.1 * k * (-1) ** k for k in range(ROWS)], "number", "learned from"),  # a coordinate
    ],
)
def test_what_a_column_is_and_what_is_made_of_it(name, values, kind, role):
    found = describe_column(name, values)
    assert (found.kind, found.role) == (kind, role)


def test_gaps_are_counted_and_slips_among_numbers_are_said():
    assert describe_column("mass", ["1.5", "", "2", None]).missing == 2
    slip = describe_column("mass", ["1.5", "error", "2", "3"])
    assert (slip.kind, slip.role, slip.why) == ("number", "learned from", "but 'error' is text: correct it")


def table(folder):
    rows = [
        f"{k + 1},{1.5 * (k % 7)},{'rgb'[k % 3]},2024-01-{k + 1:02},A1,{k % 2},{'' if k == 3 else k % 5}"
        for k in range(24)
    ]
    path = folder / "t.csv"
    path.write_text("\n".join(["id,mass,colour,day,lab,target,size", *rows]) + "\n")
    return path


def test_fit_does_with_each_column_what_info_says(tmp_path):
    path = table(tmp_path)
    seen = ud.info(path, missing="drop")
    data = seen.data
    assert data is not None
    said = {column.name: column.role for column in seen.columns}
    assert said == {
        "id": "left out", "mass": "learned from", "colour": "learned from", "day": "left out", "lab": "left out",
        "target": "factor", "size": "learned from",
    }  # fmt: skip
    assert list(data.preprocessing.columns) == [name for name, role in said.items() if role == "learned from"]
    assert list(data.factor_names) == [name for name, role in said.items() if role == "factor"]
    text = "\n".join(seen.lines())
    assert "left out: id (id), day (date/time), lab (constant)" in text
    assert "1 rows with gaps are left out" not in text
    assert "1 row with gaps is left out" in text


def test_info_lists_columns_of_a_table_that_cannot_be_learned_from_yet(tmp_path):
    seen = ud.info(table(tmp_path))
    assert seen.data is None
    assert (seen.n, [column.missing for column in seen.columns][-1]) == (24, 1)
    assert "missing='drop'" in seen.lines()[-1]


def test_info_follows_what_was_asked_for(tmp_path):
    seen = ud.info(table(tmp_path), exclude="size,colour", factors="lab")
    assert {c.name: c.role for c in seen.columns}["colour"] == "left out"
    assert seen.data is not None
    assert seen.data.factor_names == ("lab", "target")
    assert seen.data.preprocessing.columns == ("mass",)
