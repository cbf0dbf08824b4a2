"""The loop against a few lines of NumPy: rates, steps, batches and players of a whole training, weight by weight."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import cos, pi
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from unbraid.core import Adam, Batch, DataSpec, Method, MethodConfig, Stream, Terms, Update
from unbraid.data.factor_data import Factor
from unbraid.data.pairs import Pairs
from unbraid.training.batches import BatchSource, TrainingData, as_network_input, as_stored
from unbraid.training.contract import local_fabric, small_images
from unbraid.training.loop import Job, UpdateOptimizer, average_gradients, learn_prior, train
from unbraid.training.machine import Machine
from unbraid.util.tensors import read_tensors

LEFT = Adam(lr=0.1, beta1=0.6, beta2=0.8, eps=1e-3, end=0.2, schedule="cosine", warmup=2, decay=0.3)
RIGHT = Adam(lr=0.2, beta1=0.5, beta2=0.9, eps=1e-2, end=0.5)
STEPS, REPEATS, SIZE = 5, 2, 16
SLOPES = np.array([[1.0, -2.0], [0.5, 3.0]])  # of the left and of the right weights


@dataclass(frozen=True, kw_only=True)
class Tug(MethodConfig):
    """Two players whose losses pull at both pairs of weights, as strongly as the step is late."""

    name: ClassVar[str] = "tug"

    def build(self, data: DataSpec) -> "TugModel":
        return TugModel()


class TugModel(Method):
    """What is asked of it is written down in `asked` and `adjusted`."""

    asked: ClassVar[list[tuple[str, int, tuple[int, ...]]]] = []
    adjusted: ClassVar[list[int]] = []

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Parameter(torch.ones(2)), nn.Parameter(-torch.ones(2))

    def loss_of(self, name: str, batch: Batch, step: int) -> Terms:
        self.asked.append((name, step, tuple(batch.index.tolist())))
        both = torch.stack((self.left, self.right)).double() * torch.from_numpy(SLOPES)
        return Terms((step + 1.0) * both.sum().float())

    def updates(self) -> tuple[Update, ...]:
        def left(batch: Batch, step: int) -> Terms:
            return self.loss_of("left", batch, step)

        def right(batch: Batch, step: int) -> Terms:
            return self.loss_of("right", batch, step)

        return (
            Update("left", left, ("left",), LEFT, SIZE, repeats=REPEATS),
            Update("right", right, ("right",), RIGHT, SIZE),
        )

    def adjusts(self, step: int, steps: int) -> bool:
        return step == 3 and steps == STEPS

    def adjust(self, x: Tensor) -> None:
        self.adjusted.append(len(self.asked))


def rate(adam: Adam, step: int) -> float:
    progress = step / STEPS
    fallen = progress if adam.schedule == "linear" else 0.5 * (1 - cos(pi * progress))
    warm = min(1.0, (step + 1) / adam.warmup) if adam.warmup else 1.0
    return warm * adam.lr * (1 - (1 - adam.end) * fallen)


def by_hand(adam: Adam, start: float, slope: np.ndarray, repeats: int) -> np.ndarray:
    """AdamW (Loshchilov & Hutter 2019, algorithm 2)."""
    weight, mean, square, count = np.full(2, start), np.zeros(2), np.zeros(2), 0
    for step in range(STEPS):
        for _ in range(repeats):
            count += 1
            gradient = (step + 1) * slope
            mean = adam.beta1 * mean + (1 - adam.beta1) * gradient
            square = adam.beta2 * square + (1 - adam.beta2) * gradient**2
            way = (mean / (1 - adam.beta1**count)) / (np.sqrt(square / (1 - adam.beta2**count)) + adam.eps)
            weight = weight - rate(adam, step) * (way + adam.decay * weight)
    return weight


def test_a_training_is_adamw_with_its_rates_steps_batches_and_players(tmp_path: Path) -> None:
    TugModel.asked.clear()
    TugModel.adjusted.clear()
    data = small_images()
    source = TrainingData(data, np.empty((len(data), 0)), factors=())
    train(Job(Tug(), source, STEPS, 7, "key", tmp_path), Machine("cpu"), show=False)
    weights = read_tensors(tmp_path / "weights.safetensors")[0]
    np.testing.assert_allclose(weights["left"], by_hand(LEFT, 1.0, SLOPES[0], REPEATS), rtol=1e-5)
    np.testing.assert_allclose(weights["right"], by_hand(RIGHT, -1.0, SLOPES[1], 1), rtol=1e-5)
    assert [(name, step) for name, step, _ in TugModel.asked] == [
        (name, step) for step in range(STEPS) for name in ("left", "left", "right")
    ]
    assert TugModel.adjusted == [3 * (REPEATS + 1)]  # before the fourth step
    left = [rows for name, _, rows in TugModel.asked if name == "left"]
    for epoch in range(3):  # three batches go through all rows once, in an order of their own
        seen = np.concatenate(left[3 * epoch : 3 * epoch + 3])
        assert sorted(seen) == list(range(48))
    assert left[:3] != left[3:6]


def test_a_step_leaves_no_slopes_in_the_other_players_weights() -> None:
    method, fabric = TugModel(), local_fabric()
    for update, other in zip(method.updates(), ("right", "left"), strict=True):
        player = UpdateOptimizer(update, method, fabric)
        batch = Batch(torch.zeros(1, 2), torch.zeros(1), torch.zeros(1, 0))
        getattr(method, other).grad = None
        player.step(fabric, update.loss(batch, 0))
        assert getattr(method, other).grad is None


def test_gradients_of_several_processes_are_averaged_each_in_its_place() -> None:
    class Two:
        """Where the other process has gradients of 1."""

        def all_reduce(self, mine: Tensor, reduce_op: str) -> Tensor:
            return {"sum": mine + 1, "mean": (mine + 1) / 2}[reduce_op]

    weights = [nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(1, 3)), nn.Parameter(torch.zeros(4))]
    weights[0].grad, weights[1].grad = torch.tensor([3.0, 5.0]), torch.tensor([[7.0, 9.0, 11.0]])
    average_gradients(Two(), weights)  # type: ignore[arg-type]
    assert weights[0].grad.tolist() == [2.0, 3.0]
    assert weights[1].grad.tolist() == [[4.0, 5.0, 6.0]]
    assert weights[2].grad is None


@pytest.mark.parametrize("batch_size", [5, 8])
def test_the_y_of_a_batch_is_one_of_the_draws_for_each_of_its_rows(batch_size: int) -> None:
    data, draws = small_images(), 3
    names = np.arange(draws * len(data), dtype=np.float32)
    codes = np.stack([names, -names], axis=1)
    source = TrainingData(data, np.empty((len(data), 0)), names[:, None], codes, factors=())
    batches = BatchSource(source, seed=1, device=torch.device("cpu"))
    seen = set()
    for draw in range(30):
        batch = batches.batch("vae", "train", batch_size, draw)
        assert batch.y is not None
        assert batch.codes is not None
        taken = batch.y[:, 0] - batch.index
        assert len(set(taken.tolist())) == 1  # one draw for the whole batch
        assert torch.equal(batch.codes, torch.cat([batch.y, -batch.y], dim=1))
        seen.add(int(taken[0]))
    assert seen == {0, 48, 96}


@pytest.mark.parametrize(("batch_size", "labelled"), [(6, 48), (8, 48), (48, 48), (100, 48), (8, 20), (8, 3)])
def test_an_observation_meets_the_next_y_in_every_pass(batch_size: int, labelled: int) -> None:
    """Batches that fit into their rows a whole number of times: of two halves those without labels."""
    data, draws = small_images(), 3
    y = np.repeat(np.arange(draws, dtype=np.float32), len(data))[:, None]  # says which draw it is
    labels = np.zeros((len(data), 1))
    labels[labelled:] = np.nan
    batches = BatchSource(
        TrainingData(data, labels, y, factors=(Factor("a", size=2),)), seed=1, device=torch.device("cpu")
    )
    stream: Stream = "train" if labelled == 48 else "half-labelled"
    met: dict[int, list[float]] = {row: [] for row in range(0 if labelled == 48 else labelled, 48)}
    for draw in range(50):
        batch = batches.batch("vae", stream, batch_size, draw)
        assert batch.y is not None
        for row, seen in zip(batch.index.tolist(), batch.y[:, 0].tolist(), strict=True):
            if row in met:
                met[row].append(seen)
    assert min(map(len, met.values())) > draws
    for seen in met.values():
        assert seen == [float(number % draws) for number in range(len(seen))]


def test_bytes_become_numbers_from_0_to_1_and_come_back_as_the_nearest() -> None:
    pixels = torch.arange(256, dtype=torch.uint8).reshape(1, 16, 16, 1)
    x = as_network_input(pixels, torch.device("cpu"))
    assert x.shape == (1, 1, 16, 16)
    np.testing.assert_allclose(x.flatten().numpy(), np.arange(256) / 255, rtol=1e-6)
    assert (as_stored(x) == pixels.numpy()).all()
    between = torch.tensor([0.4, 0.6, 254.4, 254.6, -3.0, 300.0]).reshape(1, 1, 2, 3) / 255
    assert as_stored(between).flatten().tolist() == [0, 1, 254, 255, 0, 255]
    vectors = torch.tensor([[0.25, -7.0]])
    assert as_stored(vectors).tolist() == as_network_input(vectors, torch.device("cpu")).tolist() == [[0.25, -7.0]]


def test_half_of_a_batch_has_labels_and_half_has_none() -> None:
    data = small_images()
    labels = data.factors.copy()
    labels[10:, :] = np.nan
    labels[3, 0] = np.nan
    source = TrainingData(data, labels)
    batches = BatchSource(source, seed=1, device=torch.device("cpu"))
    for size, known in ((8, 4), (9, 4), (40, 10)):  # ten rows have a label
        index = batches.batch("vae", "half-labelled", size, 3).index
        assert len(index) == size
        assert (index[:known] < 10).all()
        assert (index[known:] >= 10).all()
        assert len(set(index.tolist())) == size
    assert source.spec.labelled == 10
    assert source.spec.size == 48
    assert source.labelled_rows.tolist() == [0, 1, 2, 4, 5, 6, 7, 8, 9]


def test_processes_share_a_batch_and_each_row_keeps_its_partner() -> None:
    data = small_images()
    source = TrainingData(data, np.empty((len(data), 0)), factors=())
    pairs = Pairs(kind="next")
    whole = BatchSource(source, seed=1, device=torch.device("cpu")).batch("vae", "train", 9, 2, pairs)
    parts = [
        BatchSource(source, seed=1, device=torch.device("cpu"), rank=rank, world=2).batch("vae", "train", 9, 2, pairs)
        for rank in (0, 1)
    ]
    assert sorted(torch.cat([part.index for part in parts]).tolist()) == sorted(whole.index.tolist())
    x = torch.from_numpy(data.observations).permute(0, 3, 1, 2) / 255
    for part in (whole, *parts):
        assert part.pair is not None
        torch.testing.assert_close(part.x, x[part.index])
        torch.testing.assert_close(part.pair, x[(part.index + 1).clamp(max=47)])


class Remembers(TugModel):
    """It learns a prior of a few rows, and writes down how it was asked to."""

    prior_rows = 5

    def fit_prior(self, x_and_y: Iterator[tuple[Tensor, Tensor]]) -> None:
        self.rows = [(x, y, self.training, torch.is_grad_enabled()) for x, y in x_and_y]

    def draw_given(self, y: Tensor) -> dict[str, Tensor]:
        return {"z": y}


def test_a_prior_is_learned_from_some_rows_and_their_y_as_they_are_after_training() -> None:
    data = small_images()
    y = np.minimum(data.observations, 100)
    batches = BatchSource(TrainingData(data, np.empty((48, 0)), y, factors=()), seed=1, device=torch.device("cpu"))
    method = Remembers().train()
    learn_prior(method, batches, 1)
    x_seen, y_seen = torch.cat([x for x, *_ in method.rows]), torch.cat([y for _, y, *_ in method.rows])
    assert len(x_seen) == 5
    torch.testing.assert_close(y_seen, x_seen.clamp(max=100 / 255))
    assert {part[2:] for part in method.rows} == {(False, False)}
    assert method.training
    method.prior_rows = 0
    method.rows.clear()
    learn_prior(method, batches, 1)
    assert method.rows == []
