"""What later stages add and keep."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from unbraid import methods
from unbraid.api import Run, fit
from unbraid.core import DataSpec, MethodConfig
from unbraid.data.factor_data import Factor
from unbraid.errors import InputError
from unbraid.evaluation.conditioning import conditioning_scores
from unbraid.evaluation.evaluate import possible
from unbraid.evaluation.identity import traversed_features
from unbraid.evaluation.measure import MeasureOptions
from unbraid.evaluation.pictures import write_pictures
from unbraid.evaluation.reconstruction import outputs
from unbraid.evaluation.table import steering_table
from unbraid.methods.labelled.probe import FactorProbe
from unbraid.metrics import downstream_by_stage, identity_change
from unbraid.runs.chain import Chain
from unbraid.training.contract import check_method, small_images

SPEC = DataSpec((3, 16, 16), 48, (Factor("place", 4, "categorical"),), ((0.0, 3.0),))

MEASURES = ("conditioning", "downstream_by_stage", "identity_change")


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
    model: Any = methods.CGAN(width=0.1, latents=3).build(SPEC).eval()
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
    in_pieces = traversed_features(chain, lambda x: x.flatten(1), identities=5, poses=3, batch=4)
    np.testing.assert_allclose(in_pieces, features, atol=1e-6)
    assert 0 < float(identity_change(features)) < 1


def test_probe_keeps_the_contract() -> None:
    check_method(FactorProbe(width=0.1, factor="shade"), processes=1)


def test_probe_refuses_what_it_cannot_read() -> None:
    with pytest.raises(InputError, match="colour"):
        FactorProbe(factor="colour").build(SPEC)


def trained(stages: Sequence[MethodConfig], folder: Path) -> Run:
    return fit(small_images(), stages, steps=2, out=folder / "run", show=False)


@pytest.fixture(scope="module")
def chain_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A chain of two stages that encode, decode and have priors."""
    stages = [methods.VAE(width=0.1, latents=2), methods.MSVAE(width=0.1, latents=3)]
    return trained(stages, tmp_path_factory.mktemp("chain"))


def measures_of(run: Run) -> list[str]:
    return [name for name in possible(run, MeasureOptions()) if name in MEASURES]


def test_stages_that_know_one_factor_each_know_both_together() -> None:
    factors = np.random.default_rng(0).integers(4, size=(900, 3))
    factors[:, 2] = 1  # a factor that never varies asks for nothing
    c, z = np.eye(4)[factors[:, 0]], np.eye(4)[factors[:, 1]]
    found = downstream_by_stage(c, z, factors, names=["one", "other", "still"], probe="linear")
    assert list(found) == ["c", "z", "c+z"]
    assert float(found["c+z"]) == pytest.approx(1, abs=0.02)
    assert found["c"].details["per_factor"]["one"] == pytest.approx(1, abs=0.02)
    assert found["c"].details["per_factor"]["other"] < 0.4
    assert found["z"].details["per_factor"]["other"] == pytest.approx(1, abs=0.02)
    with pytest.raises(InputError, match="two known values"):
        downstream_by_stage(c, z, factors[:, 2:])


def test_a_run_of_two_stages_is_scored_by_name(chain_run: Run) -> None:
    assert set(measures_of(chain_run)) == set(MEASURES)
    found = chain_run.evaluate(["downstream_by_stage", "identity_change"], images=64, show=False)
    names = {"downstream_by_stage/c", "downstream_by_stage/z", "downstream_by_stage/c+z", "identity_change"}
    assert set(found) == names | {"_"}
    assert all(0 <= found[name]["value"] <= 1 for name in names)
    assert set(found["downstream_by_stage/z"]["details"]["per_factor"]) == {"place", "shade"}
    details = found["identity_change"]["details"]
    assert (details["identities"], details["poses"], details["moved"]) == (4, 16, ["z"])
    page = chain_run.report().read_text(encoding="utf-8")
    assert all(f'data-metric="{name}"' in page for name in names)
    assert "Downstream, C and Z" in page


def test_identity_is_judged_by_the_network_that_is_given_and_the_score_says_so(
    chain_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def score(inception: Path | None) -> dict[str, object]:
        found = chain_run.evaluate(["identity_change"], images=32, show=False, inception=inception)
        return {"value": found["identity_change"]["value"], "features": found["identity_change"]["details"]["features"]}

    seen: list[int] = []

    def network(images: torch.Tensor) -> torch.Tensor:
        seen.append(len(images))
        return images.mean((2, 3))

    monkeypatch.setattr("unbraid.evaluation.inception.load_network", lambda path: (network, "a stand-in"))
    file = tmp_path / "inception.pt"
    file.write_bytes(b"")
    assert score(None)["features"] == "pixels"
    by_network = score(file)
    assert (by_network["features"], sum(seen)) == ("inception", 32)
    assert score(None) == by_network, "the better judgement stays"
    assert score(file) == by_network
    assert sum(seen) == 32, "and is not made twice"


def test_what_a_run_does_not_allow_is_left_out_of_all_and_refused_by_name(chain_run: Run, tmp_path: Path) -> None:
    one = trained([methods.VAE(width=0.1, latents=2)], tmp_path / "one")
    assert measures_of(one) == []
    for name in MEASURES:
        with pytest.raises(InputError, match=rf"^{name} .*this run has (one stage|no others)\.$"):
            one.evaluate([name], show=False)
    deaf = trained([methods.VAE(width=0.1, latents=2), methods.MSGAN(width=0.1)], tmp_path / "gan")
    assert "downstream_by_stage" not in measures_of(deaf)
    with pytest.raises(InputError, match="no later stage of this run has an encoder"):
        deaf.evaluate(["downstream_by_stage"], show=False)
    student = trained([methods.VAE(width=0.1, latents=2), methods.JacobianSupervision(width=0.1)], tmp_path / "student")
    with pytest.raises(InputError, match="JacobianSupervisionModel has no prior"):
        student.evaluate(["identity_change"], show=False)
    for name in ("conditioning", "downstream_by_stage"):
        with pytest.raises(InputError, match=rf"^{name} .* jacobian has codes of its own in their place"):
            student.evaluate([name], show=False)


def test_a_student_is_scored_by_its_own_codes(tmp_path: Path) -> None:
    run = trained([methods.VAE(width=0.1, latents=2), methods.JacobianSupervision(width=0.1)], tmp_path)
    table = run.encode(show=False)
    own = steering_table(run, table).codes
    student: Any = run.stage(2)
    found = student.encode(run.observations(table.rows))["c"].mean.numpy()
    np.testing.assert_allclose(own, found, atol=1e-5)
    assert not np.allclose(own, table.codes)
    moved = np.load(write_pictures(run))
    assert "traversal/1/1" in moved
    assert "traversal/1/2" not in moved, "what a teacher's codes do to its student: nothing"
    assert "traversal/2/2" in moved


@pytest.mark.parametrize("later", [methods.MSGAN(width=0.1), methods.MSFlow(width=0.02, transforms=2)])
def test_what_gans_and_flows_make_is_a_draw_and_not_scored_as_a_reconstruction(later: MethodConfig, tmp_path) -> None:
    run = trained([methods.VAE(width=0.1, latents=2), later], tmp_path)
    rows = np.arange(4)
    (y, made), (y_again, made_again) = (run.chain.reconstruct(run.observations(rows)) for _ in range(2))
    assert torch.equal(y, y_again)
    assert not torch.equal(made, made_again), "z is drawn"
    np.testing.assert_array_equal(outputs(run, rows, False)[-1], outputs(run, rows, False)[-1])
    found = run.evaluate(["l1", "l2"], show=False)
    assert {name for name in found if name.endswith(("l1", "l2"))} == {"stage-1/l1", "stage-1/l2"}
    alone = trained([methods.CGAN(width=0.1)], tmp_path / "alone")
    assert not {"l1", "l2"} & set(possible(alone, MeasureOptions()))
    with pytest.raises(InputError, match="l1 needs reconstructions, which cgan does not make: ask for fid"):
        alone.evaluate(["l1", "l2"], show=False)


def test_labels_tell_nothing_of_pictures_when_conditioning_is_measured(tmp_path: Path) -> None:
    """Stage 1 reads labels where it is given them; the codes that M1 to M4 compare must come from pictures alone."""
    run = trained([methods.IVAE(width=0.1, latents=2), methods.MSVAE(width=0.1)], tmp_path)
    seen: list[torch.Tensor] = []
    method: Any = run.stage(1)
    plain = method.auxiliary

    def watched(x: torch.Tensor, labels: torch.Tensor | None) -> torch.Tensor:
        seen.append(torch.ones(1) if labels is None else labels.isnan())
        return plain(x, labels)

    method.auxiliary = watched
    conditioning_scores(run, False)
    assert seen
    assert all(bool(one.all()) for one in seen)


def test_conditioning_of_a_stage_that_is_given_codes(squares, tmp_path) -> None:
    stages = [methods.VAE(width=0.1, latents=2), methods.MSVAE(width=0.1, content="codes")]
    run = fit(squares, stages, steps=2, out=tmp_path / "run", show=False)
    found = run.evaluate(["conditioning"], show=False)
    assert {f"conditioning/M{k}" for k in (1, 2, 3, 4)} <= set(found)


@pytest.mark.parametrize("later", [methods.MSVAE(width=0.1), methods.MSGAN(width=0.1)])
def test_conditioning_after_given_controls_is_refused_for_it_could_only_be_one(later: MethodConfig, tmp_path) -> None:
    run = trained([methods.Controls(width=0.1), later], tmp_path)
    with pytest.raises(InputError, match=r"after controls, whose codes are the labels .* ask for identity_change\.$"):
        run.evaluate(["conditioning"], show=False)
    assert not (run.folder / "metrics.json").exists()
    assert "conditioning" not in possible(run, MeasureOptions())
    assert "identity_change" in possible(run, MeasureOptions())
