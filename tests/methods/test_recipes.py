"""Recipes: where options start, from the data alone."""

from pathlib import Path

import numpy as np
import pytest

from unbraid.data import FactorData, load
from unbraid.methods import HFVAE, METHODS, MSVAE, VAE, BetaTCVAE, BetaVAE, InfoGAN, recipes
from unbraid.methods.recipes import Traits


def weights(shape: tuple[int, ...], binary: bool) -> tuple[float, float, float]:
    config = recipes.fast_beta_tcvae(Traits(shape, binary))
    return config.alpha, config.beta, config.gamma


def test_binary_images_have_the_papers_weights_at_the_papers_size() -> None:
    assert weights((1, 64, 64), True) == (1, 6, 1)


def test_weights_follow_the_number_of_values() -> None:
    assert weights((3, 32, 32), False) == (1, 20, 1)
    assert weights((3, 64, 64), False) == (4, 80, 4)
    assert weights((1, 32, 32), True) == (0.25, 1.5, 0.25)


def test_larger_images_are_learned_at_a_lower_resolution() -> None:
    sides = {size: recipes.fast_beta_tcvae(Traits((3, size, size))).resolution for size in (16, 32, 64, 128)}
    assert sides == {16: 0, 32: 0, 64: 32, 128: 32}


def test_methods_without_a_fast_setting_start_from_the_papers_with_a_likelihood_that_suits_the_data() -> None:
    assert recipes.start(VAE, "fast") == VAE(likelihood="auto")
    assert recipes.start(BetaVAE, "fast") == BetaVAE(likelihood="auto", beta=4.0)
    assert recipes.start(MSVAE, "paper") == MSVAE()
    assert recipes.start(BetaTCVAE, "paper") == BetaTCVAE()


def test_infogan_learns_sooner_by_dcgans_stacks_where_there_are_images() -> None:
    fast = recipes.start(InfoGAN, "fast")
    assert isinstance(fast, InfoGAN)
    assert (fast.network, fast.width, fast.adam.lr, fast.critic_adam.lr) == ("dcgan", 0.5, 5e-4, 5e-4)
    assert recipes.start(InfoGAN, "fast", Traits((5,))) == InfoGAN()
    assert recipes.start(InfoGAN, "paper") == InfoGAN()


def test_beta_leaves_vectors_values_to_tell_the_noise_from() -> None:
    # of D values at most half go to 10 latents at beta each; never below the ELBO, never above the paper's 4
    betas = {size: recipes.start(BetaVAE, "fast", Traits((size,))).beta for size in (5, 20, 50, 80, 500)}  # type: ignore[attr-defined]
    assert betas == {5: 1.0, 20: 1.0, 50: 2.5, 80: 4.0, 500: 4.0}
    assert recipes.start(HFVAE, "fast", Traits((5,))) == HFVAE(likelihood="auto")  # its beta is no weight of one KL


def test_a_command_that_names_no_recipe_would_make_another_run() -> None:
    assert [cls.name for cls in METHODS if recipes.differs(cls) != (recipes.start(cls, "fast") != cls())] == []


def test_binary_images_are_told_from_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path))
    assert Traits.of(load("sprites", size=32, stride=16)).binary  # with grey edges
    assert not Traits.of(load("scenes", n=20, size=16, toys=1)).binary
    half_grey = np.zeros((4, 10, 10, 1), np.uint8)
    half_grey[:, :5] = 128
    assert not Traits.of(FactorData("grey", half_grey, np.zeros((4, 0)), ())).binary
    assert not Traits.of(FactorData("zeros", np.zeros((4, 10), np.float32), np.zeros((4, 0)), ())).binary
