"""Every metric describes itself, in its own file, and says what it does by example."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from unbraid import metrics as m
from unbraid.metrics.score import Score

from .conftest import random_table


def function_of(metric: m.Metric) -> Callable[..., Any]:
    return metric.function.func if isinstance(metric.function, partial) else metric.function


@pytest.mark.parametrize("name", list(m.METRICS))
def test_a_metric_is_a_function_in_the_file_of_its_name(name: str) -> None:
    function = function_of(m.METRICS[name])
    own = function.__name__
    assert name.startswith(own)
    assert getattr(m, own) is function, "the package's name is the function, not the file"
    assert Path(inspect.getfile(inspect.unwrap(function))).stem == own
    text = inspect.getdoc(function) or ""
    for part in ("Args:", "Returns:", "Example:\n    >>> "):
        assert part in text, part


def test_records_say_how_values_are_shown() -> None:
    for name, metric in m.METRICS.items():
        assert metric.name == name
        for shown in (metric.display(), *metric.parts.values()):
            low, high = shown.range
            assert low is None or high is None or low < high, name
            assert shown.title
            assert len(shown.description) <= 64, f"{name}: one line on the page"
            assert shown.better in ("higher", "lower", "neither")
        if metric.chance is not None:
            assert (metric.range[0] or 0) <= metric.chance <= (metric.range[1] or 1)


def test_a_part_without_an_entry_is_named_after_its_metric() -> None:
    record = m.METRICS["class_accuracy"]
    assert record.display("shape") == m.Display("Class accuracy, shape", record.description, "higher", (0.0, 1.0))
    assert m.METRICS["elbo_terms"].display("kl").title == "KL"


def test_details_call_latents_as_the_table_does() -> None:
    codes, factors = random_table(300, spare=1)
    columns = ["c1", "c2", "u1", "u2", "u3", "u4"]
    table = m.as_table(codes, factors, columns=columns)
    assert m.mig(table).details["latent"] == {f"factor {k}": columns[k] for k in range(5)}
    assert m.mcc(table).details["latent"] == {f"factor {k}": columns[k] for k in range(5)}
    assert m.irs(table).details["factor"]["u3"] == "factor 4"
    assert m.downstream(table, probe="linear", latents=[0, 5]).details["latents"] == ["c1", "u4"]


def test_a_score_may_say_itself_how_it_is_shown() -> None:
    plain = Score(1.0).to_json()
    assert "about" not in plain
    told = Score(1.0, about=m.Display("Mine", "of my own", "lower", (0.0, None))).to_json()
    about = {"title": "Mine", "description": "of my own", "better": "lower", "range": [0.0, None]}
    assert told == {**plain, "about": about}
