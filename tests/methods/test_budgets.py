"""The table of tried chains: what is trained where nobody says."""

import pytest

from unbraid.methods import MSVAE, VAE, BetaTCVAE, budgets, recipes
from unbraid.methods.budgets import TABLE, Stage
from unbraid.methods.recipes import Traits

COLOUR, TABLE_ROW = Traits((3, 64, 64)), Traits((13,))


def test_images_get_a_disentangler_and_then_detail_and_vectors_a_disentangler() -> None:
    assert [type(config) for config in budgets.default_chain(COLOUR)] == [BetaTCVAE, MSVAE]
    assert [type(config) for config in budgets.default_chain(TABLE_ROW)] == [BetaTCVAE]
    assert budgets.default_chain(COLOUR)[0] == recipes.start(BetaTCVAE, "fast", COLOUR)
    assert len(budgets.default_steps(COLOUR, 1000)) == 2


def test_the_table_is_one_that_can_be_followed() -> None:
    for line in TABLE:
        assert sum(stage.share for stage in line.stages) == pytest.approx(1)
        for stage in line.stages:
            assert stage.least < stage.steps <= (stage.most or stage.steps)
            for config in budgets.lighter(recipes.start(stage.method, "fast", COLOUR), stage):
                assert type(config) is stage.method


def test_a_chain_that_was_not_tried_is_given_equal_parts_of_the_time() -> None:
    found = budgets.stages_for([VAE(), MSVAE()], COLOUR)
    assert [stage.share for stage in found] == [1, 1]
    assert found[0] == Stage(VAE, budgets.STEPS)
    assert found[1].lighter == TABLE[0].stages[1].lighter


def test_options_that_someone_named_are_not_made_lighter() -> None:
    stage = Stage(BetaTCVAE, 10, lighter=({"width": 0.25}, {"width": 0.25, "batch_size": 8}))
    forms = budgets.lighter(BetaTCVAE(width=0.7), stage, ["width"])
    assert [(form.width, form.batch_size) for form in forms] == [(0.7, 8)]  # type: ignore[attr-defined]


def test_a_small_table_is_not_trained_until_it_is_known_by_heart() -> None:
    assert budgets.default_steps(TABLE_ROW, 178) == [400 * 178 // 64]
    assert budgets.default_steps(TABLE_ROW, 20) == [budgets.FEW_STEPS]
    assert budgets.default_steps(TABLE_ROW, 10**6) == [TABLE[1].stages[0].steps]
    assert TABLE[1].stages[0].within(10**6, 10**6, 64) == TABLE[1].stages[0].most
