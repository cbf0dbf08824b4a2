"""What later stages add and keep."""

import numpy as np
import pytest
import torch

from unbraid import methods
from unbraid.chain import Chain
from unbraid.contract import check_method
from unbraid.core import DataSpec
from unbraid.data.base import Factor
from unbraid.errors import InputError
from unbraid.methods.probe import FactorProbe
from unbraid.run import fit
from unbraid.stage_measures import downstream_by_stage, identity_change, traversed_features

SPEC = DataSpec((3, 16, 16), 48, (Factor("place", 4, "categorical"),), ((0.0, 3.0),))


def test_identity_that_never_changes_scores_zero_and_one_that_always_does_scores_one() -> None:
    random = np.random.default_rng(0)
    people, poses = random.normal(size=(20, 1, 5)), random.normal(size=(1, 8, 5))
    assert float(identity_change(np.broadcast_to(people, (20, 8, 5)))) == pytest.approx(0)
    assert float(identity_change(np.broadcast_to(poses, (20, 8, 5)))) == pytest.approx(1)
    both = identity_change(people + poses)
    expected = poses.var(axis=1).sum() / (people + poses).reshape(-1, 5).var(axis=0).sum()
    assert float(both) == pytest.approx(expected)
    assert both.interval is not None
    with pytest.raises(InputError):
        identity_change(np.zeros((20, 5)))


@pytest.mark.parametrize("deaf", ["z", "c"])
def test_a_generator_deaf_to_one_variable_is_found_out(deaf: str) -> None:
    torch.manual_seed(0)
    model = methods.CGAN(width=0.1, latents=3).build(SPEC).eval()
    real = model.make
    model.make = lambda c, z: real(torch.zeros_like(c) if deaf == "c" else c, torch.zeros_like(z) if deaf == "z" else z)
    features = traversed_features(Chain([model]), lambda x: x.flatten(1), identities=12, poses=6)
    assert features.shape == (12, 6, 3 * 16 * 16)
    assert float(identity_change(features)) == pytest.approx(1.0 if deaf == "z" else 0.0, abs=1e-6)


def test_identity_of_a_chain_keeps_later_codes(squares) -> None:
    stages = [methods.Controls(width=0.1), methods.MSGAN(width=0.1)]
    chain = Chain([stage.build(SPEC).eval() for stage in stages])
    features = traversed_features(chain, lambda x: x.flatten(1), identities=5, poses=3)
    assert features.shape == (5, 3, 768)
    assert 0 < float(identity_change(features)) < 1


def test_probe_keeps_the_contract() -> None:
    check_method(FactorProbe(width=0.1, factor="shade"), processes=1)


def test_probe_refuses_what_it_cannot_read() -> None:
    with pytest.raises(InputError, match="colour"):
        FactorProbe(factor="colour").build(SPEC)


def test_downstream_accuracy_of_each_stage_and_of_both(squares, tmp_path) -> None:
    stages = [methods.VAE(width=0.1, latents=2), methods.MSVAE(width=0.1, latents=3)]
    run = fit(squares, stages, steps=2, out=tmp_path / "run", show=False)
    scores = downstream_by_stage(run, probe="linear")
    assert set(scores) == {"downstream/c", "downstream/z", "downstream/c+z"}
    assert all(0 <= float(score) <= 1 for score in scores.values())
    with pytest.raises(InputError, match="two stages"):
        downstream_by_stage(fit(squares, stages[:1], steps=2, out=tmp_path / "one", show=False))


def test_conditioning_of_a_stage_that_is_given_codes(squares, tmp_path) -> None:
    stages = [methods.VAE(width=0.1, latents=2), methods.MSVAE(width=0.1, content="codes")]
    run = fit(squares, stages, steps=2, out=tmp_path / "run", show=False)
    found = run.evaluate(["conditioning"], show=False)
    assert {f"conditioning/M{k}" for k in (1, 2, 3, 4)} <= set(found)
