"""Recipes: from the data alone, and what the method takes."""

import numpy as np
import pytest

from unbraid.config import from_json
from unbraid.data import load
from unbraid.methods import BetaTCVAE
from unbraid.recipes import looks_binary, recipe_for


def test_binary_images_have_the_papers_weights_at_the_papers_size():
    recipe = recipe_for((1, 64, 64), binary=True)
    assert (recipe.alpha, recipe.beta, recipe.gamma) == (1, 6, 1)
    assert recipe.likelihood == "bernoulli"


def test_weights_follow_the_number_of_values():
    small, large = recipe_for((3, 32, 32), binary=False), recipe_for((3, 64, 64), binary=False)
    assert (small.alpha, small.beta, small.gamma) == (1, 20, 1)
    assert (large.alpha, large.beta, large.gamma) == (4, 80, 4)
    assert recipe_for((1, 32, 32), binary=True).beta == 1.5


@pytest.mark.parametrize("binary", [True, False])
def test_a_recipe_is_what_the_method_takes(binary):
    recipe = recipe_for((1, 32, 32), binary)
    config = from_json(BetaTCVAE, recipe.options())
    assert config.beta == recipe.beta
    assert config.adam.end == recipe.lr_end
    assert config.network == "broadcast"


def test_binary_images_are_told_from_others(tmp_path, monkeypatch):
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path))
    assert looks_binary(load("sprites", size=32, stride=16).observations)  # with grey edges
    assert not looks_binary(load("scenes", n=20, size=16, toys=1).observations)
    half_grey = np.zeros((4, 10, 10, 1), np.uint8)
    half_grey[:, :5] = 128
    assert not looks_binary(half_grey)
