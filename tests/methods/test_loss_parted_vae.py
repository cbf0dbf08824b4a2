"""PartedVAE: both losses and their slopes against eqs. 6 and 7 of Hajimiri et al. 2021, in NumPy."""

import hand
import numpy as np
import pytest
import torch
from hand import Draws
from torch import nn

from unbraid import methods
from unbraid.core import DataSpec
from unbraid.data import Factor

pytestmark = pytest.mark.usefixtures("double")
X = hand.observations(3, 1, 2, 2)
SPEC = DataSpec(
    (1, 2, 2),
    10,
    (Factor("a", 3, "categorical"), Factor("b", 2, "categorical")),
    ranges=((0.0, 2.0), (0.0, 1.0)),
    labelled=6,
    shares=((0.5, 0.3, 0.2), (0.4, 0.6)),
    means=(0.7, 0.6),
)
SIZES, FEATURES, U, Z = (3, 2), 5, 2, 2
OPTIONS = {
    "latents": Z,
    "class_latents": U,
    "gamma_u": 2.0,
    "gamma_z": 3.0,
    "gamma_c": 5.0,
    "gamma_h": 7.0,
    "gamma_bc": 11.0,
    "tolerance": 0.6,
    "capacity_u": 8.0,
    "capacity_z": 4.0,
    "capacity_steps": 10,
    "temperature": 0.5,
    "attention_gain": 6.0,
    "attention_steps": 20,
    "width": 0.01,
}


class TinyClassifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.trunk, self.head = hand.Tiny(4, FEATURES), nn.Linear(FEATURES, sum(SIZES))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.trunk(x))  # type: ignore[no-any-return]


def tiny(**more: str):
    """Two discrete variables, each with two codes u; two codes z."""
    method = methods.PartedVAE(**OPTIONS, **more).build(SPEC)
    method.classifier = TinyClassifier()
    for k, size in enumerate(SIZES):
        method.attention[k].linear = nn.Linear(size, FEATURES)
        method.u_heads[k] = nn.Linear(FEATURES, 2 * U)
        with torch.no_grad():
            method.modes[k].mean.uniform_(-1, 1)
            method.modes[k].raw_log_var.uniform_(-1, 1)
    method.z_head, method.decoder = nn.Linear(FEATURES, 2 * Z), hand.Tiny(2 * U + Z, 1, 2, 2)
    return method


def affinity(mean: np.ndarray, log_var: np.ndarray, i: int, j: int) -> float:
    """BC = e^(−D_B) of two Gaussians with diagonal covariances (A.1)."""
    first, second = (np.diag(np.exp(log_var[k])) for k in (i, j))
    between, apart = (first + second) / 2, mean[i] - mean[j]
    spread = np.linalg.det(between) / np.sqrt(np.linalg.det(first) * np.linalg.det(second))
    return float(np.exp(-apart @ np.linalg.inv(between) @ apart / 8 - np.log(spread) / 2))


def terms_by_hand(w: hand.Weights, draws: Draws, gain: float, shares: list[np.ndarray]) -> dict[str, float]:
    """The six terms of eq. 6, without their weights; sums over the discrete variables as in A.5."""
    h = hand.linear(w, "classifier.trunk", X)
    logits = np.split(hand.linear(w, "classifier.head", h), [3], axis=1)
    codes, kl_u, kl_c, entropy, overlap = [], 0.0, 0.0, 0.0, 0.0
    for k, one in enumerate(logits):
        c = hand.softmax((one - np.log(draws.exponential[k])) / 0.5)  # the Gumbel-softmax draw
        attention = hand.sigmoid(gain * hand.linear(w, f"attention.{k}.linear", c))
        mean, log_var = hand.halves(hand.linear(w, f"u_heads.{k}", h * attention))
        codes.append(hand.draw(mean, log_var, draws.normal[k]))
        modes, mode_log_var = w[f"modes.{k}.mean"], 2 * np.tanh(w[f"modes.{k}.raw_log_var"]) - 1
        q = hand.softmax(one)  # q(c | x), by which the KLs to the modes are weighed
        kls = [hand.kl(mean, log_var, modes[i], mode_log_var[i]).sum(1) for i in range(SIZES[k])]
        kl_u += sum(q[:, i] * kls[i] for i in range(SIZES[k])).mean()
        kl_c += (q.mean(0) * np.log(q.mean(0) / shares[k])).sum()
        entropy -= (q * np.log(q)).sum(1).mean()
        for i in range(SIZES[k]):
            for j in range(i + 1, SIZES[k]):
                overlap += max(affinity(modes, mode_log_var, i, j) - 0.6, 0.0)
    mean, log_var = hand.halves(hand.linear(w, "z_head", h))
    codes.append(hand.draw(mean, log_var, draws.normal[2]))
    error = hand.bernoulli(hand.linear(w, "decoder", *codes), X).mean()
    kl_z = hand.kl(mean, log_var).sum(1).mean()
    return {"reconstruction": error, "kl_u": kl_u, "kl_z": kl_z, "kl_c": kl_c, "entropy": entropy, "overlap": overlap}


UNIFORM = [np.full(3, 1 / 3), np.full(2, 1 / 2)]
LABELS = [np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.6])]


@pytest.mark.parametrize(
    ("step", "gain", "capacity_u", "capacity_z"),
    [(0, 1.0, 0.0, 0.0), (5, 2.25, 4.0, 2.0), (10, 3.5, 8.0, 4.0), (20, 6.0, 8.0, 4.0), (99, 6.0, 8.0, 4.0)],
)
def test_the_elbo_is_equation_6(step: int, gain: float, capacity_u: float, capacity_z: float, draws: Draws) -> None:
    method = tiny()
    draws.clear()

    def by_hand(w: hand.Weights) -> dict[str, float]:
        t = terms_by_hand(w, draws, gain, UNIFORM)
        total = t["reconstruction"] + 2.0 * abs(t["kl_u"] - capacity_u) + 3.0 * abs(t["kl_z"] - capacity_z)
        return {"total": total + 5.0 * t["kl_c"] + 7.0 * t["entropy"] + 11.0 * t["overlap"], **t}

    hand.check_loss(method, "vae", hand.batch(X), by_hand, step)


def test_the_prior_of_classes_may_be_that_of_the_labels(draws: Draws) -> None:
    method = tiny(class_prior="labels")
    draws.clear()
    found = hand.update_of(method, "vae").loss(hand.batch(X), 0).values()
    w = {name: parameter.detach().numpy() for name, parameter in method.named_parameters()}
    assert found["kl_c"] == pytest.approx(terms_by_hand(w, draws, 1.0, LABELS)["kl_c"], rel=1e-9)
    assert found["kl_c"] != pytest.approx(terms_by_hand(w, draws, 1.0, UNIFORM)["kl_c"], rel=1e-3)


def test_some_overlaps_are_tolerated_and_others_are_not() -> None:
    """So that the loss above has pairs on both sides of δ."""
    w = {name: parameter.detach().numpy() for name, parameter in tiny().named_parameters()}
    found = []
    for k, size in enumerate(SIZES):
        spread = 2 * np.tanh(w[f"modes.{k}.raw_log_var"]) - 1
        found += [affinity(w[f"modes.{k}.mean"], spread, i, j) for i in range(size) for j in range(i + 1, size)]
    assert min(found) < 0.6 < max(found)


def test_labels_teach_trunk_and_class_head(draws: Draws) -> None:
    """Eq. 7 for each discrete variable over the rows of which its label is known; the variables are summed."""
    labels = np.array([[2.0, np.nan], [0.0, 1.0], [np.nan, 0.0]])

    def by_hand(w: hand.Weights) -> dict[str, float]:
        h = hand.linear(w, "classifier.trunk", X)
        first, second = (hand.softmax(one) for one in np.split(hand.linear(w, "classifier.head", h), [3], axis=1))
        right = [first[0].argmax() == 2, first[1].argmax() == 0, second[1].argmax() == 1, second[2].argmax() == 0]
        total = -(np.log(first[0, 2]) + np.log(first[1, 0])) / 2 - (np.log(second[1, 1]) + np.log(second[2, 0])) / 2
        return {"total": total, "accuracy": np.mean(right)}

    others = ("attention", "u_heads", "z_head", "modes", "decoder")
    hand.check_loss(tiny(), "labelled", hand.batch(X, labels), by_hand, untouched=others)


def test_codes_are_those_of_the_likeliest_class_at_the_last_gain() -> None:
    method = tiny(class_prior="labels")
    w = {name: parameter.detach().numpy() for name, parameter in method.named_parameters()}
    found = method.encode(torch.from_numpy(X))
    h = hand.linear(w, "classifier.trunk", X)
    logits = np.split(hand.linear(w, "classifier.head", h), [3], axis=1)
    means, kls = [], []
    for k, one in enumerate(logits):
        likeliest = np.eye(SIZES[k])[one.argmax(1)]
        attention = hand.sigmoid(6.0 * hand.linear(w, f"attention.{k}.linear", likeliest))
        mean, log_var = hand.halves(hand.linear(w, f"u_heads.{k}", h * attention))
        modes, variances = w[f"modes.{k}.mean"], np.exp(2 * np.tanh(w[f"modes.{k}.raw_log_var"]) - 1)
        centre = LABELS[k] @ modes
        spread = LABELS[k] @ (variances + modes**2) - centre**2  # of the mixture
        means.append(mean)
        kls.append(hand.kl(mean, log_var, centre, np.log(spread)))
    np.testing.assert_allclose(found["u"].mean.detach().numpy(), np.concatenate(means, axis=1))
    np.testing.assert_allclose(found["u"].kl_per_latent().detach().numpy(), np.concatenate(kls, axis=1), rtol=1e-6)
    z_mean, z_log_var = hand.halves(hand.linear(w, "z_head", h))
    np.testing.assert_allclose(found["z"].mean.detach().numpy(), z_mean)
    np.testing.assert_allclose(found["z"].kl_per_latent().detach().numpy(), hand.kl(z_mean, z_log_var), rtol=1e-6)
    shares = [one.detach().numpy() for one in method.classify(torch.from_numpy(X))]
    np.testing.assert_allclose(shares[0], hand.softmax(logits[0]))
    np.testing.assert_allclose(shares[1], hand.softmax(logits[1]))
