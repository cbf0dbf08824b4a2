"""MS-VAE's studies at smoke scale, and what their measures mean."""

from pathlib import Path

import numpy as np
import pytest
import torch

from unbraid.api import Run
from unbraid.data import load
from unbraid.data.drawn.pendulum import RANGES, TIMES, traces
from unbraid.errors import InputError
from unbraid.methods import MSFlow
from unbraid.papers.studies import ms_vae_flow
from unbraid.papers.studies.ms_vae_pendulum import GIVEN, STUDY, inferred, moved
from unbraid.papers.study import Scale


def test_no_stage_of_the_pendulum_is_shown_the_mass() -> None:
    for scale in ("smoke", "desk", "paper"):
        for trial in STUDY.trials(scale):
            assert trial.labels is not None
            assert trial.labels.factors == GIVEN
            assert "mass" not in GIVEN


class Echo:
    """A chain whose z is the last angle of a trace, and whose output repeats what it was given."""

    chain = property(lambda self: self)

    def encode(self, x, labels):
        self.labels = labels
        last = x[:, -1:]
        return [{}, {}, {"z": type("Q", (), {"mean": last})()}]

    def decode(self, codes):
        self.codes = codes
        return [torch.zeros(len(codes[-1]["z"]), 100)] * 3


@pytest.mark.parametrize("name", list(RANGES))
def test_a_traversal_moves_one_variable_and_holds_the_rest(name: str) -> None:
    echo = Echo()
    values = np.linspace(*RANGES[name], 4)
    truth, made = moved(echo, name, values)  # type: ignore[arg-type]
    assert truth.shape == made.shape == (4, 100)
    for place, key in enumerate(GIVEN):
        column = echo.codes[place]["c"][:, 0].numpy()
        np.testing.assert_allclose(column, values if key == name else sum(RANGES[key]) / 2, rtol=1e-6)
    z = echo.codes[2]["z"][:, 0].numpy()
    assert (np.ptp(z) > 0) == (name == "mass"), "only the mass is moved through z"


def test_inferred_codes_are_those_of_the_last_stage(tmp_path: Path) -> None:
    trial = STUDY.trials("smoke")[0]
    from unbraid.api import fit
    from unbraid.papers.studies.ms_vae_pendulum import held_out

    run = fit("pendulum", trial.stages, steps=1, labels=trial.labels, out=tmp_path / "run", show=False)
    assert isinstance(run, Run)
    assert inferred(run, held_out()).shape == (500,)


def test_a_pendulum_starts_where_and_as_fast_as_asked() -> None:
    length, damping, mass = np.array([1.0, 2.0, 3.0]), 0.5, 1.0
    pushed = traces(length, damping, mass, angle=0.0, speed=3.0)
    step = TIMES[1] - TIMES[0]
    np.testing.assert_allclose(pushed[:, 0], 0.0, atol=1e-6)
    np.testing.assert_allclose(pushed[:, 1], 3.0 * step, rtol=0.1)
    data, usual = load("pendulum", n=4, angle=0.0, speed=3.0), load("pendulum", n=4)
    np.testing.assert_array_equal(data.targets["y0"]()[:, 0], 0.0)
    assert data.fingerprint != usual.fingerprint
    assert load("pendulum", **data.arguments).fingerprint == data.fingerprint  # type: ignore[arg-type]
    with pytest.raises(InputError, match="speed=nan must be finite"):
        load("pendulum", n=4, speed=float("nan"))


@pytest.mark.parametrize("scale", ["desk", "paper"])
def test_there_is_a_sample_of_y_for_every_pass(scale: Scale) -> None:
    for trial in ms_vae_flow.trials(scale):
        flow = trial.stages[1]
        assert isinstance(flow, MSFlow)
        passes = trial.steps[1] * flow.batch_size / 60_000
        assert flow.draws == (passes if flow.condition == "observation" else 1)
