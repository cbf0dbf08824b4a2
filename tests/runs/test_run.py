"""Run directories: what is written, reused, refused and read back."""

import dataclasses
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from PIL import Image

import unbraid as ub
from unbraid.api import Run
from unbraid.core import Adam, Batch, Method, MethodConfig, Terms, Update
from unbraid.data.factor_data import FactorData
from unbraid.evaluation.pictures import code_ranges
from unbraid.methods import IVAE, MSVAE, SSIVAE, BetaTCVAE, BetaVAE
from unbraid.runs.conditioning import stage_inputs
from unbraid.training.batches import as_stored
from unbraid.training.loop import UpdateOptimizer
from unbraid.training.machine import Machine
from unbraid.training.watching import seed_draws
from unbraid.util.files import read_json

FIRST, SECOND = BetaTCVAE(width=0.1, latents=4), MSVAE(width=0.1, latents=2)
PLAIN, FIRST_PLAIN = BetaVAE(likelihood="gaussian"), BetaVAE(width=0.1)


def two_stages(data: FactorData, out: Path, second: MSVAE = SECOND) -> Run:
    return ub.fit(data, [FIRST, second], steps=[6, 4], out=out, show=False)


def test_a_run_is_read_back_as_it_was(squares: FactorData, tmp_path: Path) -> None:
    run = two_stages(squares, tmp_path / "run")
    again = Run.open(tmp_path / "run", data=squares)
    assert again.plan == run.plan
    np.testing.assert_array_equal(again.encode(squares.observations).codes, run.encode(squares.observations).codes)


def test_loading_a_stage_draws_no_random_numbers(squares: FactorData, tmp_path: Path) -> None:
    two_stages(squares, tmp_path / "run")
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    Run.open(tmp_path / "run", data=squares).stage(2)
    assert torch.equal(torch.rand(2), expected)


def test_a_finished_first_stage_is_reused_by_its_key(squares: FactorData, tmp_path: Path) -> None:
    one = two_stages(squares, tmp_path / "one")
    other = two_stages(squares, tmp_path / "other", dataclasses.replace(SECOND, latents=3))
    assert read_json(other.stage_folder(1) / "stage.json")["reused_from"] == "one"
    assert (other.stage_folder(1) / "weights.safetensors").samefile(one.stage_folder(1) / "weights.safetensors")
    assert read_json(other.stage_folder(2) / "stage.json")["reused_from"] is None


@pytest.mark.parametrize("change", ["seed", "steps", "option", "data"])
def test_anything_that_changes_weights_changes_the_key(squares: FactorData, tmp_path: Path, change: str) -> None:
    ub.fit(squares, FIRST, steps=3, seed=0, out=tmp_path / "one", show=False)
    data = FactorData("x", 255 - squares.observations, squares.factors, squares.factor_info)
    run = ub.fit(
        data if change == "data" else squares,
        dataclasses.replace(FIRST, beta=3.0) if change == "option" else FIRST,
        steps=4 if change == "steps" else 3,
        seed=1 if change == "seed" else 0,
        out=tmp_path / "other",
        show=False,
    )
    assert read_json(run.stage_folder(1) / "stage.json")["reused_from"] is None


def test_stage_two_leaves_the_codes_of_stage_one_untouched(squares: FactorData, tmp_path: Path) -> None:
    alone = ub.fit(squares, FIRST, steps=6, out=tmp_path / "a" / "alone", show=False)
    both = two_stages(squares, tmp_path / "b" / "both")
    np.testing.assert_array_equal(alone.encode().codes, both.encode().codes)
    np.testing.assert_array_equal(alone.reconstruct(squares.observations)[0], both.reconstruct(squares.observations)[0])


def test_another_configuration_in_the_directory_is_refused_and_kept(squares: FactorData, tmp_path: Path) -> None:
    ub.fit(squares, FIRST, steps=3, out=tmp_path / "run", show=False)
    with pytest.raises(ub.InputError, match=r"holds another run \(stages\.1\.steps: 3 there, 5 here\)"):
        ub.fit(squares, FIRST, steps=5, out=tmp_path / "run", show=False)
    assert Run.open(tmp_path / "run", data=squares).is_finished(1)


def test_y_is_computed_once_and_several_draws_differ(squares: FactorData, tmp_path: Path) -> None:
    run = two_stages(squares, tmp_path / "run", dataclasses.replace(SECOND, draws=3))
    y = np.load(run.stage_folder(1) / "y-sample-3.npy")
    assert y.shape == (3 * len(squares), *squares.observations.shape[1:])
    assert not np.array_equal(y[: len(squares)], y[len(squares) : 2 * len(squares)])
    written = (run.stage_folder(1) / "y-sample-3.npy").stat().st_mtime_ns
    stage_inputs(run, 2, show=False)
    assert (run.stage_folder(1) / "y-sample-3.npy").stat().st_mtime_ns == written


def test_traversals_move_one_code_and_nothing_else(squares: FactorData, tmp_path: Path) -> None:
    run = two_stages(squares, tmp_path / "run")
    first, final = run.traverse(squares.observations[:1], stage=1, steps=5)
    assert first.shape == final.shape == (4, 5, *squares.observations.shape[1:])
    codes = run.encode(squares.observations[:1]).codes.repeat(5, axis=0)
    codes[:, 2] = code_ranges(run.encode(), 1, 5)[2]
    method: Any = run.stage(1)
    decoded = method.decode({"z": torch.from_numpy(codes)})
    np.testing.assert_array_equal(first[2], as_stored(decoded))


def test_data_given_as_arrays_must_be_given_again_and_be_the_same(squares: FactorData, tmp_path: Path) -> None:
    ub.fit(squares, FIRST, steps=3, out=tmp_path / "run", show=False)
    with pytest.raises(ub.InputError, match="given as arrays"):
        _ = Run.open(tmp_path / "run").data
    other = FactorData("x", 255 - squares.observations, squares.factors, squares.factor_info)
    with pytest.raises(ub.InputError, match="content has changed"):
        _ = Run.open(tmp_path / "run", data=other).data


def test_observations_of_another_shape_are_refused(squares: FactorData, tmp_path: Path) -> None:
    run = ub.fit(squares, FIRST, steps=3, out=tmp_path / "run", show=False)
    with pytest.raises(ub.InputError, match=r"must be uint8 of shape \[n, 16, 16, 3\]"):
        run.encode(np.zeros((2, 8, 8, 3), dtype=np.uint8))


@pytest.mark.parametrize(
    ("stages", "message"),
    [
        ([SECOND], "ms-vae is a second stage"),
        ([FIRST, BetaVAE()], "beta-vae cannot follow another stage"),
        ([], "at least one method"),
    ],
)
def test_stages_in_an_order_that_makes_no_sense_are_refused(squares: FactorData, stages: list, message: str) -> None:
    with pytest.raises(ub.InputError, match=message):
        ub.fit(squares, stages, steps=1, show=False)


@pytest.mark.parametrize(
    ("stages", "labels", "message"),
    [
        ([PLAIN, MSVAE(likelihood="gaussian", styles="places")], None, "--styles places is for images"),
        ([SSIVAE(likelihood="gaussian", batch_size=1)], 8, "pass a --batch-size of at least 2"),
    ],
)
def test_what_cannot_be_trained_is_said_before_anything_is_written(
    tmp_path: Path, stages: list, labels: int | None, message: str
) -> None:
    vectors = ub.data.from_arrays(np.random.default_rng(0).normal(size=(32, 6)), {"side": np.arange(32) % 2})
    with pytest.raises(ub.InputError, match=message):
        ub.fit(vectors, stages, steps=10**9, labels=labels, out=tmp_path / "run", show=False)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 0.0}, "--width of beta-vae must be greater than 0, not 0"),
        ({"beta": -1.0}, "--beta of beta-vae must be at least 0, not -1"),
        ({"beta": float("nan")}, "--beta of beta-vae must be at least 0, not nan"),
        ({"latents": 0}, "--latents of beta-vae must be at least 1, not 0"),
        ({"latents": 10**11}, "beta-vae does not fit into memory"),
    ],
)
def test_numbers_that_cannot_be_are_refused(
    options: dict[str, Any], message: str, squares: FactorData, tmp_path: Path
) -> None:
    with pytest.raises(ub.InputError, match=message):
        ub.fit(squares, dataclasses.replace(FIRST_PLAIN, **options), steps=1, out=tmp_path / "run", show=False)
    assert not (tmp_path / "run").exists()


def test_a_run_is_a_folder_of_its_own(squares_file: Path, tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    for number in range(3):
        Image.fromarray(np.full((16, 16, 3), number, np.uint8)).save(photos / f"{number}.png")
    with pytest.raises(ub.InputError, match="lies among the data"):
        ub.fit(photos, FIRST, steps=1, out=photos / "run", show=False)
    with pytest.raises(ub.InputError, match="is a file: name a folder"):
        ub.fit(photos, FIRST, steps=1, out=squares_file, show=False)


def test_a_folder_may_bear_the_name_of_a_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = ub.data.load("pendulum", n=np.int64(8))
    for place in ("pendulum/a", "pendulum/b", "pendulum/a"):
        ub.fit(data, PLAIN, steps=cast(int, np.int64(1)), out=place, show=False)


def test_options_that_json_turns_into_lists_are_the_same_run(squares: FactorData, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", squares.observations / 127.5 - 1)
    for value_range in ((-1, 1), [-1, 1], (-1, 1), np.array([-1, 1])):
        data = ub.data.load(tmp_path / "x.npy", value_range=value_range)
        ub.fit(data, FIRST, steps=1, out=tmp_path / "run", show=False)
    assert len(ub.Run.open(tmp_path / "run").data) == 48


class Draws(Method):
    """A method whose configuration has an annotation that no one can resolve."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def loss(self, batch: Batch, step: int) -> Terms:
        return Terms((batch.x.mean() - self.weight).square().sum())

    def updates(self) -> tuple[Update, ...]:
        return (Update("fit", self.loss, ("weight",), Adam(), 8),)


@dataclasses.dataclass(frozen=True, kw_only=True)
class DrawsConfig(MethodConfig):
    """Its configuration."""

    name = "draws"
    reconstructs = False

    def build(self, data: "Nowhere") -> "Nowhere":  # type: ignore[name-defined]  # noqa: F821
        return Draws()


def test_a_method_of_ones_own_may_be_annotated_as_it_likes(squares: FactorData, tmp_path: Path) -> None:
    run = ub.fit(squares, [DrawsConfig()], steps=2, out=tmp_path / "run", show=False)
    assert read_json(run.stage_folder(1) / "stage.json")["reconstructs"] is False


def test_fewer_labels_than_processes_are_said_before_any_is_started(squares: FactorData, tmp_path: Path) -> None:
    with pytest.raises(ub.InputError, match="cannot be shared by 2 processes"):
        ub.fit(squares, IVAE(width=0.1), steps=1, labels=1, machine=Machine("cpu", 2), out=tmp_path / "r", show=False)


def test_rows_that_are_left_out_are_counted(
    squares: FactorData, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    squares.factors[8:, 1] = np.nan
    ub.fit(squares, IVAE(width=0.1), steps=1, out=tmp_path / "run")
    assert "ivae reads labels of the 8 of 48 observations that have them all." in caplog.messages


def test_draws_on_a_cpu_are_those_of_the_global_seed() -> None:
    seed_draws(7, torch.device("cpu"))
    drawn = torch.randn(3)
    torch.manual_seed(7)
    assert torch.equal(drawn, torch.randn(3))


def test_the_learning_rate_falls_over_the_run(
    squares: FactorData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[float] = []
    step = UpdateOptimizer.step

    def watched(self: UpdateOptimizer, *arguments: object) -> None:
        seen.append(self.optimizer.param_groups[0]["lr"])
        step(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(UpdateOptimizer, "step", watched)
    falling = dataclasses.replace(FIRST, adam=Adam(lr=1e-3, end=0.2))
    ub.fit(squares, falling, steps=4, out=tmp_path / "run", show=False)
    assert seen == pytest.approx([1e-3, 0.8e-3, 0.6e-3, 0.4e-3])


def test_a_loss_that_leaves_the_numbers_stops_the_run(squares: FactorData, tmp_path: Path) -> None:
    wild = dataclasses.replace(FIRST, beta=float("inf"))
    with pytest.raises(ub.InputError, match=r"became (nan|inf|-inf) at step 1"):
        ub.fit(squares, wild, steps=3, out=tmp_path / "run", show=False)


def test_a_read_only_place_is_said(squares: FactorData, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(ub.InputError, match="cannot write"):
        ub.fit(squares, FIRST, steps=3, out=tmp_path / "file" / "run", show=False)


def test_a_full_disk_loses_nothing(squares: FactorData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    run = ub.fit(squares, FIRST, steps=3, out=tmp_path / "run", show=False)
    monkeypatch.setattr("unbraid.util.files.np.savez", full)
    with pytest.raises(ub.InputError, match="No space left on device"):
        run.encode(show=False)
    assert run.is_finished(1)
    assert not list(tmp_path.glob("run/.*.partial"))
