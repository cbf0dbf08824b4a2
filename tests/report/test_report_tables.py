"""Tables in reports and notebooks: columns by name, in their own units."""

import json
from html.parser import HTMLParser
from pathlib import Path

import fabricate
import numpy as np
import pytest

from unbraid.report import write_report
from unbraid.report.draw.columns import column_limits, moved_columns, row_table, values_at
from unbraid.report.notebook import run_html
from unbraid.report.read.columns import Columns, read_columns

# mass is standardised by mean 100 and scale 10, colour has two values, count has a logarithm: expm1(v).
HOW = {
    "columns": ["mass", "colour", "count"],
    "mean": [100.0, 0.5, 0.5, 0.0],
    "scale": [10.0, 0.5, 0.5, 1.0],
    "categories": {"colour": ["blue", "red"]},
    "log1p": [3],
}


class Cells(HTMLParser):
    """The rows of a table as text; `bold` are the texts of bold cells."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.bold: list[str] = []
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.open.append(name)
        if name == "tr":
            self.rows.append([])
        if name in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, name: str) -> None:
        assert self.open.pop() == name  # what is opened is closed, in order

    def handle_data(self, text: str) -> None:
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += text.strip()
        if "b" in self.open:
            self.bold.append(text)


@pytest.fixture
def columns() -> Columns:
    found = read_columns(HOW)
    assert found is not None
    return found


def test_a_row_stands_beside_its_reconstruction_in_its_own_units(columns: Columns) -> None:
    x = np.array([1.0, -1, 1, np.log1p(7)])
    far = np.array([2.5, 1, -1, np.log1p(8)])
    cells = Cells(row_table(columns, [("x", x), ("x̂", far)], "observation 1"))
    assert cells.rows == [["", "x", "x̂"], ["mass", "110", "125"], ["colour", "red", "blue"], ["count", "7.0", "8.0"]]
    assert cells.bold == ["125", "blue"]  # a standard deviation and a half off; another category


def test_a_traversal_says_from_where_to_where_each_column_goes(columns: Columns) -> None:
    moved = np.array([[-1.0, 1, -1, 0.5], [0.0, -1, 1, 0.5], [2.0, 1, -1, 0.5]])
    cells = Cells(moved_columns(columns, moved, column_limits(columns, [moved]), "x̂ as z1 is moved"))
    assert [(row[0], row[-1]) for row in cells.rows] == [
        ("mass", "90 → 120"),
        ("colour", "blue → red → blue"),
        ("count", "0.6 → 0.6"),
    ]


def test_of_many_columns_those_that_move_most_are_shown() -> None:
    many = Columns(tuple(f"c{k}" for k in range(40)), mean=(0.0,) * 40, scale=(1.0,) * 40)
    moved = np.zeros((3, 40))
    moved[2, [5, 33]] = 1.0, 4.0
    html = moved_columns(many, moved, column_limits(many, [moved]), "")
    assert [row[0] for row in Cells(html).rows[:2]] == ["c33", "c5"]
    assert "the 16 of 40 columns that change most" in html
    assert "and 16 more columns" in row_table(many, [("x", moved[0])], "")


def test_values_along_a_code_are_a_column_each(columns: Columns) -> None:
    cells = Cells(values_at(columns, [-1.0, 1.5], np.array([[0.0, 1, -1, 0], [1.0, -1, 1, 0]]), ""))
    assert cells.rows == [["", "−1", "1.5"], ["mass", "100", "110"], ["colour", "blue", "red"], ["count", "0.0", "0.0"]]


def table_run(folder: Path) -> Path:
    """A vector run whose values are the columns of a table."""
    run = fabricate.vector_run(folder)
    names = [f"measure <{k}>" for k in range(100)]
    how = {"columns": names, "mean": [1000.0] * 100, "scale": [10.0] * 100}
    (run / "preprocessing.json").write_text(json.dumps(how))
    return run


def test_pages_and_notebooks_show_columns_and_no_lines(tmp_path: Path) -> None:
    run = table_run(tmp_path / "run")
    html = write_report(run).read_text()
    assert "measure &lt;3&gt;" in html
    assert 'class="moved"' in html
    assert 'class="effect"' not in html
    assert 'class="overlay"' not in html
    assert "a row of 100 columns" in html
    with np.load(run / "pictures.npz") as arrays:
        first = f"{1000 + 10 * float(arrays['originals'][0, 3]):,.0f}"
    notebook = Cells(run_html(run))
    assert next(row for row in notebook.rows if row[0] == "measure <3>")[1] == first


def test_columns_that_do_not_fit_the_vectors_are_left_alone(tmp_path: Path) -> None:
    run = table_run(tmp_path / "run")
    (run / "preprocessing.json").write_text(json.dumps({"columns": ["a", "b"]}))
    assert "a vector of 100 values" in write_report(run).read_text()
