"""What the studies of multi-stage models measure: weights on the way, ratios, whose codes are scored, identity."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from unbraid import metrics
from unbraid.api import Run, fit
from unbraid.core import Adam
from unbraid.data import load
from unbraid.data.factor_data import Factor, FactorData
from unbraid.errors import InputError
from unbraid.methods import MSVAE, BetaTCVAE, BetaVAE
from unbraid.methods.staged.sizes import parameters
from unbraid.papers import rows_over_beta
from unbraid.papers.measures import chains, exchanged, identity, turning
from unbraid.papers.studies import ms_vae_ablations, ms_vae_cars, ms_vae_gan, ms_vae_sizes
from unbraid.papers.study import Finished
from unbraid.training.machine import Machine
from unbraid.util.seeds import stream

FIRST, SECOND = BetaVAE(width=0.1, latents=3), MSVAE(width=0.05, latents=2, batch_size=8)


def trained(folder: Path, steps: int) -> Run:
    data = load("sprites", size=32, stride=16)
    machine = Machine("cpu", keep=(2, 4))
    return fit(data, (FIRST, SECOND), steps=(2, steps), seed=1, out=folder, machine=machine, show=False)


def test_a_part_of_training_is_a_shorter_run(tmp_path: Path) -> None:
    long, short = trained(tmp_path / "long", 4), trained(tmp_path / "short", 2)
    rows = np.arange(5)
    half = chains.outputs(long, rows, 0.5)
    assert np.array_equal(half[-1], chains.outputs(short, rows)[-1])
    assert not np.array_equal(half[-1], chains.outputs(long, rows)[-1])
    assert np.array_equal(half[0], chains.outputs(long, rows)[0]), "stage 1 is the same all the while"
    with pytest.raises(InputError, match=r"kept no weights after step 3; kept: 2, 4\."):
        long.stage_after(2, 3)


def test_what_a_run_does_not_have_is_not_a_number(tmp_path: Path) -> None:
    data = load("sprites", size=32, stride=16)
    run = fit(data, (FIRST,), steps=(1,), seed=0, out=tmp_path / "one", machine=Machine("cpu"), show=False)
    found = [chains.error(run, "l2", first=True), chains.conditioning(run, "M1"), exchanged.floor(run)]
    assert np.isnan([*found, chains.downstream(run, "z")]).all()


def test_what_is_read_off_the_codes_is_a_mean_over_factors(tmp_path: Path) -> None:
    run = trained(tmp_path / "run", 4)
    names = [factor.name for factor in run.data.factor_info if factor.size > 1]
    for part in ("c", "z", "c+z"):
        each = [chains.downstream(run, part, name) for name in names]
        assert chains.downstream(run, part) == pytest.approx(np.mean(each))


def test_baselines_are_of_the_size_they_are_named_for_and_share_the_first_stage() -> None:
    cars, spec = rows_over_beta, ms_vae_cars.spec("smoke")
    by_group = {trial.group: trial for trial in ms_vae_cars.trials("smoke")}
    ours = by_group[f"β 4: {cars.OURS}"]
    assert by_group[f"β 1: {cars.JACOBIAN}"].stages[0] == by_group[f"β 1: {cars.OURS}"].stages[0]
    larger = by_group[f"β 4: {cars.LARGER}"].stages[0]
    assert isinstance(larger, BetaTCVAE)
    assert replace(larger, latents=10) == ours.stages[0]
    total = sum(parameters(stage, spec) for stage in ours.stages)
    for group in (f"β 4: {cars.BIG}", cars.BIG_VAE):
        assert parameters(by_group[group].stages[0], spec) == pytest.approx(total, rel=0.02)


def test_a_stage_1_counts_once_for_each_seed_however_many_chains_share_it() -> None:
    """Behind 10 c of one seed stand 5 to 90 z; where stage 1 stands alone its error is the run's own."""
    found = []
    for trial in ms_vae_sizes.trials("desk"):
        chain = len(trial.stages) > 1
        figures = {"mig": float(trial.seed), "l2": 0.1 if chain else 0.3, "first-l2": 0.3 if chain else float("nan")}
        found.append(Finished(trial, Path("nowhere"), figures, 1.0))
    rows = ms_vae_sizes.by_c(found)
    seeds = {c: [one.trial.seed for one in rows if one.trial.group == f"{c} c"] for c in (2, 5, 10, 50)}
    assert seeds == {2: [*range(5)], 5: [*range(5)], 10: [*range(5)], 50: [*range(5)]}
    assert {one.figures["first-l2"] for one in rows} == {0.3}


def test_weights_are_of_the_same_say_at_every_size() -> None:
    for scale, values in (("desk", 32 * 32), ("paper", 64 * 64)):
        s = ms_vae_cars.SETTINGS[scale]  # type: ignore[index]
        first = ms_vae_cars.first_stage(s, 4.0)
        assert (first.alpha, first.beta, first.gamma) == (values / 4096, 4 * values / 4096, values / 4096)
        assert s.second.beta == values / 4096


def test_exchanged_codes_follow_what_was_exchanged(tmp_path: Path) -> None:
    data, first = load("sprites", size=32, stride=16), replace(FIRST, beta=0.0, adam=Adam(lr=1e-2))
    second = MSVAE.fast(width=0.1, latents=2, batch_size=8, z_prior="normal", adam=Adam(lr=1e-12))
    run = fit(data, (first, second), steps=(30, 1), seed=1, out=tmp_path / "run", machine=Machine("cpu"), show=False)
    sets = exchanged.code_sets(run.folder)
    order = stream(run.plan.seed, "exchanged").permutation(len(sets["x"]))
    # The fast network starts from x̂ = y: whose z it is makes no difference, and whose y it is makes all of it.
    np.testing.assert_allclose(sets["other z"], sets["made"], atol=1e-5)
    np.testing.assert_allclose(sets["other y"], sets["made"][order], atol=1e-5)
    assert np.abs(sets["other y"] - sets["made"]).mean() > 1e-4
    assert exchanged.exchanged(run, "other z") > exchanged.exchanged(run, "other y")
    assert 0 <= exchanged.floor(run) < 0.5


def test_the_scored_codes_of_an_ablation_are_c(tmp_path: Path) -> None:
    data, models = load("sprites", size=32, stride=16), ms_vae_ablations.models(ms_vae_ablations.SETTINGS["smoke"])
    for group, stage in ((ms_vae_ablations.M1, 1), (ms_vae_ablations.M5, 2)):
        stages = models[group]
        out = tmp_path / group[:2]
        run = fit(data, stages, steps=(1,) * len(stages), seed=0, out=out, machine=Machine("cpu"), show=False)
        rows = run.encode(show=False).rows[:4]
        found = run.chain.encode(run.observations(rows))[stage - 1]["c" if stage == 1 else "z"].mean.numpy()
        np.testing.assert_allclose(ms_vae_ablations.of_c(run, "codes")[:4], found, atol=1e-5)


def test_no_gan_is_shown_the_object() -> None:
    for trial in ms_vae_gan.trials("desk"):
        assert trial.labels is not None
        assert trial.labels.factors == turning.POSE
        assert trial.stages[0].factors == turning.POSE  # type: ignore[attr-defined]


def lit_squares() -> FactorData:
    """Six patterns of colour (objects) under eight lights from the side (poses), far stronger than the patterns."""
    random = np.random.default_rng(0)
    patterns = random.integers(0, 40, (6, 1, 8, 8, 3))
    lights = np.linspace(0, 150, 8)[None, :, None, None, None] * np.linspace(0, 1, 8)[None, None, None, :, None]
    images = (patterns + lights + 20).astype(np.uint8).reshape(48, 8, 8, 3)
    factors = np.indices((6, 8)).reshape(2, -1).T.astype(float)
    return FactorData("squares", images, factors, (Factor("object", 6, "categorical"), Factor("light", 8, "ordinal")))


def test_the_witness_tells_objects_and_ignores_poses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "SMALL", 0)
    monkeypatch.setattr(identity, "PROBE_STEPS", 150)
    data = lit_squares()
    run = fit(data, BetaVAE(width=0.1, latents=2), steps=1, out=tmp_path / "run", show=False)
    features = identity.features_of_data(run, "object")  # [object, light, feature]
    pixels = data.observations.astype(np.float32).reshape(6, 8, -1) / np.float32(255)
    assert identity.change(pixels) > 0.8, "most of the pixels' variance is the light's"
    assert identity.change(features) < 0.3
    # An object that becomes another one as the light moves is seen to.
    assert identity.change(features[(np.arange(6)[:, None] + np.arange(8)) % 6, np.arange(8)]) > 0.6
    assert identity.variety(features) > 100 * identity.variety(np.repeat(features[:1], 6, axis=0))
    assert float(metrics.identity_change(features, replicates=0)) == identity.change(features)


def test_poses_are_read_off_the_nearest_image_and_neighbours_on_the_circle_count() -> None:
    data = lit_squares()
    reader = identity.PoseReader(data, "light")
    images, lights = data.observations.astype(np.uint8), data.column("light")
    assert reader.share_right(images, lights) == 1
    assert reader.share_right(images, (lights + 1) % 8) == 1, "7 and 0 are neighbours"
    assert reader.share_right(images, (lights + 2) % 8) == 0
    assert reader.share_right(images, (lights + 4) % 8) == 0
    assert reader.share_right(images, (lights + 4) % 8, sides=2) == 1, "front and back alike"
    assert reader.share_right(images, (lights + 2) % 8, sides=2) == 0


def test_an_identity_that_is_not_turned_is_not_praised() -> None:
    random, azimuths = np.random.default_rng(0), np.arange(24)
    objects = random.normal(size=(6, 1, 5)).astype(np.float32)
    poses = random.normal(size=(1, 24, 5)).astype(np.float32)
    obeyed = np.ones((6, 24), bool)
    kept, share = turning.change_when_turned(np.repeat(objects, 24, 1), obeyed, azimuths, 24)
    assert kept == pytest.approx(0, abs=1e-5)
    assert share == 1
    mixed = turning.change_when_turned(random.normal(size=(6, 24, 5)).astype(np.float32), obeyed, azimuths, 24)
    assert mixed[0] == pytest.approx(1, abs=0.15)
    between = turning.change_when_turned(objects + 0.5 * poses, obeyed, azimuths, 24)[0]
    assert 0.05 < between < 0.6
    idle = obeyed & (azimuths < turning.TURNED)[None]  # always the same view: right where that was asked for
    value, share = turning.change_when_turned(np.repeat(objects, 24, 1), idle, azimuths, 24)
    assert np.isnan(value)
    assert share == 0


def test_what_a_code_does_not_turn_does_not_count_for_it() -> None:
    objects = np.array([[[0.0, 0.0]], [[3.0, 4.0]]], np.float32)  # 25 apart, squared
    shifts = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]], np.float32)
    features = objects + shifts  # [identity, c, feature]
    # The first and the third value of c show views that are 4 steps apart; the second is a step from the third.
    azimuths = np.array([[22, 3, 2], [22, 3, 2]])
    value, share = turning.change_where_it_turns(features, azimuths, 24)
    # Apart: 1 and 3 (4 from each other) and 1 and 2 (1 from each other); not 2 and 3. Between objects: both ways round.
    pairs = [(0, 1), (1, 0), (0, 2), (2, 0)]
    between = [np.square(features[i, a] - features[1 - i, b]).sum() for i in (0, 1) for a, b in pairs]
    assert value == pytest.approx((1 + 4) / 2 / np.mean(between))
    assert share == pytest.approx(4 / 6)
    still = turning.change_where_it_turns(features, np.zeros((2, 3), int), 24)
    assert np.isnan(still[0]), "nothing turns, and nothing can be said of what turning changes"
    assert still[1] == 0


def test_batch_norm_on_a_traversal_takes_away_what_its_poses_share() -> None:
    torch.manual_seed(0)
    generator = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4)).eval()
    kept = {name: value.clone() for name, value in generator.state_dict().items()}
    poses = torch.linspace(-1, 1, 5)
    first, second = (torch.stack((poses, torch.full_like(poses, z)), dim=1) for z in (-2.0, 2.0))
    apart = (generator(first) - generator(second)).abs().mean().item()
    with identity.batch_statistics(generator):
        torch.testing.assert_close(
            generator(first), generator(second), rtol=0, atol=1e-4
        )  # z is what the batch has in common
    assert apart > 0.1
    assert (generator(first) - generator(second)).abs().mean().item() == pytest.approx(apart)
    for name, value in kept.items():
        torch.testing.assert_close(generator.state_dict()[name], value)


def test_ms_gan_makes_the_same_of_one_identity_or_many_at_once(tmp_path: Path) -> None:
    trial = next(trial for trial in ms_vae_gan.trials("smoke") if "MS-GAN" in trial.group)
    data = load(trial.data, **trial.arguments)
    run = fit(data, trial.stages, steps=trial.steps, labels=trial.labels, out=tmp_path / "run", show=False)
    alone = identity.features_as_one_batch(run, turning.IDENTITY)
    np.testing.assert_allclose(alone, identity.features_of_model(run, turning.IDENTITY), atol=1e-5)
