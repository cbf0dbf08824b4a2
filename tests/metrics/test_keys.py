"""The names of scores in metrics.json: one grammar, both ways."""

from __future__ import annotations

import pytest

from unbraid.metrics import MetricKey


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("mig", MetricKey("mig")),
        ("stage-1/l2", MetricKey("l2", stage=1)),
        ("without-labels/mig", MetricKey("mig", labels=False)),
        ("without-labels/stage-12/l2", MetricKey("l2", stage=12, labels=False)),
        ("conditioning/M1", MetricKey("conditioning", "M1")),
        ("downstream_by_stage/c+z", MetricKey("downstream_by_stage", "c+z")),
        ("class_accuracy/stage-1", MetricKey("class_accuracy", "stage-1")),
        ("stage-one/l2", MetricKey("stage-one", "l2")),
        ("without-labels/class_accuracy/shape/round", MetricKey("class_accuracy", "shape/round", labels=False)),
    ],
)
def test_a_key_is_read_and_written_as_it_was(text: str, key: MetricKey) -> None:
    assert MetricKey.parse(text) == key
    assert str(key) == text


def test_older_names_are_read_as_the_newer_ones() -> None:
    assert str(MetricKey.parse("without-labels/elbo/kl")) == "without-labels/elbo_terms/kl"
    assert str(MetricKey.parse("elbo_terms/elbo")) == "elbo_terms/elbo"


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("stage-1/l2", ("stage-1/l2", True)),
        ("without-labels/stage-1/l2", ("stage-1/l2", False)),
        ("conditioning/M1", ("conditioning/M1", False)),
        ("class_accuracy/shape", ("class_accuracy/shape", False)),
    ],
)
def test_which_scores_read_labels(name: str, use: tuple[str, bool]) -> None:
    key = MetricKey.parse(name)
    assert (str(key.plain), key.reads_labels) == use
