"""The worked examples of CONTRIBUTING.md work: each is run as it stands there, and used.

The metric's is in tests/metrics/test_new_metric.py.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import unbraid as ub
from unbraid.data import FactorData
from unbraid.evaluation.evaluate import evaluate
from unbraid.evaluation.measure import MeasureOptions
from unbraid.papers.reproduce import reproduce

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"


@pytest.fixture
def example(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """The Python below a heading of the page, as a module."""
    part = PAGE.read_text().split(f"\n## {request.param}\n")[1].split("\n## ")[0]
    code = re.search(r"```python\n(.*?)```", part, re.DOTALL)
    assert code, f"«{request.param}» has no example"
    module = ModuleType("worked_example")
    sys.modules[module.__name__] = module  # dataclasses look their module up
    exec(compile(code[1], str(PAGE), "exec"), module.__dict__)
    yield module
    del sys.modules[module.__name__]


@pytest.mark.parametrize("example", ["A method"], indirect=True)
def test_the_method_learns_what_its_docstring_says(example: ModuleType, squares: FactorData, tmp_path: Path) -> None:
    heavy = example.SparseVAE(width=0.1, weight=1000.0)
    run = ub.fit(squares, heavy, steps=60, out=tmp_path / "run", show=False)
    free = ub.fit(squares, example.SparseVAE(width=0.1, weight=0.0), steps=60, out=tmp_path / "free", show=False)
    assert abs(run.encode(show=False).codes).mean() < abs(free.encode(show=False).codes).mean()


@pytest.mark.parametrize("example", ["A measure of runs"], indirect=True)
def test_the_measure_reads_a_run(example: ModuleType, squares: FactorData, tmp_path: Path) -> None:
    run = ub.fit(squares, ub.methods.VAE(width=0.1), steps=2, out=tmp_path / "run", show=False)
    found = evaluate(run, ["brightest"], MeasureOptions(show=False), more=[example.BRIGHTEST])
    assert found["brightest"]["value"] == float(run.encode(show=False).codes.max())


@pytest.mark.parametrize("example", ["A data set"], indirect=True)
def test_the_data_set_can_be_learned_from(example: ModuleType, tmp_path: Path) -> None:
    data = example.load(n=40)
    run = ub.fit(data, "vae", steps=2, out=tmp_path / "run", show=False)
    assert run.encode(show=False).codes.shape == (40, 10)


@pytest.mark.parametrize("example", ["A study"], indirect=True)
def test_the_study_writes_its_page(example: ModuleType, tmp_path: Path) -> None:
    study = example.STUDY
    page = reproduce(
        study.name, "smoke", out=tmp_path / "runs", results=tmp_path, workers=1, show=False, studies={study.name: study}
    )
    text = page.read_text()
    assert "4 runs" in text
    assert "| β = 4 | 1 |" in text
