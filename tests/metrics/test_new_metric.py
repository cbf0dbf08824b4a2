"""What a new metric costs: one file and one line."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import unbraid

# The worked example of CONTRIBUTING.md.
METRIC = (
    (Path(__file__).parents[2] / "CONTRIBUTING.md")
    .read_text()
    .split("\n## A metric\n")[1]
    .split("```python\n")[1]
    .split("```")[0]
)
LINE = "from unbraid.metrics.spread import spread as spread\n"
USE = """
from unbraid import metrics
from unbraid.report.read.scores import read_score

codes, factors = [[-1.0, 2.0], [1.0, 2.0]], [0, 1]
assert metrics.spread(codes, factors).value == 0.5
assert metrics.suite(codes, factors, metrics=["spread"])["spread"].value == 0.5
assert "spread" in metrics.SUITE and "spread" in metrics.METRICS
assert read_score("stage-1/spread", {"value": 0.5}).title == "Spread, stage 1"
"""


def test_a_new_metric_is_one_file_and_one_line(tmp_path: Path) -> None:
    package = tmp_path / "unbraid"
    shutil.copytree(Path(unbraid.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "metrics" / "spread.py").write_text(METRIC, encoding="utf-8")
    listed = package / "metrics" / "__init__.py"
    text = listed.read_text(encoding="utf-8")
    first = "from unbraid.metrics.mig import mig as mig\n"
    assert first in text
    listed.write_text(text.replace(first, first + LINE), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    subprocess.run([sys.executable, "-c", USE], env=environment, check=True)
