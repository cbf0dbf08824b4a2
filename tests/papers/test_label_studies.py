"""Studies of methods that learn from labels: what is compared differs in what it is named for, and in nothing else."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from unbraid.data import load
from unbraid.methods import HFVAE, IDVAE, FullVAE, PartedVAE
from unbraid.nets.resolution import Resolution
from unbraid.papers import Finished
from unbraid.papers.studies import idvae_labels, idvae_strong, parted_vae_comparison, parted_vae_faces
from unbraid.training.batches import as_network_input


def stages(study: Any, scale: Any) -> dict[str, list[Any]]:
    """The configurations of each row, of the first seed."""
    found: dict[str, list[Any]] = {}
    for trial in study.trials(scale):
        if trial.seed == 0:
            found.setdefault(trial.group, []).append(trial.stages[0])
    return found


def test_strengths_are_the_papers_whatever_the_size() -> None:
    paper, small = (stages(idvae_labels, scale)["cars3d: IDVAE"] for scale in ("paper", "desk"))
    assert [config.beta for config in paper] == [1, 2, 4, 6, 8, 16]
    assert [config.beta for config in small] == [1 / 4, 4 / 4, 16 / 4]  # a quarter of the pixels
    full: FullVAE = stages(idvae_labels, "desk")["sprites: FullVAE"][2]
    assert (full.beta, full.gamma) == (1 / 4, 16 / 4)  # the plain KL too
    for trial in idvae_labels.trials("desk"):
        if "SS-" not in trial.group:
            one = Finished(trial, trial.folder, {}, 0.0)  # type: ignore[arg-type]
            assert idvae_labels.strength(one) in (1, 4, 16)


def test_stronger_rows_differ_in_their_strength_alone() -> None:
    usual, strong = (stages(study, "desk") for study in (idvae_labels, idvae_strong))
    for name, weight in (("β-VAE", "beta"), ("FullVAE", "gamma"), ("IVAE", "beta"), ("IDVAE", "beta")):
        for data in ("sprites", "cars3d"):
            last: Any = usual[f"{data}: {name}"][-1]
            for at in (64, 256):
                assert strong[f"{data}, {at}: {name}"] == [replace(last, **{weight: at / 4})]


def test_label_scales_differ_in_nothing_else() -> None:
    found = stages(idvae_labels, "desk")
    middle: IDVAE = found["sprites: IDVAE"][1]
    assert middle.label_scale == idvae_labels.SCALES_OF_LABELS[0]
    for scale in idvae_labels.SCALES_OF_LABELS[1:]:
        assert found[f"sprites: IDVAE, label_scale {scale:g}"] == [replace(middle, label_scale=scale)]


@pytest.mark.parametrize("scale", ["smoke", "desk"])
def test_as_many_latents_as_factors(scale: Any) -> None:
    for name, count in idvae_labels.FACTORS.items():
        if name != "cars3d":
            assert len(load(name, **({"stride": 16} if name == "sprites" else {"n": 4})).factor_names) == count
    assert {trial.stages[0].latents for trial in idvae_labels.trials(scale)} <= {3, 5}  # type: ignore[attr-defined]


def test_budgets_of_table_2() -> None:
    made = [trial for trial in parted_vae_comparison.trials("paper") if trial.seed == 0 and trial.labels]
    assert [trial.labels.amount for trial in made if trial.labels] == [
        "0",
        "0",  # with capacities of what an image holds
        "100",
        "737",
        "1000",
        "3686",
        "10000",
        "3686",
    ]
    configs = {trial.group: trial.stages[0] for trial in parted_vae_comparison.trials("paper")}
    hfvae = configs.pop("HFVAE")
    assert isinstance(hfvae, HFVAE)
    assert sum(hfvae.groups) + len(hfvae.classes) == 6
    codes = {config.latents for config in configs.values()}  # type: ignore[attr-defined]
    assert codes == {5, 6}  # z of PartedVAE, beside one u; all codes of the others


def test_all_methods_of_table_1_see_the_same_small_images() -> None:
    full, small = load("sprites", stride=16), load("sprites", size=32, stride=16)
    rows = np.arange(0, len(full), 7)
    seen = Resolution((1, 64, 64), 32)
    down = seen.down(
        as_network_input(torch.from_numpy(np.ascontiguousarray(full.observations[rows])), torch.device("cpu"))
    )
    half = as_network_input(torch.from_numpy(np.ascontiguousarray(small.observations[rows])), torch.device("cpu"))
    assert torch.allclose(down, half, atol=1 / 255)
    parted: PartedVAE = stages(parted_vae_comparison, "desk")["PartedVAE, no labels"][0]
    assert parted.gamma_z * seen.weight == PartedVAE().gamma_z  # weights shrink, or errors count more


def test_faces_differ_in_the_penalty_alone_and_weigh_as_their_pixels() -> None:
    for scale in ("desk", "paper"):
        kept, free = (configs[0] for configs in stages(parted_vae_faces, scale).values())
        assert replace(kept, gamma_bc=0.0) == free
        assert kept.gamma_bc > 0
    side = parted_vae_faces.SETTINGS["desk"].size
    small: PartedVAE = stages(parted_vae_faces, "desk")[parted_vae_faces.KEPT][0]
    assert small.gamma_z == pytest.approx(1000 * side**2 / (218 * 178), rel=2e-3)
    assert small.gamma_c == 2 * small.gamma_z
