"""Codes that are points, components or flows, small pictures with labels, and the fast second stage, in NumPy."""

from __future__ import annotations

import hand
import numpy as np
import pytest
import torch
from hand import Draws

from unbraid import methods
from unbraid.core import DataSpec
from unbraid.data import Factor
from unbraid.data.own.arrays import from_arrays
from unbraid.methods.pairs.ada_vae import shared_latents
from unbraid.methods.staged.gaussian_mixture import Component
from unbraid.methods.traits import Traits
from unbraid.ops.gaussian import DiagonalGaussian

pytestmark = pytest.mark.usefixtures("double")
X = hand.observations(4, 1, 2, 2)


def weights(method) -> dict[str, np.ndarray]:
    return {name: parameter.detach().numpy() for name, parameter in method.named_parameters()}


def test_codes_of_autoencoders_are_what_the_encoder_makes_or_the_nearest_value(draws: Draws) -> None:
    spec = DataSpec((1, 2, 2), 10)
    for config in (methods.Autoencoder(latents=3, width=0.01), methods.FSQ(latents=3, width=0.01, values=4)):
        method = config.build(spec)
        method.encoder, method.decoder = hand.Tiny(4, 3), hand.Tiny(3, 1, 2, 2)
        codes = hand.linear(weights(method), "encoder", X)
        levels = np.array([-1, -1 / 3, 1 / 3, 1])
        if isinstance(config, methods.FSQ):
            codes = levels[np.abs(np.tanh(codes)[:, :, None] - levels).argmin(2)]
        q = method.encode(torch.from_numpy(X))["z"]
        np.testing.assert_allclose(q.mean.detach().numpy(), codes)
        np.testing.assert_allclose(q.rsample().detach().numpy(), codes)
        made = method.decode({"z": q.mean}).detach().numpy().reshape(4, -1)
        np.testing.assert_allclose(made, hand.sigmoid(hand.linear(weights(method), "decoder", codes)))
        if isinstance(config, methods.FSQ):
            prior = method.prior(50)["z"]
            draws.clear()
            drawn = prior.rsample().numpy()
            np.testing.assert_allclose(drawn, levels[draws.whole[0][:, :, 0]])
            np.testing.assert_allclose(prior.mean.numpy(), np.zeros((50, 3)), atol=1e-12)
            np.testing.assert_allclose(q.kl_per_latent().detach().numpy(), np.full((4, 3), np.log(4)))


def test_draws_of_a_mixture(draws: Draws) -> None:
    """A component by its share, then each value by its own deviation."""
    method = methods.GaussianMixture(components=3).build(DataSpec((2,), 10))
    with torch.no_grad():
        method.logits.copy_(torch.tensor([0.0, 1.0, -1.0]))
        method.means.copy_(torch.tensor([[0.0, 1.0], [5.0, -5.0], [2.0, 2.0]]))
        method.log_vars.copy_(torch.tensor([[0.0, -1.0], [1.0, 0.5], [-2.0, 2.0]]))
    codes = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    draws.clear()
    x = method.sample_x({"c": codes}).detach().numpy()
    w = weights(method)
    np.testing.assert_allclose(x, w["means"] + np.exp(w["log_vars"] / 2) * draws.normal[0])
    draws.clear()
    drawn = method.prior(3000)["c"].rsample()
    gumbel = -np.log(draws.exponential[0])
    expected = (w["logits"] - np.log(np.exp(w["logits"]).sum()) + gumbel).argmax(1)
    assert (drawn.argmax(1).numpy() == expected).all()
    shares = np.exp(w["logits"]) / np.exp(w["logits"]).sum()
    np.testing.assert_allclose(drawn.mean(0).numpy(), shares, atol=0.03)


def test_each_component_s_part_of_the_divergence() -> None:
    p, prior = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]]), np.array([0.5, 0.3, 0.2])
    found = Component(torch.from_numpy(np.log(p)), torch.from_numpy(np.log(prior))).kl_per_latent().numpy()
    np.testing.assert_allclose(found, p * np.log(p / prior) - p + prior)
    assert (found >= 0).all()


def test_a_flow_decodes_what_it_encodes() -> None:
    method = methods.MSFlow(transforms=3, width=0.004).build(DataSpec((4,), 10))
    x, y = torch.from_numpy(hand.observations(5, 4)), torch.from_numpy(hand.observations(5, 4, seed=2))
    method.prepare(iter([3 + 2 * x]))
    z = method.encode(x, y)["z"].mean
    np.testing.assert_allclose(method.decode({"z": z}, y).detach().numpy(), x.numpy(), atol=1e-8)
    standard = method.flow(y).transform.inv(z).detach().numpy()
    expected = standard * (2 * x).std(0, correction=0).numpy() + (3 + 2 * x).mean(0).numpy()
    np.testing.assert_allclose(method.decode({"z": z}, y).detach().numpy(), expected, atol=1e-8)


@pytest.mark.parametrize("config", [methods.IVAE, methods.IDVAE, methods.SSIVAE])
def test_small_pictures_with_labels_count_as_much_as_whole_ones(config) -> None:
    factor = (Factor("class", 2, "categorical"),)
    spec = DataSpec((1, 16, 16), 10, factor, ((0.0, 1.0),), labelled=4, shares=((0.5, 0.5),), means=(0.5,))
    method = config(latents=2, width=0.05, resolution=8, likelihood="gaussian", scale=0.5).build(spec)
    x, z = torch.rand(3, 1, 16, 16), torch.randn(3, 2)
    made = method.decoder(z).sigmoid()
    assert made.shape == (3, 1, 8, 8)
    small = x.reshape(3, 1, 8, 2, 8, 2).mean((3, 5))
    rows = (0.5 * ((small - made) / 0.5) ** 2 + np.log(0.5 * np.sqrt(2 * np.pi))).sum((1, 2, 3))
    torch.testing.assert_close(method.reconstruction_rows(z, x), 4 * rows)


def test_which_latents_a_pair_shares_is_told_from_the_first_to_the_second() -> None:
    """KL[q₁ ‖ q₂] of each latent, and a threshold of each pair's own."""
    mean = torch.tensor([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    one = DiagonalGaussian(mean, torch.tensor([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    two = DiagonalGaussian(mean + torch.tensor([[0.0, 1.2, 0.0], [9.0, 1.0, 0.0]]), torch.zeros(2, 3))
    there = hand.kl(one.mean.numpy(), one.log_var.numpy(), two.mean.numpy(), two.log_var.numpy())
    back = hand.kl(two.mean.numpy(), two.log_var.numpy(), one.mean.numpy(), one.log_var.numpy())

    def below(distance: np.ndarray) -> list[list[bool]]:
        middle = (distance.min(1) + distance.max(1)) / 2
        return (distance < middle[:, None]).tolist()

    assert shared_latents(one, two).tolist() == below(there) == [[False, True, True], [False, True, True]]
    assert below(back) != below(there)
    near = DiagonalGaussian(torch.tensor([[3.0, 2.9, 4.0], [0.0, 1.0, 0.1]]), torch.zeros(2, 3))
    centre = DiagonalGaussian(torch.zeros(2, 3), torch.zeros(2, 3))
    distance = 0.5 * near.mean.numpy() ** 2  # the least of one pair is far above that of the other
    assert shared_latents(centre, near).tolist() == below(distance)
    assert (distance < (distance.min(0) + distance.max(1, keepdims=True)) / 2).tolist() != below(distance)


def test_codes_that_are_wide_enough_are_not_pulled_together() -> None:
    """The guard of HFS is of deviations below 1 only."""
    method = methods.HFSVAE(latents=2, width=0.01, scale_guard=0.3).build(DataSpec((1, 2, 2), 10))
    method.encoder, method.decoder = hand.Tiny(4, 4), hand.Tiny(2, 1, 2, 2)
    with torch.no_grad():
        method.encoder.weight[0] *= 40
    mean = hand.linear(weights(method), "encoder", X)[:, :2]
    deviations = mean.std(0)
    assert deviations[0] > 1.5 > 1 > deviations[1]
    found = method.loss(hand.batch(X), 0).values()["scale"]
    assert found == pytest.approx(1 - np.sqrt(deviations[1] ** 2 + 1e-6))


class Sees(torch.nn.Module):
    """A decoder that adds a number of its own to y, and one that z weighs."""

    def __init__(self) -> None:
        super().__init__()
        self.added, self.weighs = torch.nn.Parameter(torch.tensor(0.2)), torch.nn.Parameter(torch.tensor(0.3))

    def forward(self, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        return y + self.added + self.weighs * z.sum(1)[:, None, None, None]


@pytest.mark.parametrize("likelihood", ["gaussian", "laplace", "gaussian-optimal"])
def test_the_fast_second_stage_compares_x_with_the_image_that_it_makes(likelihood: str, draws: Draws) -> None:
    config = methods.MSVAE(latents=2, width=0.05, network="fast", likelihood=likelihood, scale=0.4, beta=1.7)
    method = config.build(DataSpec((1, 16, 16), 10))
    method.encoder, method.decoder = hand.Tiny(256, 4), Sees()
    x, y = hand.observations(3, 1, 16, 16), hand.observations(3, 1, 16, 16, seed=3)
    draws.clear()

    def by_hand(w: hand.Weights) -> dict[str, float]:
        mean, log_var = hand.halves(hand.linear(w, "encoder", x - y))
        z = hand.draw(mean, log_var, draws.normal[0])
        error = (x - y - w["decoder.added"] - w["decoder.weighs"] * z.sum(1)[:, None, None, None]).reshape(3, -1)
        if likelihood == "laplace":
            rows = (np.abs(error) / 0.4 + np.log(2 * 0.4)).sum(1)
        else:  # the optimal scale is that of the errors, and its slope vanishes there
            variance = 0.4**2 if likelihood == "gaussian" else (error**2).mean()
            rows = 0.5 * (error**2 / variance + np.log(2 * np.pi * variance)).sum(1)
        kl = hand.kl(mean, log_var).sum(1).mean()
        return {"total": rows.mean() + 1.7 * kl, "reconstruction": rows.mean(), "kl": kl}

    update = hand.update_of(method, "vae")
    terms = update.loss(hand.batch(x, y=y), 0)
    expected = by_hand(weights(method))
    assert {name: terms.values()[name] for name in expected} == pytest.approx(expected)
    terms.total.backward()
    for key in ("decoder.added", "decoder.weighs", "encoder.bias"):
        slopes = hand.differences(lambda w: by_hand(w)["total"], {k: v.copy() for k, v in weights(method).items()}, key)
        np.testing.assert_allclose(dict(method.named_parameters())[key].grad.numpy(), slopes, rtol=1e-4, atol=1e-5)


def test_figures_beside_the_loss_have_no_slope() -> None:
    method = methods.BetaTCVAE(latents=2, width=0.01).build(DataSpec((1, 2, 2), 10))
    method.encoder, method.decoder = hand.Tiny(4, 4), hand.Tiny(2, 1, 2, 2)
    figures = method.loss(hand.batch(X), 0).figures
    for name in ("index_code_unbiased", "total_correlation_unbiased", "dimension_kl_unbiased"):
        assert not figures[name]().requires_grad


def test_counts_are_dispersed_by_their_variance_over_their_mean() -> None:
    draws = np.random.default_rng(0)
    counts = np.stack([draws.poisson(30, 400), draws.negative_binomial(2, 0.05, 400), draws.poisson(8, 400)], axis=1)
    counts = np.column_stack([counts, np.zeros(400, dtype=int)])  # never counted: it has no ratio
    data = from_arrays(counts.astype(float), kind="counts")
    ratio = counts[:, :3].var(axis=0) / counts[:, :3].mean(axis=0)
    assert Traits.of(data).dispersion == pytest.approx(np.median(ratio), rel=1e-4)
    assert Traits.of(data).likelihood == "poisson"
    wide = from_arrays(counts[:, [1, 1, 0]].astype(float), kind="counts")
    assert Traits.of(wide).likelihood == "negative-binomial"


def test_the_prior_of_labels_is_that_of_their_scaled_values() -> None:
    factor = (Factor("mass", 0, "continuous"),)
    spec = DataSpec((1, 2, 2), 10, factor, ((2.0, 6.0),), labelled=4, shares=((),), means=(3.0,))
    method = methods.IVAE(latents=2, width=0.01).build(spec)
    method.prior_encoder = hand.Tiny(1, 4)
    p = method.conditional_prior_of(torch.tensor([[5.0], [2.0]]))
    mean, log_var = hand.halves(hand.linear(weights(method), "prior_encoder", np.array([[0.75], [0.0]])))
    np.testing.assert_allclose(p.mean.detach().numpy(), mean)
    np.testing.assert_allclose(p.log_var.detach().numpy(), log_var)


def test_the_decoder_of_parted_vae_sees_class_codes_first() -> None:
    method = methods.PartedVAE(latents=2, class_latents=1, classes=(3,), width=0.01).build(DataSpec((1, 2, 2), 10))
    method.decoder = hand.Tiny(3, 1, 2, 2)
    u, z = np.array([[0.3], [-1.0]]), np.array([[2.0, 0.5], [0.1, -0.7]])
    made = method.decode({"z": torch.from_numpy(z), "u": torch.from_numpy(u)}).detach().numpy().reshape(2, -1)
    np.testing.assert_allclose(made, hand.sigmoid(hand.linear(weights(method), "decoder", u, z)))


def test_codes_of_a_class_are_its_mode_beside_the_likeliest_modes_of_the_others() -> None:
    method = methods.PartedVAE(latents=2, class_latents=2, classes=(3, 2), width=0.01).build(DataSpec((1, 2, 2), 10))
    method.class_shares.copy_(torch.tensor([0.2, 0.3, 0.5, 0.6, 0.4]))
    first, second = (modes.mean.detach().numpy() for modes in method.mode_list)
    found = method.class_codes(0, torch.tensor([1, 0])).detach().numpy()
    np.testing.assert_allclose(found, [[*first[1], *second[0]], [*first[0], *second[0]]])
    found = method.class_codes(1, torch.tensor([1])).detach().numpy()
    np.testing.assert_allclose(found, [[*first[2], *second[1]]])


def test_the_parts_of_a_semi_supervised_bound_are_called_by_their_names() -> None:
    factor = (Factor("mass", 0, "continuous"),)
    spec = DataSpec((1, 2, 2), 10, factor, ((2.0, 6.0),), labelled=4, shares=((),), means=(3.0,))
    method = methods.SSIDVAE(latents=2, width=0.01, beta=1.7).build(spec)
    method.encoder, method.decoder = hand.Tiny(5, 4), hand.Tiny(2, 1, 2, 2)
    bound, parts = method.bound_rows(torch.from_numpy(X), torch.rand(4, 1))
    total = parts["reconstruction"] + 1.7 * parts["kl"] + parts["label"] + parts["label_kl"]
    torch.testing.assert_close(bound, total)
