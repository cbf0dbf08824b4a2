"""Autoencoders with point codes, and HFS: losses and their slopes against the papers' formulas in NumPy."""

import hand
import numpy as np
import pytest
import torch
from hand import Draws
from torch import nn

from unbraid import methods
from unbraid.core import DataSpec
from unbraid.errors import InputError

pytestmark = pytest.mark.usefixtures("double")
X, LATENTS = hand.observations(4, 1, 2, 2), 3
SMALL = {"latents": LATENTS, "width": 0.01}
VALUES = X[0].size


def tiny(config, outputs: int = LATENTS):
    method = config.build(DataSpec(X.shape[1:], 10))
    method.encoder, method.decoder = hand.Tiny(VALUES, outputs), hand.Tiny(LATENTS, *X.shape[1:])
    return method


def error(w: hand.Weights, z: np.ndarray) -> float:
    return float(hand.bernoulli(hand.linear(w, "decoder", z), X).mean())


def test_autoencoder_minimises_the_error_alone() -> None:
    method = tiny(methods.Autoencoder(**SMALL))
    hand.check_loss(method, "autoencoder", hand.batch(X), lambda w: error(w, hand.linear(w, "encoder", X)))


def test_qlae(draws: Draws) -> None:
    """Both distances have the same value; the codebook's gradient is of the one, the encoder's of the other."""
    method = tiny(methods.QLAE(values=4, quantization=0.3, commitment=0.7, **SMALL))
    with torch.no_grad():
        method.codebook.add_(0.05 * torch.randn_like(method.codebook))
    start = hand.linear({k: v.detach().numpy() for k, v in method.named_parameters()}, "encoder", X)
    book = method.codebook.detach().numpy().copy()
    place = np.abs(start[:, :, None] - book[None]).argmin(2)
    assert len(np.unique(place)) > 1

    def chosen(values: np.ndarray) -> np.ndarray:
        return np.take_along_axis(np.broadcast_to(values, (len(X), *values.shape)), place[:, :, None], 2)[:, :, 0]

    def by_hand(w: hand.Weights) -> dict[str, float]:
        codes = hand.linear(w, "encoder", X)
        # Straight through: the value of the book as it was, moved as the code is moved.
        z = codes + chosen(book) - start
        quantization = VALUES * ((start - chosen(w["codebook"])) ** 2).mean()
        commitment = VALUES * ((codes - chosen(book)) ** 2).mean()
        total = error(w, z) + 0.3 * quantization + 0.7 * commitment
        return {"total": total, "quantization": quantization, "commitment": commitment}

    hand.check_loss(method, "autoencoder", hand.batch(X), by_hand)


def rounded(codes: np.ndarray, levels: int) -> np.ndarray:
    grid = np.linspace(-1, 1, levels)
    return grid[np.abs(np.tanh(codes)[:, :, None] - grid).argmin(2)]


def test_fsq() -> None:
    method = tiny(methods.FSQ(values=5, **SMALL))
    start = hand.linear({k: v.detach().numpy() for k, v in method.named_parameters()}, "encoder", X)

    def by_hand(w: hand.Weights) -> float:
        return error(w, rounded(start, 5) + np.tanh(hand.linear(w, "encoder", X)) - np.tanh(start))

    hand.check_loss(method, "autoencoder", hand.batch(X), by_hand)


@pytest.mark.parametrize("rounds", [True, False])
def test_tripod(draws: Draws, rounds: bool) -> None:
    """Multi-information by kernels, and the mixed share of the second derivatives of a hidden layer."""
    method = tiny(methods.Tripod(values=5, independence=0.2, hessian=0.6, rounded=rounds, **SMALL))
    first, second, last = nn.Linear(LATENTS, 3), nn.Linear(3, 2), nn.Linear(2, VALUES)
    method.decoder = nn.Sequential(first, nn.Tanh(), second, nn.Tanh(), last, nn.Unflatten(1, X.shape[1:]))
    start = hand.linear({k: v.detach().numpy() for k, v in method.named_parameters()}, "encoder", X)

    def layer(w: hand.Weights, z: np.ndarray) -> np.ndarray:
        return hand.linear(w, "decoder.2", np.tanh(hand.linear(w, "decoder.0", z)))

    def by_hand(w: hand.Weights) -> dict[str, float]:
        bounded = np.tanh(hand.linear(w, "encoder", X))
        z = rounded(start, 5) + bounded - np.tanh(start) if rounds else bounded
        logits = hand.linear(w, "decoder.4", np.tanh(layer(w, z)))
        spread = bounded.std(0) + 1e-6
        n = len(X)
        width = spread * (4 / (LATENTS + 2)) ** (1 / (LATENTS + 4)) * n ** (-1 / (LATENTS + 4))
        difference = z[:, None] - z[None]
        joint = np.exp(hand.log_normal(difference, 0.0, 2 * np.log(width)).sum(2)).mean(1)
        marginal = np.exp(hand.log_normal(difference, 0.0, 2 * np.log(spread))).mean(1)
        independence = VALUES * (np.log(joint) - np.log(marginal).sum(1)).mean()

        def variance(directions: list[np.ndarray]) -> np.ndarray:
            curves = []
            for direction in directions:
                step = 0.1 * spread * direction
                curves.append((layer(w, z + step) - 2 * layer(w, z) + layer(w, z - step)) / 0.01)
            return np.stack(curves).var(0).mean(1)

        signs, normals = [2.0 * drawn - 1 for drawn in draws.whole[:2]], draws.normal[:2]
        hessian = VALUES * (variance(signs) / (variance(normals) + 1e-10)).mean()
        reconstruction = hand.bernoulli(logits, X).mean()
        total = reconstruction + 0.2 * independence + 0.6 * hessian
        return {"total": total, "independence": independence, "hessian": hessian}

    hand.check_loss(method, "autoencoder", hand.batch(X), by_hand)


def test_a_decoder_without_layers_in_a_row_has_no_hessian_penalty() -> None:
    with pytest.raises(InputError, match="network 'additive': --hessian 0"):
        methods.Tripod(network="additive").check(DataSpec(X.shape[1:], 10))
    methods.Tripod(network="additive", hessian=0.0).check(DataSpec(X.shape[1:], 10))


def test_hfs(draws: Draws) -> None:
    method = tiny(
        methods.HFSVAE(beta=1.5, gamma=4.0, scale_guard=0.3, pairs_of_latents=2, combinations=3, **SMALL), 2 * LATENTS
    )
    pairs = [(0, 1), (0, 2), (1, 2)]

    def by_hand(w: hand.Weights) -> dict[str, float]:
        mean, log_var = hand.halves(hand.linear(w, "encoder", X))
        reconstruction = error(w, hand.draw(mean, log_var, draws.normal[0]))
        kl = hand.kl(mean, log_var).sum(1).mean()
        support = 0.0
        for column, which in enumerate(draws.permutation[0][:2]):
            one, two = pairs[which]
            worst = 0.0
            for rows in draws.whole[0][:, column]:
                combination = np.array([mean[rows[0], one], mean[rows[1], two]])
                worst = max(worst, ((mean[:, [one, two]] - combination) ** 2).sum(1).min())
            support += worst
        scale = np.maximum(0, 1 - np.sqrt(mean.var(0) + 1e-6)).sum()
        total = reconstruction + 1.5 * kl + 4.0 * support + 0.3 * scale
        return {"total": total, "support": support, "scale": scale, "kl": kl}

    hand.check_loss(method, "vae", hand.batch(X), by_hand)


def test_codes_are_values_of_the_codebook() -> None:
    method = methods.QLAE(values=3, **SMALL).build(DataSpec(X.shape[1:], 10))
    q = method.encode(torch.from_numpy(X))["z"]
    assert set(np.round(q.mean.detach().numpy(), 9).ravel()) <= {-0.5, 0.0, 0.5}
    assert q.kl_per_latent().flatten().tolist() == pytest.approx([np.log(3)] * 12)
    drawn = method.prior(2000)["z"].rsample().numpy()
    shares = [(np.abs(drawn - value) < 1e-6).mean() for value in (-0.5, 0.0, 0.5)]
    assert shares == pytest.approx([1 / 3] * 3, abs=0.03)
