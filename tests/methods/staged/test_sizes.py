"""Sizes that match, to the parameter where widths allow it."""

import pytest

from unbraid.core import DataSpec
from unbraid.errors import InputError
from unbraid.methods import MSVAE, VAE, BetaTCVAE
from unbraid.methods.staged.sizes import beta_tcvae_l, big_beta_tcvae, big_vae, parameters

SPEC = DataSpec((3, 64, 64), 1000)
CHAIN = (BetaTCVAE(beta=4.0), MSVAE(latents=5, width=0.25))


def test_counts_are_those_of_the_model() -> None:
    built = BetaTCVAE(width=0.1).build(SPEC)
    assert parameters(BetaTCVAE(width=0.1), SPEC) == sum(p.numel() for p in built.parameters())


def test_the_large_form_has_all_latents_and_the_same_width() -> None:
    match = beta_tcvae_l(CHAIN, SPEC)
    assert match.config == BetaTCVAE(beta=4.0, latents=15)


@pytest.mark.parametrize("size", [big_beta_tcvae, big_vae])
def test_the_big_forms_match_parameters_and_latents(size: object) -> None:
    match = size(CHAIN, SPEC)  # type: ignore[operator]
    assert match.latents == 15
    assert match.parameters == pytest.approx(match.target_parameters, rel=0.01)
    assert match.target_parameters == sum(parameters(stage, SPEC) for stage in CHAIN)
    assert f"{match.parameters:,}" in str(match)


def test_a_chain_without_beta_tcvae_is_refused() -> None:
    with pytest.raises(InputError, match="beta-tcvae"):
        big_vae((VAE(),), SPEC)


def test_a_small_chain_is_matched_by_a_narrow_model() -> None:
    data = DataSpec((1, 16, 16), 100)
    chain = (BetaTCVAE(width=0.1), VAE(width=0.1))
    match = big_beta_tcvae(chain, data)
    assert match.config.width < 0.5
    assert match.parameters == pytest.approx(match.target_parameters, rel=0.05)
