"""The scikit-learn estimator in scikit-learn's own hands."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import unbraid as ub
from unbraid.training.contract import small_images

SMALL = {"latents": 2, "width": 0.05}


@parametrize_with_checks([ub.Disentangler(steps=3, options=SMALL)])
def test_scikit_learns_own_checks(estimator, check) -> None:
    check(estimator)


def table(n: int = 120, seed: int = 0) -> np.ndarray:
    """Two hidden factors behind five columns of very different scales."""
    factors = np.random.default_rng(seed).normal(size=(n, 2))
    return factors @ np.array([[1.0, 0, 5, 0, 100], [0, 2, 0, 30, 50]]) + np.array([0, 1, 2, 3, 1000])


def test_a_table_comes_back_from_its_codes_on_its_own_scale() -> None:
    x = table()
    model = ub.Disentangler("vae", steps=400, options={"latents": 2, "width": 0.2, "scale": 0.1, "adam": {"lr": 3e-3}})
    restored = model.fit(x).inverse_transform(model.transform(x))
    assert restored.shape == x.shape
    explained = 1 - ((x - restored) ** 2).sum(0) / ((x - x.mean(0)) ** 2).sum(0)
    assert explained.min() > 0.8
    assert model.score(x) > -0.2


def test_it_works_in_a_pipeline_and_a_search() -> None:
    x = table(60)
    steps = make_pipeline(ub.Disentangler(steps=3, options=SMALL), LinearRegression())
    assert steps.fit(x, x[:, 0]).predict(x).shape == (60,)
    search = GridSearchCV(ub.Disentangler(options=SMALL), {"steps": [2, 3], "method": ["vae", "beta-tcvae"]}, cv=2)
    assert search.fit(x).best_params_["steps"] in (2, 3)


def test_images_are_encoded_and_decoded_as_images() -> None:
    images = small_images().observations
    model = ub.Disentangler(ub.methods.BetaVAE(width=0.1, latents=3), steps=3).fit(images)
    codes = model.transform(images)
    assert codes.shape == (len(images), 3)
    made = model.inverse_transform(codes)
    assert made.shape == images.shape
    assert made.dtype == np.uint8


def test_the_same_seed_gives_the_same_codes_and_an_unknown_option_is_named() -> None:
    x = table(30)
    model = ub.Disentangler(steps=3, options=SMALL)
    np.testing.assert_array_equal(clone(model).fit(x).transform(x), clone(model).fit(x).transform(x))
    with pytest.raises(ub.InputError, match="did you mean 'latents'"):
        ub.Disentangler(options={"latent": 2}).fit(x)


def test_methods_that_learn_from_labels_take_them_from_y() -> None:
    random = np.random.default_rng(0)
    x, y = random.normal(size=(60, 4)), np.where(np.arange(60) % 2, "cat", "dog").astype(object)
    y[:5] = None
    for method in ("full-vae", "ss-ivae"):
        fitted = ub.Disentangler(method, options={"width": 0.05, "latents": 2}, steps=2).fit(x, y)
        assert fitted.transform(x).shape == (60, 2)
    with pytest.raises(ub.InputError, match="learns from labels and there are none"):
        ub.Disentangler("ivae", options={"width": 0.05}, steps=2).fit(x)
    with pytest.raises(ub.InputError, match="has 59 values for 60 observations"):
        ub.Disentangler("ivae", options={"width": 0.05}, steps=2).fit(x, y[1:])
    plain = ub.Disentangler("vae", options={"width": 0.05, "latents": 2}, steps=2)
    np.testing.assert_array_equal(plain.fit(x, y).transform(x), plain.fit(x).transform(x))


def test_codes_that_are_labels_cannot_be_inferred() -> None:
    with pytest.raises(ub.InputError, match="controls takes its codes from labels, which transform is not given"):
        ub.Disentangler("controls", steps=1).fit(np.zeros((8, 3)), np.arange(8) % 2)


def fitted(chain: Any) -> ub.Disentangler:
    """One whose data had means 1 and 2 and deviations 2 and 4, and whose chain is a line of arithmetic."""
    estimator = ub.Disentangler()
    estimator.mean_, estimator.scale_ = np.array([1.0, 2.0]), np.array([2.0, 4.0])
    estimator.n_features_in_, estimator.chain_ = 2, chain
    return estimator


def test_the_score_is_minus_the_mean_squared_error_in_units_of_the_spread() -> None:
    seen: list[torch.Tensor] = []

    def reconstruct(x: torch.Tensor) -> list[torch.Tensor]:
        seen.append(x)
        return [x + 9, x + torch.tensor([0.5, 1.5])]

    estimator = fitted(SimpleNamespace(reconstruct=reconstruct))
    assert estimator.score([[1.0, 2.0], [3.0, 6.0]]) == pytest.approx(-(0.25 + 2.25) / 2)
    assert seen[0].tolist() == [[0.0, 0.0], [1.0, 1.0]]


def test_all_rows_are_learned_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who uses scikit-learn splits the data before."""
    asked: list[tuple[Any, dict[str, Any]]] = []

    def stop(data: Any, config: Any, **options: Any) -> None:
        asked.append((data, options))
        raise StopIteration

    monkeypatch.setattr("unbraid.estimator.fit", stop)
    table = np.array([[1.0, 10.0], [3.0, 10.0], [5.0, 10.0]])
    with pytest.raises(StopIteration):
        ub.Disentangler(steps=7).fit(table)
    data, options = asked[0]
    assert (options["held_out"], options["steps"]) == (0.0, 7)
    deviation = np.sqrt(8 / 3)
    np.testing.assert_allclose(data.observations, [[-2 / deviation, 0], [0, 0], [2 / deviation, 0]], rtol=1e-6)
    assert data.preprocessing.mean == (3.0, 10.0)
    assert data.preprocessing.scale == pytest.approx((deviation, 1.0))
