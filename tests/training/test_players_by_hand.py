"""What each update is given beside its batch: draws of its own, its own parameters; and what comes after training."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from unbraid.core import Adam, Batch, DataSpec, Method, MethodConfig, Terms, Update
from unbraid.data.own.arrays import from_arrays
from unbraid.training import loop
from unbraid.training.batches import TrainingData
from unbraid.training.contract import batch_source, local_fabric, small_images
from unbraid.training.loop import Job, UpdateOptimizer, named_parameters, train, training_step
from unbraid.training.machine import Machine
from unbraid.training.watching import Watched
from unbraid.util.tensors import read_tensors


class Draws(Method):
    """Two players that draw a number each; the second does so twice in a step, and pulls as the step is late."""

    drawn: ClassVar[list[tuple[str, int, float]]] = []
    prior_rows = 4
    learned: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.critic, self.critic_head = nn.Linear(2, 1), nn.Linear(1, 1)
        self.critical = nn.Parameter(torch.ones(1))
        self.register_buffer("learned", torch.zeros(1))

    def loss_of(self, name: str, batch: Batch, step: int) -> Terms:
        self.drawn.append((name, step, torch.rand(()).item()))
        value = (step + 1) * self.critical.sum() + 0 * self.critic(torch.zeros(1, 2)).sum()
        rows = batch.index.double().mean().float()
        return Terms(value, error=value, rows=lambda: rows)

    def updates(self) -> tuple[Update, ...]:
        def first(batch: Batch, step: int) -> Terms:
            return self.loss_of("first", batch, step)

        def second(batch: Batch, step: int) -> Terms:
            return self.loss_of("second", batch, step)

        slow = Adam(lr=0.1)
        return (
            Update("first", first, ("critical",), slow, 4),
            Update("second", second, ("critic", "critical"), slow, 4, repeats=2),
        )

    def fit_prior(self, x_and_y: Iterator[tuple[Tensor, Tensor]]) -> None:
        self.learned.copy_(self.critical)

    def draw_given(self, y: Tensor) -> dict[str, Tensor]:
        return {"z": y}


@dataclass(frozen=True, kw_only=True)
class Drawing(MethodConfig):
    """Makes it."""

    name: ClassVar[str] = "drawing"

    def build(self, data: DataSpec) -> Draws:
        return Draws()


def source(rows: int = 48) -> TrainingData:
    data = small_images()
    held_out = np.arange(rows, len(data))
    return TrainingData(data, np.empty((len(data), 0)), data.observations, factors=(), held_out=held_out)


def test_every_update_of_every_step_draws_anew() -> None:
    """Two players that drew alike would see the same noise: a critic must not know what a generator will draw."""
    Draws.drawn.clear()
    method, fabric = Draws(), local_fabric()
    optimizers = [UpdateOptimizer(update, method, fabric) for update in method.updates()]
    for step in range(3):
        training_step(fabric, method, optimizers, batch_source(source()), 7, step)
    assert [(name, step) for name, step, _ in Draws.drawn] == [
        (name, step) for step in range(3) for name in ("first", "second", "second")
    ]
    assert len({number for *_, number in Draws.drawn}) == 9


def test_an_update_trains_what_it_names_and_nothing_that_is_called_alike() -> None:
    method = Draws()
    first, second = method.updates()
    assert named_parameters(method, second)[0] == ["critical", "critic.weight", "critic.bias"]
    assert named_parameters(method, first)[0] == ["critical"]


def test_a_prior_is_learned_with_the_averaged_weights_that_are_kept(tmp_path: Path) -> None:
    train(Job(Drawing(average=0.9), source(), 6, 7, "key", tmp_path), Machine("cpu"), show=False)
    weights = read_tensors(tmp_path / "weights.safetensors")[0]
    assert weights["learned"].item() == weights["critical"].item()
    assert weights["critical"].item() < 1


def test_figures_of_held_out_rows_are_means_over_batches_at_the_same_step() -> None:
    whole = source(24)
    rest = TrainingData(whole.data, whole.labels, whole.y, factors=(), held_out=whole.seen_rows)
    method = Draws()
    with torch.no_grad():
        method.critical.fill_(3.0)
    figures = Watched(batch_source(whole), rest).figures(local_fabric(), method, 4)
    assert figures["first/held_out/total"] == 15.0
    assert figures["second/held_out/error"] == 15.0
    assert 24 <= figures["first/held_out/rows"] < 48


def test_what_a_method_may_know_of_labels() -> None:
    """Least and greatest, the mean and the shares of those that are known, row by row."""
    data = small_images()
    labels = np.full((len(data), 2), np.nan)
    labels[:4, 0], labels[2:5, 1] = [0.0, 0.0, 0.0, 3.0], [1.0, 2.0, 2.0]
    spec = TrainingData(data, labels, factors=data.factor_info[:2]).spec
    assert spec.means == (0.75, 5 / 3)
    assert spec.ranges == ((0.0, 3.0), (1.0, 2.0))
    assert spec.labelled == 5
    assert [round(share, 4) for share in spec.shares[0]] == [0.75, 0.0, 0.0, 0.25]
    assert [round(share, 4) for share in spec.shares[1]] == [0.0, 0.3333, 0.6667]


def test_a_batch_of_two_has_one_row_with_labels_and_one_without() -> None:
    data = small_images()
    labels = data.factors.copy()
    labels[10:] = np.nan
    index = batch_source(TrainingData(data, labels)).batch("vae", "half-labelled", 2, 0).index
    assert index[0] < 10 <= index[1]


def test_a_method_is_told_of_counts() -> None:
    data = from_arrays(np.arange(12.0).reshape(4, 3), kind="counts")
    spec = TrainingData(data, np.empty((4, 0)), factors=()).spec
    assert spec.counts is data.counts is not None


def test_an_infinite_gradient_is_no_error() -> None:
    """Half precision meets one now and then, and skips the step."""
    method, fabric = Draws(), local_fabric()
    (update, _) = method.updates()
    clipped = UpdateOptimizer(replace(update, optimizer=Adam(lr=0.1, clip=1.0)), method, fabric)
    clipped.step(fabric, Terms(torch.inf * method.critical.sum()))


@pytest.mark.parametrize("devices", [1, 3])
def test_one_device_trains_here_and_several_in_processes_of_their_own(
    devices: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(loop, "Fabric", lambda **options: asked.append(options))
    monkeypatch.setattr(loop, "launch", lambda fabric, run: asked.append("launched"))
    monkeypatch.setattr(loop, "_run", lambda *given: asked.append("here"))
    train(Job(Drawing(), source(), 6, 7, "key", tmp_path), Machine("cpu", devices=devices), show=False)
    where = {"accelerator": "cpu", "devices": devices, "precision": "32-true"}
    expected = [{**where, "strategy": "auto"}, "here"], [{**where, "strategy": "ddp_spawn"}, "launched"]
    assert asked == expected[devices > 1]


def test_the_first_step_is_logged_and_then_every_so_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "log_interval", lambda steps: 3)
    train(Job(Drawing(), source(), 7, 7, "key", tmp_path), Machine("cpu"), show=False)
    lines = (tmp_path / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [1, 3, 6]


def test_a_method_without_a_title_is_called_by_its_name() -> None:
    class Titled(Drawing):
        name: ClassVar[str] = "titled"
        title: ClassVar[str] = "With a title"

    assert (Drawing.title, Titled.title) == ("drawing", "With a title")


def test_a_label_that_is_missing_is_no_number() -> None:
    data = small_images()
    labels = data.factors.copy()
    labels[::3, 0], labels[10:20] = np.nan, np.nan
    batches = batch_source(TrainingData(data, labels))
    for stream in ("train", "partly-labelled", "half-labelled"):
        batch = batches.batch("vae", stream, 12, 1)
        np.testing.assert_array_equal(batch.factors.numpy(), labels[batch.index].astype(np.float32))
