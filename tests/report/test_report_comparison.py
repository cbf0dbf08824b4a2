"""Runs side by side."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import fabricate
import pytest

from unbraid.errors import InputError
from unbraid.report import write_comparison
from unbraid.report.sections.comparison import short_names


@pytest.fixture
def weaker_run(tmp_path: Path) -> Path:
    run = fabricate.image_run(tmp_path / "weaker", two_stages=False)
    metrics = json.loads((run / "metrics.json").read_text())
    metrics["mig"] |= {"value": 0.29, "interval": [0.26, 0.32]}
    metrics["factor_score"] |= {"value": 0.865, "interval": [0.845, 0.885]}
    metrics["l2"] |= {"value": 0.0059, "interval": [0.0057, 0.0061]}
    (run / "metrics.json").write_text(json.dumps(metrics))
    return run


def test_values_stand_side_by_side_and_only_a_clear_lead_is_bold(
    image_run: Path, weaker_run: Path, tmp_path: Path
) -> None:
    html = write_comparison([image_run, weaker_run], tmp_path / "out.html").read_text()
    for metric, values in (("mig", ["0.413", "0.290"]), ("l2", ["0.00412", "0.00590"])):
        assert re.findall(rf'data-metric="{metric}">([^<]*)', html) == values
    bold = re.findall(r'class="reading series-(\d) apart".*?data-metric="([a-z0-9_/-]+)"', html)
    assert ("0", "mig") in bold
    assert ("0", "l2") in bold  # lower is better
    assert not any(metric == "factor_score" for _, metric in bold)


def test_shared_originals_are_shown_once(image_run: Path, weaker_run: Path, tmp_path: Path) -> None:
    html = write_comparison([image_run, weaker_run], tmp_path / "out.html").read_text()
    rows = re.findall(r'class="recon-row"><span class="who ([a-z]+-\d)"><i class="symbol">([^<]*)', html)
    assert rows == [("stage-0", "x"), ("series-0", "y"), ("series-0", "x̂"), ("series-1", "x̂")]


def test_what_differs_is_told_apart_from_what_is_shared(image_run: Path, weaker_run: Path, tmp_path: Path) -> None:
    html = write_comparison([image_run, weaker_run], tmp_path / "out.html").read_text()
    differing = html[html.index("What differs") : html.index("settings on which they agree")]
    assert "stage 2 · method" in differing
    assert "stage 1 · beta" not in differing


def test_runs_of_different_kinds_can_be_compared(
    image_run: Path, vector_run: Path, plain_run: Path, tmp_path: Path
) -> None:
    html = write_comparison([image_run, vector_run, plain_run], tmp_path / "out.html").read_text()
    assert not re.search(r"https?://", html)
    assert html.count('class="effect-line"') == fabricate.STEPS * 3


def test_seeds_of_one_setting_share_a_row_and_a_colour(image_run: Path, weaker_run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other-seed"
    shutil.copytree(weaker_run, other)
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"seed": 7}))
    metrics = json.loads((other / "metrics.json").read_text())
    metrics["mig"] |= {"value": 0.31, "interval": [0.28, 0.34]}
    (other / "metrics.json").write_text(json.dumps(metrics))
    html = write_comparison([image_run, weaker_run, other], tmp_path / "out.html").read_text()
    assert re.findall(r'data-metric="mig">([^<]*)', html) == ["0.413", "0.300"], "the mean of 0.29 and 0.31"
    # Student's interval of two values a hundredth from their mean: 12.706 · 0.0141421 / √2.
    assert "0.173 – 0.427" in html
    assert "(2 seeds)" in html
    assert re.findall(r'<li class="series-(\d+)"', html) == ["0", "1", "1"]


def test_names_are_as_long_as_they_must_be() -> None:
    assert short_names([Path("/a/one"), Path("/a/two")]) == ["one", "two"]
    assert short_names([Path("/a/one"), Path("/b/one")]) == ["a/one", "b/one"]
    assert len(set(short_names([Path("/a/one"), Path("/a/one")]))) == 2


def test_one_run_is_no_comparison(image_run: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least two"):
        write_comparison([image_run], tmp_path / "out.html")


def test_no_run_is_better_than_one_on_other_data(image_run: Path, weaker_run: Path, tmp_path: Path) -> None:
    config = json.loads((weaker_run / "config.json").read_text())
    config["data"]["fingerprint"] = "another"
    config["data"]["arguments"] = {"size": 32}
    (weaker_run / "config.json").write_text(json.dumps(config))
    html = write_comparison([image_run, weaker_run], tmp_path / "c.html").read_text(encoding="utf-8")
    assert ' apart"' not in html
    assert "The runs are of different data" in html
    assert "data · size" in html[html.index("What differs") : html.index("settings on which they agree")]
