"""The papers' formulas in plain NumPy, and a check of losses against them. Nothing here is the library's."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from unbraid.core import Batch, Update

Weights = Mapping[str, np.ndarray]
Formula = Callable[[Weights], "float | Mapping[str, float]"]


class Draws:
    """The random numbers of a loss, in the order in which torch drew them, so that a formula can use the same."""

    def __init__(self) -> None:
        self.normal: list[np.ndarray] = []
        self.uniform: list[np.ndarray] = []
        self.exponential: list[np.ndarray] = []
        self.whole: list[np.ndarray] = []
        self.permutation: list[np.ndarray] = []

    def clear(self) -> None:
        for record in vars(self).values():
            record.clear()


class Tiny(nn.Linear):
    """A network that can be computed by hand: all inputs side by side, one linear layer, then this shape."""

    def __init__(self, inputs: int, *shape: int) -> None:
        super().__init__(inputs, int(np.prod(shape)) if shape else 1)
        self.shape = shape
        nn.init.uniform_(self.weight, -0.9, 0.9)
        nn.init.uniform_(self.bias, -0.5, 0.5)

    def forward(self, *inputs: Tensor) -> Tensor:
        return super().forward(torch.cat([x.flatten(1) for x in inputs], dim=1)).view(-1, *self.shape)


def linear(weights: Weights, name: str, *inputs: np.ndarray) -> np.ndarray:
    """What `Tiny` (or one linear layer) of this name gives, [b, output]; one number a row if it has one output."""
    flat = np.concatenate([x.reshape(len(x), -1) for x in inputs], axis=1)
    return flat @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def observations(n: int, *shape: int, seed: int = 1) -> np.ndarray:
    """Values strictly between 0 and 1."""
    return np.random.default_rng(seed).uniform(0.05, 0.95, size=(n, *shape))


def batch(x: np.ndarray, factors: Any = None, y: Any = None, codes: Any = None) -> Batch:
    """The same as the library's batch."""
    n = len(x)
    known = np.zeros((n, 0)) if factors is None else np.asarray(factors, dtype=float)
    others = {name: None if a is None else torch.from_numpy(a) for name, a in (("y", y), ("codes", codes))}
    return Batch(torch.from_numpy(x), torch.arange(n), torch.from_numpy(known), **others)


def update_of(method: Any, name: str) -> Update:
    """The update of this name."""
    return next(update for update in method.updates() if update.name == name)


def check_loss(
    method: Any, name: str, given: Batch, formula: Formula, step: int = 0, untouched: tuple[str, ...] = ()
) -> None:
    """The loss of an update has the formula's value, and its derivative by every weight that the update trains.

    The formula is asked after the loss, so that it can use the same draws. It gives the total, or total and parts by
    name. Parts of the method named in `untouched` must get no gradient at all.
    """
    update = update_of(method, name)
    terms = update.loss(given, step)
    found = terms.values()
    weights = {key: parameter.detach().numpy().copy() for key, parameter in method.named_parameters()}
    expected = formula(weights)
    if isinstance(expected, Mapping):
        for part, value in expected.items():
            assert found[part] == pytest.approx(value, rel=1e-7, abs=1e-9), part

    def total(values: Weights) -> float:
        result = formula(values)
        return float(result["total"] if isinstance(result, Mapping) else result)

    assert found["total"] == pytest.approx(total(weights), rel=1e-8)
    trained = [key for key in weights if key.split(".")[0] in update.trains]
    assert trained, f"{name} trains nothing"
    method.zero_grad()
    terms.total.backward()
    parameters = dict(method.named_parameters())
    for key in trained:
        gradient = parameters[key].grad
        slopes = np.zeros_like(weights[key]) if gradient is None else gradient.numpy()
        np.testing.assert_allclose(slopes, differences(total, weights, key), rtol=2e-4, atol=2e-6, err_msg=key)
    for key, parameter in parameters.items():
        if key.split(".")[0] in untouched:
            assert parameter.grad is None, f"{name} reaches {key}"


def differences(function: Callable[[Weights], float], weights: Weights, key: str, step: float = 1e-5) -> np.ndarray:
    """The derivative by central differences."""
    slopes = np.empty_like(weights[key])
    for place in np.ndindex(slopes.shape):
        sides = []
        for sign in (1, -1):
            moved = weights[key].copy()
            moved[place] += sign * step
            sides.append(function({**weights, key: moved}))
        slopes[place] = (sides[0] - sides[1]) / (2 * step)
    return slopes


def halves(parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and log-variances: the first half of a network's outputs and the second."""
    middle = parameters.shape[1] // 2
    return parameters[:, :middle], parameters[:, middle:]


def draw(mean: np.ndarray, log_var: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """μ + σ·ε."""
    return mean + np.sqrt(np.exp(log_var)) * noise


def log_normal(x: Any, mean: Any = 0.0, log_var: Any = 0.0) -> np.ndarray:
    """log N(x; μ, σ²), for each value."""
    variance = np.exp(log_var)
    return -((x - mean) ** 2) / (2 * variance) - np.log(np.sqrt(2 * np.pi * variance))


def kl(mean: Any, log_var: Any, prior_mean: Any = 0.0, prior_log_var: Any = 0.0) -> np.ndarray:
    """KL[N(μ, σ²) ‖ N(m, s²)] = log s/σ + (σ² + (μ − m)²)/2s² − ½, for each value."""
    variance, prior = np.exp(log_var), np.exp(prior_log_var)
    return 0.5 * np.log(prior / variance) + (variance + (mean - prior_mean) ** 2) / (2 * prior) - 0.5


def sigmoid(a: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-a))


def softmax(logits: np.ndarray) -> np.ndarray:
    powers = np.exp(logits)
    return powers / powers.sum(1, keepdims=True)


def bernoulli(logits: np.ndarray, x: np.ndarray) -> np.ndarray:
    """−log p(x) under Bernoulli pixels, summed over the values of an observation, [b]."""
    p, flat = sigmoid(logits.reshape(len(x), -1)), x.reshape(len(x), -1)
    return -(flat * np.log(p) + (1 - flat) * np.log(1 - p)).sum(1)


def normal_error(mean: np.ndarray, x: np.ndarray, scale: float) -> np.ndarray:
    """−log p(x) under Gaussian values of standard deviation `scale`, [b]."""
    return -log_normal(x, mean, 2 * np.log(scale)).sum(1)


def mixture(pairs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """log Σ over components of weight × density, from log-densities [sample, component]."""
    return np.log((weights * np.exp(pairs)).sum(1))


def plain_weights(n: int, size: int) -> np.ndarray:
    """Minibatch-weighted sampling (S4 of β-TCVAE): 1/(N·M) for all."""
    return np.full((n, n), 1 / (size * n))


def stratified_weights(n: int, size: int, odd: np.ndarray) -> np.ndarray:
    """Minibatch-stratified sampling (S6): 1/N for itself, (N − M)/(N·M) for the odd one, 1/M for the others."""
    m = n - 1
    weights = np.full((n, n), 1 / m)
    for row in range(n):
        weights[row, row] = 1 / size
        weights[row, (row + int(odd[row])) % n] = (size - m) / (size * m)
    return weights


def decomposition(
    z: np.ndarray, mean: np.ndarray, log_var: np.ndarray, log_prior: np.ndarray, weights: np.ndarray
) -> tuple[float, float, float]:
    """Index-code information, total correlation and dimension-wise KL (eq. 3 of β-TCVAE)."""
    each = log_normal(z[:, None], mean[None], log_var[None])  # [sample, component, latent]
    joint = mixture(each.sum(2), weights)
    product = sum(mixture(each[:, :, j], weights) for j in range(z.shape[1]))
    own = log_normal(z, mean, log_var).sum(1)
    return float((own - joint).mean()), float((joint - product).mean()), float((product - log_prior).mean())
