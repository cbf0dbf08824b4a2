"""The loop's means: schedules, clipping, averaged weights, precision by measurement."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from unbraid import methods
from unbraid.api import fit
from unbraid.cli.main import main
from unbraid.core import Adam, Batch, Method, Terms, Update
from unbraid.errors import InputError
from unbraid.training import precision
from unbraid.training.averaging import WeightAverage
from unbraid.training.checkpoint import kept
from unbraid.training.contract import job, local_fabric, small_images, training_data
from unbraid.training.loop import UpdateOptimizer, build
from unbraid.training.machine import Machine
from unbraid.util.schema import digest
from unbraid.util.tensors import read_tensors

SMALL = methods.VAE(width=0.1, latents=2)


def test_a_cosine_starts_at_the_rate_is_half_way_in_the_middle_and_ends_at_its_part() -> None:
    falling = Adam(lr=2.0, end=0.02, schedule="cosine")
    assert [falling.rate(progress) for progress in (0, 0.5, 1)] == pytest.approx([2.0, 1.02, 0.04])
    assert falling.rate(0.25) == pytest.approx(2 * (0.02 + 0.98 * (1 + np.sqrt(0.5)) / 2))


def test_a_warm_up_rises_on_a_line_and_multiplies_what_falls() -> None:
    rising = Adam(lr=2.0, warmup=4)
    assert [rising.rate(step / 100, step) for step in (0, 1, 3, 4, 50)] == pytest.approx([0.5, 1.0, 2.0, 2.0, 2.0])
    assert Adam(lr=2.0, warmup=4, end=0.0).rate(0.1, 1) == pytest.approx(0.5 * 2 * 0.9)


def test_settings_that_are_none_are_refused() -> None:
    for name, wrong in (("warmup", Adam(warmup=-1)), ("clip", Adam(clip=-0.5))):
        with pytest.raises(InputError, match=rf"--adam\.{name} of vae must be at least 0, not -"):
            fit(small_images(), methods.VAE(adam=wrong), steps=1)
    with pytest.raises(InputError, match="--average of vae must be at least 0 and less than 1, not 1"):
        fit(small_images(), methods.VAE(average=1.0), steps=1)


@pytest.mark.parametrize(
    ("config", "key"),
    [
        (methods.BetaTCVAE(), "e9a895728fc8a99fac9e"),
        (methods.MSVAE(), "3ded2c63fc6f8fcdf0e3"),
        (methods.IVAE(), "49ef6d5ea09206536380"),
        (methods.MSGAN(), "4fa6707f3004e32cb351"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_at_their_defaults_they_leave_older_keys_as_they_were(config, key: str) -> None:
    assert digest(config) == key


class Slope(Method):
    """A loss with the gradient (3, 4) at every point."""

    def __init__(self, adam: Adam) -> None:
        super().__init__()
        self.adam, self.place = adam, nn.Parameter(torch.zeros(2))

    def loss(self, batch: Batch | None, step: int) -> Terms:
        return Terms((self.place * torch.tensor([3.0, 4.0])).sum())

    def updates(self) -> tuple[Update, ...]:
        return (Update("down", self.loss, ("place",), self.adam, 1),)


@pytest.mark.parametrize(("clip", "expected"), [(0.0, [3.0, 4.0]), (1.0, [0.6, 0.8]), (7.0, [3.0, 4.0])])
def test_longer_gradients_are_shortened(clip: float, expected: list[float]) -> None:
    method, fabric = Slope(Adam(clip=clip)), local_fabric()
    player = UpdateOptimizer(method.updates()[0], method, fabric)
    player.step(fabric, method.loss(None, 0))
    assert method.place.grad is not None
    np.testing.assert_allclose(method.place.grad.numpy(), expected, rtol=1e-5)


def test_the_average_forgets_its_start_and_then_decays_as_asked() -> None:
    method = Slope(Adam())
    average = WeightAverage(method, 0.5)
    expected = 0.0
    for step, value in enumerate([2.0, 6.0, 1.0]):
        method.place.data.fill_(value)
        average.update(step)
        decay = min(0.5, (1 + step) / (10 + step))
        expected = decay * expected + (1 - decay) * value
    assert average.weights["place"].tolist() == pytest.approx([expected] * 2)
    average.update(1000)
    assert average.weights["place"].tolist() == pytest.approx([(expected + 1) / 2] * 2)
    with average.in_place():
        assert method.place.tolist() == pytest.approx([(expected + 1) / 2] * 2)
    assert method.place.tolist() == [1.0, 1.0]


def test_the_finished_weights_are_the_average_of_those_after_each_step(tmp_path: Path) -> None:
    data, steps = small_images(), (1, 2, 3)
    plain = fit(data, SMALL, steps=3, out=tmp_path / "plain", machine=Machine("cpu", keep=steps), show=False)
    averaged = methods.VAE(width=0.1, latents=2, average=0.15)
    run = fit(data, averaged, steps=3, out=tmp_path / "mean", machine=Machine("cpu", keep=(2,)), show=False)
    start = build(job(SMALL, training_data(SMALL, data), seed=0), torch.device("cpu")).state_dict()
    after = [read_tensors(path)[0] for path in kept(plain.stage_folder(1)).values()]
    finished = read_tensors(run.stage_folder(1) / "weights.safetensors")[0]
    in_between = read_tensors(kept(run.stage_folder(1))[2])[0]
    for name, mean in start.items():
        means = []
        for step, weights in enumerate(after):
            decay = min(0.15, (1 + step) / (10 + step))
            mean = decay * mean + (1 - decay) * weights[name]
            means.append(mean)
        torch.testing.assert_close(in_between[name], means[1])
        torch.testing.assert_close(finished[name], means[2])


def auto(folder: Path) -> dict[str, object]:
    """A run in a folder of its own: one beside it would be reused."""
    run = fit(small_images(), SMALL, steps=2, out=folder / "run", machine=Machine("cpu", precision="auto"), show=False)
    return json.loads((run.stage_folder(1) / "stage.json").read_text())


def test_the_faster_precision_is_used_and_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for half, chosen in ((0.5, "bf16-mixed"), (0.95, "32-true")):
        monkeypatch.setattr(precision, "step_seconds", lambda *_, half=half: {"32-true": 1.0, "bf16-mixed": half})
        assert auto(tmp_path / chosen)["precision"] == chosen
        assert json.loads((tmp_path / chosen / "run" / "stage-1" / "precision.json").read_text())["precision"] == chosen


def test_a_run_that_goes_on_keeps_the_precision_that_it_began_with(tmp_path: Path) -> None:
    one = job(SMALL, training_data(SMALL, small_images()))
    begun = type(one)(one.config, one.data, one.steps, one.seed, one.key, tmp_path)
    record = {"key": one.key, "precision": "bf16-mixed", "seconds_per_step": {}}
    (tmp_path / "precision.json").write_text(json.dumps(record))
    assert precision.with_precision(begun, Machine("cpu", precision="auto")).precision == "bf16-mixed"
    assert precision.with_precision(begun, Machine("cpu")).precision == "32-true"


def test_measuring_changes_nothing_of_what_is_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = precision.step_seconds

    def measured(*given) -> dict[str, float]:
        times = real(*given)
        assert set(times) == {"32-true", "bf16-mixed"}
        assert min(times.values()) > 0
        return {"32-true": 1.0, "bf16-mixed": 1.0}

    monkeypatch.setattr(precision, "step_seconds", measured)
    torch.manual_seed(3)
    before = torch.get_rng_state()
    precision.step_seconds(job(SMALL, training_data(SMALL, small_images())), Machine("cpu"))
    assert torch.equal(torch.get_rng_state(), before)
    auto(tmp_path / "auto")
    fit(small_images(), SMALL, steps=2, out=tmp_path / "named" / "run", machine=Machine("cpu"), show=False)
    weights = [(tmp_path / name / "run" / "stage-1" / "weights.safetensors").read_bytes() for name in ("auto", "named")]
    assert weights[0] == weights[1]


def test_idle_threads_sleep_unless_the_user_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    main(["--version"])
    assert os.environ["OMP_WAIT_POLICY"] == "passive"
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    main(["--version"])
    assert os.environ["OMP_WAIT_POLICY"] == "active"
