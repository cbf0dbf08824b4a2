"""A trained PartedVAE in use."""

from pathlib import Path

import numpy as np
import pytest

import unbraid as ub
from unbraid import methods, parted
from unbraid.contract import small_images

DATA = small_images()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> ub.Run:
    config = methods.PartedVAE(width=0.1, class_latents=2, attention_steps=3)
    return ub.fit(DATA, config, steps=5, out=tmp_path_factory.mktemp("parted") / "run", show=False)


def test_it_classifies_in_every_variable(run: ub.Run) -> None:
    place, shade = parted.classify(run, DATA.observations[:20])
    assert place.shape == (20, 4)
    assert shade.shape == (20, 3)
    np.testing.assert_allclose(place.sum(1), 1, rtol=1e-5)


def test_transfer_makes_every_pair(run: ub.Run) -> None:
    table = parted.transfer(run, DATA.observations[:3], DATA.observations[3:8])
    assert table.shape == (3, 5, 16, 16, 3)
    np.testing.assert_array_equal(
        parted.transfer(run, DATA.observations[:1], DATA.observations[:1])[0], run.reconstruct(DATA.observations[:1])[0]
    )


def test_densities_of_a_prior_are_those_of_a_mixture(run: ub.Run) -> None:
    prior = parted.class_prior(run, variable=1, code=1, marks=5)
    assert prior.name == "shade"
    assert prior.observations.shape == (5, 16, 16, 3)
    total = np.trapezoid(prior.densities.sum(0), prior.values)
    assert total == pytest.approx(1, abs=0.01)
    np.testing.assert_allclose(np.diag(prior.overlaps), 1, rtol=1e-5)
    np.testing.assert_allclose(prior.overlaps, prior.overlaps.T, rtol=1e-5)


def test_the_picture_is_a_png(run: ub.Run, tmp_path: Path) -> None:
    path = parted.draw_class_prior(parted.class_prior(run), tmp_path / "prior.png")
    assert path.read_bytes()[:4] == b"\x89PNG"


def test_other_methods_have_no_classes(tmp_path: Path) -> None:
    run = ub.fit(DATA, methods.VAE(width=0.1), steps=2, out=tmp_path / "run", show=False)
    with pytest.raises(ub.InputError, match="vae has no classes"):
        parted.classify(run, DATA.observations)
