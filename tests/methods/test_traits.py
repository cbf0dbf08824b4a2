"""`--likelihood auto`: what is chosen, from what, and that nothing else changes."""

import logging
from pathlib import Path

import numpy as np
import pytest

from unbraid.api import fit
from unbraid.core import DataSpec
from unbraid.data import FactorData
from unbraid.errors import InputError
from unbraid.methods import MSVAE, VAE, BetaTCVAE, InfoGAN, PartedVAE
from unbraid.methods.traits import Traits, resolve_likelihoods
from unbraid.runs.plan import Plan
from unbraid.util.files import read_json


def images(grey: int) -> FactorData:
    """Black and white halves, with as much of this grey as makes them images with shades, or nearly black."""
    pixels = np.zeros((4, 8, 8, 1), np.uint8)
    pixels[:, :4] = 255
    pixels[:, 4:] = grey
    return FactorData("images", pixels, np.zeros((4, 0)))


def vectors() -> FactorData:
    values = np.random.default_rng(0).normal(size=(12, 6)).astype(np.float32)
    return FactorData("vectors", values, np.zeros((12, 0)))


@pytest.mark.parametrize(
    ("data", "expected", "why"),
    [
        (images(20), "bernoulli", "Bernoulli, because the images are black and white"),
        (images(90), "gaussian-optimal", "Gaussian whose scale follows the error, because the images have shades"),
        (vectors(), "gaussian-optimal", "Gaussian whose scale follows the error, because the values are measurements"),
    ],
)
def test_the_data_tell_the_likelihood(data: FactorData, expected: str, why: str) -> None:
    plan = Plan.check(data, [VAE(likelihood="auto"), MSVAE(likelihood="auto")], [1, 1], 0)
    assert [config.likelihood for config, _ in plan.stages] == [expected, expected]  # type: ignore[attr-defined]
    assert plan.notes == (f"likelihood: {why}",)
    assert plan == Plan.check(data, [VAE(likelihood=expected), MSVAE(likelihood=expected)], [1, 1], 0)  # type: ignore[arg-type]


def test_a_second_stage_that_makes_no_logits_has_no_bernoulli() -> None:
    fast = MSVAE.fast(likelihood="auto")
    (first, second), _ = resolve_likelihoods([VAE(likelihood="auto"), fast], images(20))
    assert (first.likelihood, second.likelihood) == ("bernoulli", "gaussian-optimal")  # type: ignore[attr-defined]


def test_a_likelihood_that_was_named_stays_and_nothing_is_said() -> None:
    configs = [VAE(likelihood="laplace"), InfoGAN()]
    assert resolve_likelihoods(configs, vectors()) == (configs, [])


def test_the_choice_is_printed_and_recorded(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "unbraid"):
        run = fit(vectors(), VAE(likelihood="auto", width=0.02, latents=2), steps=1, out=tmp_path / "run")
    assert "likelihood: Gaussian whose scale follows the error, because the values are measurements." in caplog.text
    assert read_json(run.folder / "config.json")["stages"][0]["options"]["likelihood"] == "gaussian-optimal"


def test_a_method_by_its_name_has_options_for_the_data(tmp_path: Path) -> None:
    run = fit(vectors(), "beta-vae", steps=1, out=tmp_path / "run", show=False)
    config = run.config(1)
    assert (config.likelihood, config.beta) == ("gaussian-optimal", 1.0)  # type: ignore[attr-defined]


@pytest.mark.parametrize("config", [BetaTCVAE(likelihood="auto"), PartedVAE(likelihood="auto", classes=(2,))])
def test_a_model_cannot_be_built_before_the_choice(config: BetaTCVAE | PartedVAE) -> None:
    with pytest.raises(InputError, match="auto is chosen from the data when a run is planned"):
        config.build(DataSpec((6,), 12))


def test_traits_of_vectors_are_their_shape() -> None:
    assert Traits.of(vectors()) == Traits((6,))
