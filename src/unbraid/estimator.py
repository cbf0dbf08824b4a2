"""A scikit-learn estimator: codes as features, in pipelines and searches."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from unbraid import methods
from unbraid.api import fit
from unbraid.core import MethodConfig
from unbraid.data.factor_data import FactorData
from unbraid.data.own.arrays import columns_of
from unbraid.data.own.columns import factor_table
from unbraid.data.preprocessing import Preprocessing
from unbraid.errors import InputError
from unbraid.methods import recipes
from unbraid.methods.recipes import IMAGE
from unbraid.methods.traits import Traits
from unbraid.runs.chain import columns, flat, means, unflat
from unbraid.training.batches import as_network_input, as_stored
from unbraid.training.machine import Machine
from unbraid.util.schema import from_json, to_json


class Disentangler(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Learn the factors of variation of a table or of images; `transform` gives the codes.

    `X` is a table of numbers `[n, feature]`, whose columns are standardised here and restored by
    `inverse_transform`, or uint8 images `[n, height, width, channel]`. `method` is a name or a configuration;
    `options` are its options by name. Nothing is left on disk unless `out` names a run directory.
    """

    def __init__(
        self,
        method: str | MethodConfig = "beta-vae",
        *,
        options: Mapping[str, Any] | None = None,
        steps: int = 2000,
        standardize: bool = True,
        random_state: Any = 0,
        out: str | Path | None = None,
        verbose: bool = False,
    ) -> None:
        self.method = method
        self.options = options
        self.steps = steps
        self.standardize = standardize
        self.random_state = random_state
        self.out = out
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on X. Methods that learn from labels take them from y, [n] or [n, factor], NaN or None for gaps."""
        observations = self._stored(X, first=True)
        config = self._config(observations)
        if config.codes_are_labels:
            raise InputError(f"{config.name} takes its codes from labels, which transform is not given: take another.")
        learns = config.uses_labels
        factors, info = factor_table(columns_of(y if learns else None, None), len(observations))
        how = Preprocessing()
        if observations.ndim == 2:
            how = Preprocessing(mean=tuple(self.mean_.tolist()), scale=tuple(self.scale_.tolist()))
        data = FactorData("table", observations, factors, info, preprocessing=how)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        with tempfile.TemporaryDirectory() as scratch:
            out = Path(self.out) if self.out is not None else Path(scratch) / "run"
            # Who uses scikit-learn splits the data before.
            given: dict[str, Any] = {"steps": self.steps, "seed": seed, "held_out": 0.0, "out": out}
            run = fit(data, config, **given, machine=Machine("cpu"), show=self.verbose)
            self.chain_ = run.chain
        with torch.inference_mode():
            q = self.chain_.encode(self._input(observations[:1]))[0]
        self.code_names_ = columns(q)
        self.group_sizes_ = {key: posterior.mean.shape[1] for key, posterior in q.items()}
        return self

    def transform(self, X: Any) -> NDArray[np.floating[Any]]:
        """The mean codes of X, [n, code]."""
        check_is_fitted(self)
        observations = self._stored(X)
        parts = [flat(means(self.chain_.encode(self._input(part))[0])).cpu().numpy() for part in blocks(observations)]
        return np.concatenate(parts)

    def inverse_transform(self, X: Any) -> NDArray[Any]:
        """Observations with these codes, on the scale of the data that were fitted."""
        check_is_fitted(self)
        codes = torch.from_numpy(np.asarray(X, dtype=np.float32))
        if codes.ndim != 2 or codes.shape[1] != len(self.code_names_):
            raise ValueError(f"codes must be [n, {len(self.code_names_)}], not {tuple(codes.shape)}.")
        groups = {key: torch.empty(0, size) for key, size in self.group_sizes_.items()}
        made = [as_stored(self.chain_.decode([unflat(part, groups)])[-1]) for part in codes.split(256)]
        observations: NDArray[Any] = np.concatenate(made)
        return observations if observations.ndim == 4 else observations * self.scale_ + self.mean_

    def score(self, X: Any, y: Any = None) -> float:
        """How well X comes back from its codes: minus the mean squared error, in units of the fitted data's spread."""
        check_is_fitted(self)
        observations = self._stored(X)
        errors = []
        for part in blocks(observations):
            x = self._input(part)
            errors.append((self.chain_.reconstruct(x)[-1].cpu() - x).square().flatten(1).mean(1))
        return -float(torch.cat(errors).mean())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the codes: z1, z2, …"""
        check_is_fitted(self)
        return np.array(self.code_names_, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # codes are float32, as networks compute them
        return tags

    def _config(self, observations: NDArray[Any]) -> MethodConfig:
        """The method; unless the caller chose otherwise, with the observation model that suits the data."""
        is_image = observations.ndim == 4
        if isinstance(self.method, MethodConfig):
            config = self.method
        else:
            traits = Traits(tuple(observations.shape[1:]) if not is_image else IMAGE.shape)
            config = recipes.suited(methods.by_name(self.method)(), traits)
        values = to_json(config) | dict(self.options or {})
        if not is_image and values.get("likelihood") == "bernoulli":  # tables have no pixels in [0, 1]
            values["likelihood"] = "auto"
        return from_json(type(config), values)

    def _stored(self, X: Any, first: bool = False) -> NDArray[Any]:
        """X as a data set stores it."""
        if getattr(X, "ndim", 2) == 4:
            images = np.asarray(X)
            if images.dtype != np.uint8:
                raise InputError(f"images must be uint8 [n, height, width, channel], not {images.dtype}.")
            if first:
                self.n_features_in_ = int(np.prod(images.shape[1:]))
            return images
        least = 2 if first else 1
        table: NDArray[Any] = validate_data(self, X, reset=first, dtype=np.float64, ensure_min_samples=least)
        if first:
            spread = table.std(axis=0)
            self.mean_: NDArray[Any] = table.mean(axis=0) if self.standardize else np.zeros(table.shape[1])
            self.scale_: NDArray[Any] = np.where(spread > 0, spread, 1.0) if self.standardize else np.ones_like(spread)
        scaled: NDArray[np.float32] = ((table - self.mean_) / self.scale_).astype(np.float32)
        return scaled

    @staticmethod
    def _input(observations: NDArray[Any]) -> torch.Tensor:
        return as_network_input(torch.from_numpy(np.ascontiguousarray(observations)), torch.device("cpu"))


def blocks(observations: NDArray[Any], size: int = 256) -> list[NDArray[Any]]:
    """The rows, a few at a time."""
    return [observations[start : start + size] for start in range(0, len(observations), size)]
