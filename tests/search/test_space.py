"""What a search varies."""

import pytest

from unbraid.errors import InputError
from unbraid.methods import MSVAE, BetaTCVAE, BetaVAE, FactorVAE
from unbraid.search.space import Range, Values, parse_values, settings, with_options


def test_an_option_goes_to_the_methods_that_have_it() -> None:
    found = settings([[BetaTCVAE()], [FactorVAE()]], {"alpha": ["1", "4"], "factor-vae.gamma": ["10", "35"]})
    assert [one.name for one in found] == [
        "beta-tcvae, alpha 1",
        "beta-tcvae, alpha 4",
        "factor-vae, gamma 10",
        "factor-vae, gamma 35",
    ]
    assert [one.stages[0].alpha for one in found[:2]] == [1.0, 4.0]  # type: ignore[attr-defined]
    assert found[0].stages[0].gamma == BetaTCVAE().gamma, "gamma was named for the other method"  # type: ignore[attr-defined]
    assert found[3].stages[0].gamma == 35.0  # type: ignore[attr-defined]


def test_a_number_names_the_stage() -> None:
    found = settings([[BetaVAE(), MSVAE()]], {"2.latents": [3, 7]})
    assert [one.stages[1].latents for one in found] == [3, 7]  # type: ignore[attr-defined]
    assert {one.stages[0].latents for one in found} == {BetaVAE().latents}  # type: ignore[attr-defined]


def test_lr_means_the_optimisers() -> None:
    (one,) = settings([[FactorVAE()]], {"lr": [0.5]})
    assert one.stages[0].adam.lr == 0.5  # type: ignore[attr-defined]
    assert one.stages[0].critic_adam == FactorVAE().critic_adam  # type: ignore[attr-defined]


def test_random_settings_lie_in_their_ranges_and_stay_when_there_are_more() -> None:
    space: dict[str, Values] = {"lr": Range(1e-4, 1e-3, log=True), "latents": Range(2, 9), "beta": [1, 8]}
    few, many = (settings([[BetaVAE()]], space, random=count) for count in (5, 40))
    assert few == many[:5]
    rates = [one.values["lr"] for one in many]
    assert all(1e-4 <= rate <= 1e-3 for rate in rates)
    assert 10 < sum(rate < 10**-3.5 for rate in rates) < 30, "as many below the middle of the logarithm as above"
    assert {type(one.values["latents"]) for one in many} == {int}
    assert {one.values["beta"] for one in many} == {1, 8}


def test_a_broken_value_breaks_its_setting_only() -> None:
    good, bad, word = settings([[BetaVAE()]], {"beta": ["2", "-1", "high"]})
    assert good.stages
    assert not good.error
    assert bad.error == "--beta of beta-vae must be at least 0, not -1."
    assert "--beta must be a number, not 'high'" in word.error
    assert not bad.stages


def test_what_is_misspelt_is_said_at_once() -> None:
    with pytest.raises(InputError, match="did you mean 'beta'"):
        settings([[BetaVAE()]], {"bata": [1]})
    with pytest.raises(InputError, match="say how many settings with --random N"):
        settings([[BetaVAE()]], {"beta": Range(1, 2)})
    with pytest.raises(InputError, match="no range of numbers"):
        parse_values("1e-e..2")
    with pytest.raises(InputError, match="0 < low < high"):
        parse_values("0..2:log")
    with pytest.raises(InputError, match="--beta of beta-vae"):
        with_options([[BetaVAE()]], {"beta": "-2"})
