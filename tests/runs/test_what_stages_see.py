"""What a run hands to encoders and to later stages, and what it keeps of codes: rows, labels, means and draws."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from unbraid import methods
from unbraid.data import Factor
from unbraid.data.factor_data import FactorData
from unbraid.data.held_out import HeldOut
from unbraid.data.label_budget import LabelBudget
from unbraid.ops.gaussian import DiagonalGaussian
from unbraid.ops.given import Point
from unbraid.runs import conditioning, label_access
from unbraid.runs.chain import Chain
from unbraid.runs.codes import CodeTable, encode_batches
from unbraid.runs.directory import RunDirectory
from unbraid.runs.held_out import held_out_sentence, watched_data
from unbraid.runs.plan import Plan
from unbraid.training.checkpoint import WEIGHTS

ROWS = 10
VALUES = np.arange(2.0 * ROWS, dtype=np.float32).reshape(ROWS, 2)
# What is written of a finished stage.
RECORD = {"key": "of stage 1", "method": "ivae", "options": {}, "steps": 2, "seconds": 1.0, "parameters": 1}
SIDE, MASS = np.tile([0.0, 1.0], 5), np.linspace(0, 3, ROWS)


class Reads(nn.Module):
    """Its code is the first value of x and 100 times the label, or −1 where that is unknown; a draw adds 0.25."""

    def __init__(self) -> None:
        super().__init__()
        self.config: Any = SimpleNamespace(encoder_needs_labels=True, reconstructs=True, uses_codes=False)
        self.somewhere = nn.Parameter(torch.zeros(1))

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Any]:
        assert labels is not None
        return {"z": Moved(x[:, :1] + 100 * labels[:, :1].nan_to_num(-0.01))}

    def decode(self, codes: Any, y: Tensor | None = None) -> Tensor:
        return torch.cat((codes["z"], -codes["z"]), dim=1)


class Moved(Point):
    """A code whose draws lie a quarter above it, each a thousandth above the last."""

    drawn = 0

    def rsample(self) -> Tensor:
        Moved.drawn += 1
        return self.mean + 0.25 + 0.001 * Moved.drawn


def run_of(
    folder: Path,
    *configs: Any,
    amount: str = "first 4",
    held_out: float = 0.0,
    factors: tuple[str, ...] = ("side",),
) -> RunDirectory:
    """A run of ten rows that has factors «mass» and «side»; stage 1 is a line of arithmetic."""
    info = (Factor("mass", 0, "continuous"), Factor("side", 2, "categorical"))
    data = FactorData("rows", VALUES, np.column_stack([MASS, SIDE]), info)
    plan = Plan.check(data, configs, [2] * len(configs), 0, LabelBudget(amount, factors), HeldOut(held_out))
    run = RunDirectory(folder, plan, data, "cpu")
    run._stages[1] = Reads()  # type: ignore[assignment]
    run._weights[1] = "of these weights"
    return run


IVAE = methods.IVAE(likelihood="gaussian")


def test_encoders_are_given_all_labels_there_are_and_training_those_of_the_budget(tmp_path: Path) -> None:
    run, rows = run_of(tmp_path, IVAE), np.array([3, 4, 7])
    assert run.labels(rows)[:, 0].tolist() == [1.0, 0.0, 1.0]
    shown = run.labels(rows, shown=True)
    assert shown[0].item() == 1.0
    assert shown[1:].isnan().all(), "the first four rows are shown"
    for labels in (True, False):
        ((x, known),) = run.batches(rows, "", labels=labels, show=False)
        assert x.tolist() == VALUES[rows].tolist()
        assert known.tolist() == [[1.0], [0.0], [1.0]] if labels else known.isnan().all()
        assert known.shape == (3, 1)


def test_a_stage_sees_labels_only_if_it_learns_from_them(tmp_path: Path) -> None:
    run = run_of(tmp_path, IVAE, methods.MSVAE(likelihood="gaussian", content="codes"), held_out=0.3)
    held_out = run.held_out_rows
    assert len(held_out) == 3
    first, second = run.training_data(1), run.training_data(2, codes=np.zeros((ROWS, 1), np.float32))
    known = np.flatnonzero(~np.isnan(first.labels[:, 0]))
    assert len(known) == 4
    assert not np.isin(known, held_out).any()
    assert (first.labels[known, 0] == SIDE[known]).all()
    assert second.labels.shape == (ROWS, 0)
    assert second.factors == ()
    for source in (first, second):
        assert (source.held_out == held_out).all()
        assert source.spec.size == 7
    watched = watched_data(run.plan, 1, first)
    assert watched is not None
    assert np.flatnonzero(~np.isnan(watched.labels[:, 0])).tolist() == held_out.tolist()
    assert (watched.labels[held_out, 0] == SIDE[held_out]).all()
    assert watched.seen_rows.tolist() == held_out.tolist()


def test_rows_of_which_a_label_is_missing_have_no_codes_that_are_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where stage 1's codes are labels, stage 2 sees the rows that have all of them, each as often as it is drawn."""
    given = methods.Controls(likelihood="gaussian", factors=("side", "mass"))
    run = run_of(tmp_path, given, methods.MSVAE(likelihood="gaussian"), amount="all", factors=("side", "mass"))
    visible = np.array([[1.0, 0.5], [np.nan, 1.0], [0.0, np.nan], [1.0, 2.0], [np.nan, np.nan]])
    rows = label_access.rows_with_codes(run.plan, 2, visible)
    assert rows is not None
    assert rows.tolist() == [0, 3]
    assert label_access.rows_with_codes(run.plan, 1, visible) is None
    assert label_access.rows_with_codes(run.plan, 2, visible[[0, 3]]) is None
    monkeypatch.setattr(label_access, "rows_with_codes", lambda *_: np.array([0, 3, 7]))
    assert run.training_data(2).rows is not None
    assert run.training_data(2).rows.tolist() == [0, 3, 7]  # type: ignore[union-attr]
    run.data = replace(run.data, train_rows=np.array([0, 0, 1, 3, 7, 7, 9]))
    assert run.training_data(2).rows.tolist() == [0, 0, 3, 7, 7]  # type: ignore[union-attr]


@pytest.mark.parametrize("condition", ["sample", "mean"])
def test_a_later_stage_is_given_what_training_may_know_row_by_row_and_draw_by_draw(
    condition: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """y of draw k of row i stands at k·n + i, and so do the codes that it was made from."""
    monkeypatch.setattr(conditioning, "BATCH", 5)
    monkeypatch.setattr(Moved, "drawn", 0)
    config = methods.MSVAE(likelihood="gaussian", content="codes", condition=condition, draws=2)
    run = run_of(tmp_path, IVAE, config)
    (tmp_path / "stage-1").mkdir()
    (tmp_path / "stage-1" / WEIGHTS).write_bytes(b"weights")
    (tmp_path / "stage-1" / "stage.json").write_text(json.dumps({**RECORD, "files": {}}))
    y, codes = conditioning.stage_inputs(run, 2, show=False)
    label = np.where(np.arange(ROWS) < 4, SIDE, -0.01)
    once = VALUES[:, 0] + 100 * label
    expected = np.tile(once, 2)
    if condition == "sample":
        expected = expected + 0.25 + 0.001 * np.repeat([1, 2, 3, 4], 5)
    assert codes is not None
    np.testing.assert_allclose(codes[:, 0], expected, rtol=1e-5)
    np.testing.assert_allclose(y, np.stack([expected, -expected], axis=1), rtol=1e-5)


class Uncertain(Reads):
    """Its code is a Gaussian."""

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Any]:
        return {"z": DiagonalGaussian(x[:, :1], 0.1 * x[:, 1:]), "u": DiagonalGaussian(2 * x, -x)}


def test_what_is_kept_of_codes_is_their_means_variances_and_mean_kl() -> None:
    x = torch.from_numpy(VALUES / 10)
    labels = torch.zeros(ROWS, 1)
    batches = [(x[:4], labels[:4]), (x[4:], labels[4:])]
    chain = Chain([Uncertain(), Reads()])  # type: ignore[list-item]
    found = encode_batches(chain, batches)
    mean, log_var = np.hstack([x[:, :1], 2 * x]), np.hstack([0.1 * x[:, 1:], -x])
    np.testing.assert_allclose(found["codes"], mean, rtol=1e-6)
    np.testing.assert_allclose(found["log_var"], log_var, rtol=1e-6)
    kl = 0.5 * (mean**2 + np.exp(log_var) - log_var - 1)
    np.testing.assert_allclose(found["information"], kl.mean(0), rtol=1e-5)
    assert found["columns"].tolist() == ["z1", "u1", "u2"]
    np.testing.assert_allclose(found["stage-2/codes"], x[:, :1], rtol=1e-6)
    assert "stage-2/information" not in found, "a point is infinitely far from any prior"
    assert "stage-2/log_var" not in found


def test_a_part_of_the_codes_has_the_rows_of_that_part() -> None:
    held_out = np.arange(ROWS) % 3 == 0
    arrays = {
        "codes": VALUES, "columns": np.array(["z1", "z2"]), "rows": np.arange(ROWS), "held_out": held_out,
        "factors": MASS[:, None], "stage-2/codes": -VALUES, "information": np.arange(2.0),
    }  # fmt: skip
    table = CodeTable(arrays)
    for part, chosen in (("held-out", held_out), ("training", ~held_out), ("all", held_out | True)):
        found = table.of(part)
        assert (found.codes == VALUES[chosen]).all()
        assert (found.arrays["stage-2/codes"] == -VALUES[chosen]).all()
        assert (found.factors[:, 0] == MASS[chosen]).all()
        assert (found.rows == np.flatnonzero(chosen)).all()
        assert found.arrays["information"].tolist() == [0.0, 1.0]


class Random(Reads):
    """Its codes are drawn."""

    def encode(self, x: Tensor, y: Tensor | None = None, labels: Tensor | None = None) -> dict[str, Any]:
        return {"z": DiagonalGaussian(x[:, :1], torch.zeros(len(x), 1))}


def test_y_is_drawn_by_the_seed_of_the_run_alone(tmp_path: Path) -> None:
    found = []
    for number in (1, 2):
        run = run_of(tmp_path / str(number), IVAE, methods.MSVAE(likelihood="gaussian"))
        run._stages[1] = Random()  # type: ignore[assignment]
        (tmp_path / str(number) / "stage-1").mkdir(parents=True)
        (tmp_path / str(number) / "stage-1" / WEIGHTS).write_bytes(b"weights")
        (tmp_path / str(number) / "stage-1" / "stage.json").write_text(json.dumps({**RECORD, "files": {}}))
        torch.manual_seed(number)
        found.append(np.array(conditioning.stage_inputs(run, 2, show=False)[0]))
    assert (found[0] == found[1]).all()
    assert (found[0][:, 0] != VALUES[:, 0]).all()


@pytest.mark.parametrize("needs_labels", [True, False])
def test_codes_are_kept_apart_only_where_labels_matter(needs_labels: bool, tmp_path: Path) -> None:
    run = run_of(tmp_path, IVAE)
    stage: Any = Reads()
    stage.config.encoder_needs_labels = needs_labels
    run._stages[1] = stage
    found = run.codes(labels=False, show=False)
    assert found.codes[:, 0].tolist() == pytest.approx(
        (VALUES[:, 0] + 100 * (-0.01 if needs_labels else SIDE)).tolist()
    )
    names = sorted(path.name for path in tmp_path.glob("*.npz"))
    assert names == ["codes-without-labels.npz" if needs_labels else "codes.npz"]


def test_a_data_frame_has_the_codes_of_the_first_stage_or_of_all() -> None:
    pytest.importorskip("pandas")
    arrays = {
        "codes": VALUES, "columns": np.array(["z1", "z2"]), "rows": np.arange(ROWS), "factors": MASS[:, None],
        "factor_names": np.array(["mass"]), "stage-2/codes": -VALUES[:, :1], "stage-2/columns": np.array(["z1"]),
    }  # fmt: skip
    table = CodeTable(arrays)
    assert list(table.to_pandas().columns) == ["z1", "z2", "mass"]
    assert list(table.to_pandas(all_stages=True).columns) == ["z1", "z2", "stage-2/z1", "mass"]


def test_who_has_too_few_rows_to_hold_any_out_is_told(tmp_path: Path) -> None:
    run = run_of(tmp_path, IVAE)
    assert held_out_sentence(replace(run.plan, data={**run.plan.data, "arguments": None})) == (
        "nothing is held out: 10 observations are too few for that (--held-out 0.1 does it all the same)."
    )
    many = {**run.plan.data, "arguments": None, "n": 50}
    assert held_out_sentence(replace(run.plan, data=many)) is None
