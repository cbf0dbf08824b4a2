"""Curves over training, and the baseline that sees nothing but labels."""

from pathlib import Path
from typing import Any

import torch

import unbraid as ub
from unbraid import methods
from unbraid.core import DataSpec
from unbraid.data.factor_data import Factor
from unbraid.data.label_budget import LabelBudget
from unbraid.papers.studies import parted_vae_sprites
from unbraid.papers.studies.parted_vae import BASELINE, PARTED, Classifier, trials
from unbraid.training import checkpoint
from unbraid.training.contract import check_method, small_images
from unbraid.training.machine import Machine
from unbraid.util.tensors import read_tensors

DATA = small_images()


def test_weights_kept_on_the_way_are_those_of_a_shorter_run(tmp_path: Path) -> None:
    config = methods.PartedVAE(width=0.1, attention_steps=2)
    long = ub.fit(DATA, config, steps=5, out=tmp_path / "long", machine=Machine("cpu", keep=(3, 5)), show=False)
    short = ub.fit(DATA, config, steps=3, out=tmp_path / "short", machine=Machine("cpu"), show=False)
    kept = checkpoint.kept(long.stage_folder(1))
    assert list(kept) == [3, 5]
    there, here = read_tensors(kept[3])[0], read_tensors(short.stage_folder(1) / checkpoint.WEIGHTS)[0]
    assert all(torch.equal(there[name], here[name]) for name in here)


def test_the_baseline_keeps_the_contract() -> None:
    check_method(Classifier(width=0.1), processes=1)


def test_both_see_the_same_labels_through_the_same_encoder() -> None:
    for parted, baseline in zip(*[iter(trials("paper"))] * 2, strict=True):
        assert (parted.group, baseline.group) == (PARTED, BASELINE)
        assert (parted.labels, parted.seed, parted.data) == (baseline.labels, baseline.seed, baseline.data)
        one, other = parted.stages[0], baseline.stages[0]
        assert isinstance(one, methods.PartedVAE)
        assert isinstance(other, Classifier)
        assert (one.network, one.width, one.label_adam) == (other.network, other.width, other.adam)


def test_the_paper_scale_is_the_papers() -> None:
    parted = trials("paper")[0]
    config = parted.stages[0]
    assert isinstance(config, methods.PartedVAE)
    assert parted.steps == (60 * 60_000 // 64,)
    assert (config.latents, config.class_latents, config.capacity_steps) == (6, 10, 100_000)
    assert parted.labels == LabelBudget("first 256", ("digit",))  # those of the authors' code
    assert parted.arguments["border"] is False  # «resized»
    digits = DataSpec((1, 32, 32), 60_000, (Factor("digit", 10, "categorical"),), ((0.0, 9.0),), labelled=256)
    layers = [m for m in config.build(digits).decoder if isinstance(m, torch.nn.ConvTranspose2d | torch.nn.Linear)]
    assert [m.weight.shape[0] for m in layers] == [256, 1024, 64, 32, 32]  # table 3; transposed: channels in


def test_every_budget_is_of_the_shape_and_the_last_lets_modes_overlap() -> None:
    made = parted_vae_sprites.trials("desk")[:5]
    assert [trial.labels.amount for trial in made if trial.labels] == ["0", "0.1%", "0.5%", "1.35%", "0.5%"]
    assert {trial.labels.factors for trial in made if trial.labels} == {("shape",)}
    stages: list[Any] = [trial.stages[0] for trial in made]
    assert [stage.gamma_bc for stage in stages] == [2.5, 2.5, 2.5, 2.5, 0.0]


def test_weights_shrink_with_the_pixels_whose_errors_they_stand_against() -> None:
    paper = parted_vae_sprites.trials("paper")[0].stages[0]
    small = parted_vae_sprites.trials("desk")[0].stages[0]  # 32×32: a quarter of the pixels
    for name in parted_vae_sprites.WEIGHTS:
        assert getattr(paper, name) == getattr(methods.PartedVAE(), name)
        assert getattr(small, name) == getattr(paper, name) / 4
