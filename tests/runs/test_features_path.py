"""Features of another model, from a file to codes and back, with no option named."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import unbraid as ub
from unbraid.data import from_arrays, load
from unbraid.data.own.vectors import WIDE
from unbraid.methods import BetaTCVAE, recipes
from unbraid.methods.recipes import Traits

CAUSES, ROWS, CONSTANT, LATENTS = 4, 600, 7, 8


@pytest.fixture(scope="module")
def features() -> np.ndarray:
    """A frozen network's features: few causes, many values of very different scales, one of which never varies."""
    random = np.random.default_rng(0)
    hidden = np.tanh(random.uniform(-1.5, 1.5, (ROWS, CAUSES)) @ random.normal(size=(CAUSES, 40)))
    made = hidden @ random.normal(size=(40, WIDE)) + 0.05 * random.normal(size=(ROWS, WIDE))
    made[:, CONSTANT] = 0
    return (made * 10.0 ** random.uniform(-2, 2, WIDE) + 3).astype(np.float32)


def test_wide_vectors_are_standardised_and_others_are_as_they_were(features: np.ndarray) -> None:
    wide = from_arrays(features).observations
    assert np.abs(wide.mean(0)).max() < 1e-3
    deviations = np.delete(wide.std(0), CONSTANT)
    np.testing.assert_allclose(deviations, 1, atol=1e-3)
    np.testing.assert_array_equal(from_arrays(features, standardize=False).observations, features)
    np.testing.assert_array_equal(from_arrays(features[:, 1:]).observations, features[:, 1:])
    counts = np.random.default_rng(0).poisson(3, (50, WIDE))
    np.testing.assert_array_equal(from_arrays(counts, kind="counts").observations, counts)


def test_wide_vectors_alone_begin_as_pca() -> None:
    def network(data: Traits) -> str:
        chosen = recipes.start(BetaTCVAE, "fast", data)
        assert isinstance(chosen, BetaTCVAE)
        return chosen.network

    assert network(Traits((WIDE,))) == "mlp-pca"
    others = [Traits((WIDE - 1,)), Traits((WIDE,), dispersion=2.0), Traits((WIDE,), signal=True), Traits((3, 32, 32))]
    assert "mlp-pca" not in [network(data) for data in others]
    signals = from_arrays(np.random.default_rng(0).normal(size=(20, 3, 100)), layout="nct")
    assert not Traits.of(signals).is_wide


def test_features_are_kept_as_well_as_pca_keeps_them_and_come_back_in_their_units(
    features: np.ndarray, tmp_path: Path
) -> None:
    file = tmp_path / "features.npy"
    np.save(file, features)
    config = replace(recipes.wide_beta_tcvae(), latents=LATENTS, width=0.1)
    run = ub.fit(load(file), config, steps=40, out=tmp_path / "run", show=False)
    codes = run.encode(features[:100]).codes
    assert codes.shape == (100, LATENTS)
    back = run.decode(codes)[-1]
    np.testing.assert_allclose(back[:, CONSTANT], 3, rtol=1e-3)

    def standardised(values: np.ndarray) -> np.ndarray:
        return np.delete((values - features.mean(0)) / (features.std(0) + 1e-9), CONSTANT, axis=1)

    lost = np.square(standardised(back) - standardised(features[:100])).mean()
    eigenvalues = np.linalg.eigvalsh(np.cov(standardised(features).T))[::-1]
    assert lost < 1.2 * eigenvalues[LATENTS:].sum() / eigenvalues.sum(), "PCA of as many codes"
