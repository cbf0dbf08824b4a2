"""The newcomer's bill: a method, a metric of tables, a measure of runs and a data set each cost one file, one line."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

import unbraid as ub
from unbraid.core import Adam, Batch, DataSpec, Method, MethodConfig, Posterior, Terms, Update
from unbraid.data import FactorData
from unbraid.evaluation.evaluate import evaluate
from unbraid.evaluation.measure import Measure, MeasureOptions
from unbraid.metrics import Display, Score
from unbraid.ops.gaussian import DiagonalGaussian
from unbraid.runs.directory import RunDirectory
from unbraid.util.files import read_json
from unbraid.util.schema import option


@dataclass(frozen=True, kw_only=True)
class Centre(MethodConfig):
    """Where an image is bright: an encoder without a decoder."""

    name: ClassVar[str] = "centre"
    adam: Adam = option(Adam(), "optimiser")

    def build(self, data: DataSpec) -> CentreModel:
        return CentreModel(self, data)


class CentreModel(Method):
    """Codes that predict the mean of each colour."""

    config: Centre

    def __init__(self, config: Centre, data: DataSpec) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(int(np.prod(data.shape)), 2 * data.shape[0]))

    def loss(self, batch: Batch, step: int) -> Terms:
        q = self.encode(batch.x)["z"]
        return Terms((q.mean - batch.x.mean((2, 3))).square().sum(1).mean())

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Posterior]:
        return {"z": DiagonalGaussian.from_parameters(self.encoder(x))}

    def updates(self) -> tuple[Update, ...]:
        return (Update("fit", self.loss, ("encoder",), self.config.adam, 16),)


ABOUT = Display("Brightest code", "the greatest code of all", "higher")


def brightest(run: RunDirectory, names: object, options: MeasureOptions, labels: bool) -> dict[str, Score]:
    return {"brightest": Score(float(run.codes(show=False).codes.max()), about=ABOUT)}


BRIGHTEST = Measure(("brightest",), brightest)


def test_a_method_that_only_encodes_needs_nothing_but_its_class(squares: FactorData, tmp_path: Path) -> None:
    run = ub.fit(squares, Centre(), steps=3, out=tmp_path / "run", show=False)
    assert run.encode(show=False).codes.shape == (48, 3)
    assert {"mig", "factor_score"} <= set(run.evaluate(show=False))
    assert "<title>centre on squares · run</title>" in run.report().read_text()
    again = ub.open(tmp_path / "run", data=squares, more=[Centre])
    np.testing.assert_array_equal(again.encode(squares.observations).codes, run.encode(show=False).codes)


def test_a_measure_of_runs_is_one_object(squares: FactorData, tmp_path: Path) -> None:
    run = ub.fit(squares, ub.methods.VAE(width=0.1), steps=2, out=tmp_path / "run", show=False)
    found = evaluate(run, ["brightest"], MeasureOptions(show=False), more=[BRIGHTEST])
    assert found["brightest"]["value"] == float(run.encode(show=False).codes.max())
    assert read_json(run.folder / "metrics.json")["brightest"]["about"]["title"] == "Brightest code"
    assert "Brightest code" in run.report().read_text()


DATA = '''"""Noise."""
import numpy as np
from unbraid.data.factor_data import FactorData


def load(n: int = 8) -> FactorData:
    """White noise."""
    return FactorData("noise", np.random.default_rng(0).normal(size=(n, 4)).astype(np.float32), np.zeros((n, 0)), ())
'''


def test_a_drawn_data_set_is_one_file_and_one_line(tmp_path: Path) -> None:
    copy = tmp_path / "unbraid"
    shutil.copytree(Path(ub.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "data" / "drawn" / "noise.py").write_text(DATA)
    registry = copy / "data" / "drawn" / "__init__.py"
    registry.write_text(registry.read_text().replace('    "pendulum":', '    "noise": "white noise",\n    "pendulum":'))
    script = "import unbraid as ub; print(ub.__file__); print(len(ub.data.load('noise', n=5)))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.stdout.split() == [str(copy / "__init__.py"), "5"], done.stderr


def test_a_run_computes_where_it_is_told(squares: FactorData, tmp_path: Path) -> None:
    ub.fit(squares, ub.methods.VAE(width=0.1), steps=2, out=tmp_path / "run", show=False)
    run = ub.open(tmp_path / "run", data=squares, device="cpu")
    assert run.device == run.chain.device == torch.device("cpu")
