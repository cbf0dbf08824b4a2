"""Where methods begin (PCA, EM), what they draw, and options that only some of their functions read, in NumPy."""

from dataclasses import replace

import hand
import numpy as np
import pytest
import torch
from hand import Draws
from scipy.special import gammaln
from torch import nn

from unbraid import methods
from unbraid.core import Adam, DataSpec
from unbraid.data import Factor
from unbraid.data.counts import Counts
from unbraid.data.own.arrays import from_arrays
from unbraid.data.pairs import Pairs
from unbraid.errors import InputError
from unbraid.methods.staged import gaussian_mixture, ms_flow
from unbraid.methods.staged.sizes import latents
from unbraid.methods.traits import Traits, check_counts

pytestmark = pytest.mark.usefixtures("double")
X, Y = hand.observations(3, 1, 5, 5), hand.observations(3, 1, 5, 5, seed=2)
TRACES = 3 * hand.observations(3, 4) - 1
SIDE = (Factor("side", 2, "categorical"),)


def weights(method: nn.Module) -> dict[str, np.ndarray]:
    return {name: parameter.detach().numpy() for name, parameter in method.named_parameters()}


@pytest.mark.parametrize(("config", "beta"), [(methods.BetaVAE(beta=2.0), 2.0), (methods.VAE(), 1.0)])
def test_what_begins_as_pca_knows_the_weight_of_the_kl(config: methods.VAE, beta: float) -> None:
    """Values ±3, ±2, ±1 on their own: variances 9, 4 and 1, of which two codes leave 1; then β·1 of 9 and of 4."""
    signs = np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1]), axis=-1).reshape(-1, 3)
    changes = {"latents": 2, "network": "mlp-pca", "likelihood": "gaussian", "width": 0.01}
    method = type(config)(**{**changes, **({"beta": beta} if isinstance(config, methods.BetaVAE) else {})}).build(
        DataSpec((3,), 8)
    )
    method.prepare(iter([torch.from_numpy(signs * [3.0, 2.0, 1.0])]))
    w = weights(method)
    np.testing.assert_allclose(w["encoder.head.bias"][2:], np.log([beta / 9, beta / 4]), rtol=1e-9)
    steep = np.abs(w["encoder.head.weight"][:2, -3:])
    np.testing.assert_allclose(steep, np.diag(np.sqrt([9 - beta, 4 - beta]) / [9, 4]) @ np.eye(2, 3), atol=1e-9)


def test_rates_of_a_conditional_model_are_shares_of_each_observations_total() -> None:
    counts = np.array([[0.0, 3.0, 11.0], [7.0, 1.0, 5.0]])
    spec = DataSpec((3,), 10, SIDE, ((0.0, 1.0),), 0, 4, ((0.5, 0.5),), (0.5,), Counts((2.0, 1.5, 14.0), library=13.0))
    z = np.array([[0.3, -1.0], [0.8, 0.1]])
    for library in (False, True):
        config = methods.IVAE(likelihood="poisson", library_size=library, latents=2, width=0.01)
        method, layers = config.build(spec), config.count_layers(spec)
        assert layers is not None
        method.decoder = nn.Sequential(hand.Tiny(2, 3), layers.output())
        w = weights(method)
        output = hand.linear(w, "decoder.0", z) + w["decoder.1.log_rate"]
        rate = counts.sum(1, keepdims=True) * hand.softmax(output) if library else np.exp(output)
        rows = (rate - counts * np.log(rate) + gammaln(counts + 1)).sum(1)
        found = method.reconstruction_rows(torch.from_numpy(z), torch.from_numpy(counts)).detach().numpy()
        np.testing.assert_allclose(found, rows, rtol=1e-6)


def test_class_codes_are_drawn_as_wide_as_their_mode(draws: Draws) -> None:
    method = methods.PartedVAE(latents=2, class_latents=2, classes=(3, 2), width=0.01).build(DataSpec((1, 5, 5), 10))
    with torch.no_grad():
        method.class_shares.copy_(torch.tensor([0.0, 1.0, 0.0, 1.0, 0.0]))
        for modes in method.mode_list:
            modes.raw_log_var.uniform_(-1, 1)
    prior = method.prior(4)
    w = weights(method)
    mean = np.concatenate((w["modes.0.mean"][1], w["modes.1.mean"][0]))
    log_var = 2 * np.tanh(np.concatenate((w["modes.0.raw_log_var"][1], w["modes.1.raw_log_var"][0]))) - 1
    draws.clear()
    u = prior["u"].rsample().detach().numpy()
    np.testing.assert_allclose(u, mean + np.exp(log_var / 2) * draws.normal[0])
    z = prior["z"].rsample().detach().numpy()
    np.testing.assert_allclose(z, draws.normal[1])


@pytest.mark.parametrize("config", [methods.AdaGVAE, methods.AdaMLVAE, methods.SlowVAE])
def test_updates_of_pairs_ask_for_the_pairs_that_were_chosen(config: type[methods.AdaGVAE]) -> None:
    chosen = Pairs(kind="same", by="object")
    (update,) = config(pairs=chosen, width=0.01).build(DataSpec((1, 5, 5), 10)).updates()
    assert update.pairs == chosen


def test_draws_of_given_controls_have_the_models_scale(draws: Draws) -> None:
    spec = DataSpec((4,), 10, SIDE, ((0.0, 1.0),), labelled=10, shares=((0.5, 0.5),), means=(0.5,))
    method = methods.Controls(likelihood="gaussian", scale=0.3, width=0.01).build(spec)
    method.decoder = hand.Tiny(2, 4)
    draws.clear()
    x = method.sample_x({"c": torch.tensor([[1.0], [0.0]])}).detach().numpy()
    mean = hand.linear(weights(method), "decoder", np.array([[0.0, 1.0], [1.0, 0.0]]))
    np.testing.assert_allclose(x, mean + 0.3 * draws.normal[0])


def test_end_to_end_on_traces_has_the_models_scale(draws: Draws) -> None:
    config = methods.EndToEnd(latents=2, residual_latents=1, beta=5.0, residual_beta=2.0, width=0.01)
    method = type(config)(**{**vars(config), "likelihood": "gaussian", "scale": 0.3}).build(DataSpec((4,), 10))
    method.encoder, method.decoder = hand.Tiny(4, 6), hand.Tiny(3, 4)

    def by_hand(w: hand.Weights) -> float:
        output = hand.linear(w, "encoder", TRACES)
        c, z = (output[:, :2], output[:, 2:4]), (output[:, 4:5], output[:, 5:])
        made = hand.linear(w, "decoder", hand.draw(*c, draws.normal[0]), hand.draw(*z, draws.normal[1]))
        rows = hand.normal_error(made, TRACES, 0.3) + 5 * hand.kl(*c).sum(1) + 2 * hand.kl(*z).sum(1)
        return float(rows.mean())

    hand.check_loss(method, "vae", hand.batch(TRACES), by_hand)


def test_em_knows_how_many_observations_each_component_has() -> None:
    method = methods.GaussianMixture(components=2).build(DataSpec((1,), 8))
    method.prepare(iter([torch.tensor([[0.0], [0.1], [-0.1], [0.0], [0.1], [-0.1], [9.0], [9.1]])]))
    found = dict(zip(method.means.detach().numpy()[:, 0].round(2), torch.softmax(method.logits, 0), strict=True))
    assert {mean: round(share.item(), 4) for mean, share in found.items()} == {0.0: 0.75, 9.05: 0.25}


def test_em_sees_bytes_as_the_values_that_they_stand_for(draws: Draws) -> None:
    """Two images of one black pixel: somewhere in the first of 256 steps, not both in its middle."""
    method = methods.GaussianMixture(components=1).build(DataSpec((1, 1, 1), 2))
    draws.clear()
    method.prepare(iter([torch.zeros(2, 1, 1, 1)]))
    p = 1e-6 + (1 - 2e-6) * draws.uniform[0] / 256
    t = np.log(p / (1 - p))
    np.testing.assert_allclose(method.means.detach().numpy()[0], t.mean(0))
    np.testing.assert_allclose(method.log_vars.detach().numpy()[0], np.log(t.var(0) + 1e-4))


def test_all_components_are_asked_for_the_same_point(draws: Draws) -> None:
    """log Σₖ πₖ p(t | yₖ), t the logits of one dequantised x."""
    flow = methods.MSFlow(transforms=2, width=0.004).build(DataSpec((1, 2, 2), 10))
    x, centres = torch.from_numpy(X[:, :, :2, :2]), torch.from_numpy(Y[:2, :, :2, :2])
    draws.clear()
    found, best = ms_flow.log_density(torch.tensor([0.3, 0.7]).log(), centres, flow, x)
    (noise,) = draws.uniform
    p = 1e-6 + (1 - 2e-6) * (255 * X[:, :, :2, :2].reshape(3, -1) + noise) / 256
    t = torch.from_numpy(np.log(p / (1 - p)))
    given = [flow.flow(centre.flatten().expand(3, -1)).log_prob(t).detach().numpy() for centre in centres]
    joint = np.array([[0.3], [0.7]]) * np.exp(given)
    np.testing.assert_allclose(found.detach().numpy(), np.log(joint.sum(0)), rtol=1e-6)
    assert best.tolist() == joint.argmax(0).tolist()


def test_latents_of_all_kinds_are_counted() -> None:
    assert latents([methods.EndToEnd(latents=2, residual_latents=3), methods.InfoGAN(codes=4)]) == 9


def test_the_kl_that_is_shown_is_no_distance_from_a_capacity() -> None:
    method = methods.AnnealedVAE(latents=2, capacity=9.0, capacity_steps=10, width=0.01).build(DataSpec((1, 5, 5), 10))
    method.encoder = hand.Tiny(25, 4)
    kl = hand.kl(*hand.halves(hand.linear(weights(method), "encoder", X))).sum(1).mean()
    values = method.loss(hand.batch(X), 5).values()
    assert (values["kl"], values["kl_distance"]) == pytest.approx((kl, abs(kl - 4.5)))


def test_ms_vae_may_be_given_logits_of_y(draws: Draws) -> None:
    """As in the authors' code, in encoder and decoder alike; black and white are half a byte from the ends."""
    y = Y.copy()
    y[0, 0, 0, :2] = 0.0, 1.0
    method = methods.MSVAE(latents=2, beta=3.0, details=("logits",), width=0.01).build(DataSpec((1, 5, 5), 10))
    method.encoder, method.decoder = hand.Tiny(25, 4), hand.Tiny(27, 1, 5, 5)
    shade = np.clip(y, 1 / 510, 509 / 510)
    seen = np.log(shade / (1 - shade))

    def by_hand(w: hand.Weights) -> dict[str, float]:
        mean, log_var = hand.halves(hand.linear(w, "encoder", X - seen))
        made = hand.linear(w, "decoder", seen, hand.draw(mean, log_var, draws.normal[0]))
        error, kl = hand.bernoulli(made, X).mean(), hand.kl(mean, log_var).sum(1).mean()
        return {"total": error + 3.0 * kl, "reconstruction": error, "kl": kl}

    hand.check_loss(method, "vae", hand.batch(X, y=y), by_hand)
    z = np.array([[0.5, -1.0], [0.0, 2.0], [1.0, 1.0]])
    made = method.decode({"z": torch.from_numpy(z)}, torch.from_numpy(y)).detach().numpy().reshape(3, -1)
    np.testing.assert_allclose(made, hand.sigmoid(hand.linear(weights(method), "decoder", seen, z)))


@pytest.mark.parametrize(
    "config",
    [
        methods.PartedVAE(latents=2, classes=(2,), width=0.01, likelihood="poisson", library_size=True),
        methods.JointVAE(latents=2, classes=(2,), width=0.01, likelihood="poisson", library_size=True),
        methods.HFVAE(groups=(1, 1), classes=(2,), width=0.01, likelihood="poisson", library_size=True),
        methods.BetaVAE(latents=2, width=0.01, likelihood="poisson", library_size=True),
    ],
    ids=lambda config: config.name,
)
def test_rates_of_every_loss_are_shares_of_an_observations_total(config: methods.BetaVAE) -> None:
    """λ − x·log λ + log x! at λ = Σx · softmax of what the decoder makes, or at its exponential."""
    counts = Counts((2.0, 1.5, 14.0), library=13.0)
    x = np.array([[0.0, 3.0, 11.0], [7.0, 1.0, 5.0]])
    for library in (True, False):
        method = replace(config, library_size=library).build(DataSpec((3,), 10, counts=counts))
        made: list[np.ndarray] = []

        def keep(module: nn.Module, given: object, output: torch.Tensor, made: list[np.ndarray] = made) -> None:
            made.append(output.detach().numpy())

        method.decoder.register_forward_hook(keep)
        found = method.loss(hand.batch(x), 0).values()["reconstruction"]
        rate = x.sum(1, keepdims=True) * hand.softmax(made[0]) if library else np.exp(made[0])
        assert found == pytest.approx((rate - x * np.log(rate) + gammaln(x + 1)).sum(1).mean())


def test_bounds_of_a_control_are_those_of_its_values_whether_all_occur_or_not() -> None:
    factors = (Factor("size", 4, "ordinal"), Factor("mass", 0, "continuous"))
    spec = DataSpec((4,), 10, factors, ((1.0, 2.0), (0.5, 2.5)), labelled=10, shares=((), ()), means=(1.5, 1.0))
    inputs = methods.Controls(likelihood="gaussian", width=0.01).build(spec).inputs
    assert inputs.bounds == [(0.0, 3.0), (0.5, 2.5)]


def test_a_students_decoder_takes_both_codes_side_by_side() -> None:
    method = methods.JacobianSupervision(latents=2, width=0.02).build(DataSpec((1, 5, 5), 10, codes=3))
    assert method.decoder.start[0].in_features == 5
    assert not hasattr(method.decoder, "styles")


def test_the_fast_second_stage_is_what_its_page_says() -> None:
    config = methods.MSVAE.fast()
    assert config.adam == Adam(lr=0.002, beta1=0.9, beta2=0.99, end=0.02, schedule="cosine", warmup=100, clip=1.0)
    assert (config.latents, config.batch_size, config.average) == (192, 16, 0.99)
    assert (config.likelihood, config.bounded, config.z_prior) == ("gaussian-optimal", True, "learned")


def test_places_are_no_styles_of_vectors() -> None:
    with pytest.raises(InputError, match="--styles places is for images"):
        methods.MSGAN(styles="places").check(DataSpec((5,), 10))
    methods.MSGAN(styles="places").check(DataSpec((1, 8, 8), 10))


def test_images_are_binary_if_nearly_all_of_them_are() -> None:
    images = np.zeros((2, 6, 6, 1), np.uint8)
    images[0] = 128
    grey_first, grey_last = (from_arrays(one) for one in (images, images[::-1].copy()))
    assert not Traits.of(grey_first).binary
    assert not Traits.of(grey_last).binary
    assert Traits.of(from_arrays(0 * images)).binary


def test_counts_are_learned_by_models_of_counts_alone() -> None:
    data = from_arrays(np.arange(12.0).reshape(4, 3), kind="counts")
    for likelihood in ("auto", "poisson", "negative-binomial"):
        check_counts([methods.BetaVAE(likelihood=likelihood)], data)
    for wrong in (methods.BetaVAE(likelihood="gaussian"), methods.Tripod(), methods.InfoGAN()):
        with pytest.raises(InputError, match="holds counts"):
            check_counts([wrong], data)


@pytest.mark.parametrize("config", [methods.BetaTCVAE, methods.FlowBetaTCVAE, methods.GuidedBetaTCVAE, methods.HFVAE])
def test_small_batches_are_spoken_of_where_the_estimate_is_biased(config: type[methods.BetaTCVAE]) -> None:
    (said,) = config(batch_size=32).cautions(10_000)
    assert said.startswith(f"{config.name} estimates total correlation from batches of 32")
    assert config(batch_size=32, estimator="mss").cautions(10_000) == []
    assert config(batch_size=32, beta=1.0).cautions(10_000) == []


def test_a_learned_prior_compares_y_as_it_is() -> None:
    """What the networks are given of y (logits, in the authors' code) is no matter of which y look alike."""
    config = methods.MSVAE(latents=2, details=("logits",), z_prior="learned", width=0.02)
    method = config.build(DataSpec((1, 5, 5), 3))
    with torch.no_grad():
        method.fit_prior(iter([(torch.from_numpy(X), torch.from_numpy(Y))]))
    looks = method.learned_prior.look(torch.from_numpy(Y)).numpy()
    np.testing.assert_allclose(method.learned_prior.looks.numpy(), looks)
    assert (looks > 0).all()


def test_controls_that_are_not_given_are_the_middle_of_their_range_for_each_observation() -> None:
    spec = DataSpec((4,), 10, SIDE, ((0.0, 1.0),), labelled=10, shares=((0.5, 0.5),), means=(0.5,))
    method = methods.Controls(likelihood="gaussian", width=0.01).build(spec)
    assert method.encode(torch.zeros(3, 4))["c"].mean.shape == (3, 1)


def test_em_is_asked_for_as_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[object, ...]] = []

    def mixture(components: int, **options: object) -> None:
        asked.append((components, options["covariance_type"], options["max_iter"], options["reg_covar"]))
        raise StopIteration

    monkeypatch.setattr(gaussian_mixture, "ScikitMixture", mixture)
    with pytest.raises(StopIteration):
        methods.GaussianMixture(components=2, em_iterations=7).build(DataSpec((4,), 3)).prepare(
            iter([torch.from_numpy(TRACES)])
        )
    assert asked == [(2, "diag", 7, 1e-4)]
