"""MS-GAN, CGAN, the Gaussian mixture and MS-FLOW: losses and their slopes against the formulas in NumPy."""

import hand
import numpy as np
import pytest
import torch
from hand import Draws

from unbraid import methods
from unbraid.core import DataSpec
from unbraid.data import Factor

pytestmark = pytest.mark.usefixtures("double")
X, Y = hand.observations(3, 1, 3, 3), hand.observations(3, 1, 3, 3, seed=2)
TRACES, COARSE = 3 * hand.observations(3, 4) - 1, 3 * hand.observations(3, 4, seed=2) - 1
KINDS = (Factor("kind", 3, "categorical"), Factor("size", 5, "ordinal"))
LABELS = np.array([[2.0, 3.0], [0.0, 0.0], [1.0, np.nan]])
FEATURES = np.array([[0, 0, 1, 0.5], [1, 0, 0, -1.0], [0, 1, 0, 0]])
PLAYERS = pytest.mark.parametrize("player", ["critic", "generator"])


def adversarial(w: hand.Weights, player: str, x: np.ndarray, made: np.ndarray, condition: np.ndarray) -> float:
    """The critic's cross-entropy with x as true and G as false, or the generator's −log D(G)."""
    chance = hand.sigmoid(hand.linear(w, "critic", made, condition)[:, 0])
    if player == "generator":
        return float(-np.log(chance).mean())
    real = hand.sigmoid(hand.linear(w, "critic", x, condition)[:, 0])
    return float(-0.5 * np.log(real).mean() - 0.5 * np.log(1 - chance).mean())


@PLAYERS
@pytest.mark.parametrize(("x", "y"), [(X, Y), (TRACES, COARSE)], ids=["images", "traces"])
def test_ms_gan_judges_pairs_of_x_and_y(x: np.ndarray, y: np.ndarray, player: str, draws: Draws) -> None:
    """MS-VAE, eq. 3 with the non-saturating loss of the generator: pairs (x, y) against (G(y, z), y)."""
    method = methods.MSGAN(latents=2, width=0.01).build(DataSpec(x.shape[1:], 10))
    values = x[0].size
    method.generator, method.critic = hand.Tiny(values + 2, *x.shape[1:]), hand.Tiny(2 * values)
    draws.clear()

    def by_hand(w: hand.Weights) -> float:
        made = hand.linear(w, "generator", y, draws.normal[0])
        return adversarial(w, player, x, hand.sigmoid(made) if x.ndim == 4 else made, y)

    untouched = ("generator",) if player == "critic" else ()
    hand.check_loss(method, player, hand.batch(x, y=y), by_hand, untouched=untouched)


@PLAYERS
def test_cgan_judges_pairs_of_x_and_given_factors(player: str, draws: Draws) -> None:
    """Mirza & Osindero 2014, eq. 2, with the non-saturating loss of the generator."""
    method = methods.CGAN(latents=2, width=0.01).build(DataSpec((1, 8, 8), 10, KINDS, ((0, 2), (0, 4)), labelled=10))
    method.generator, method.critic = hand.Tiny(6, 1, 3, 3), hand.Tiny(13)

    def by_hand(w: hand.Weights) -> float:
        made = hand.sigmoid(hand.linear(w, "generator", FEATURES, draws.normal[-1]))
        return adversarial(w, player, X, made, FEATURES)

    untouched = ("generator",) if player == "critic" else ()
    hand.check_loss(method, player, hand.batch(X, LABELS), by_hand, untouched=untouched)


def logit_space(x: np.ndarray, noise: np.ndarray | float) -> np.ndarray:
    """log p/(1 − p) of a byte with noise in it, p kept λ = 10⁻⁶ away from 0 and 1 (Papamakarios et al. 2017)."""
    p = 1e-6 + (1 - 2e-6) * (255 * x.reshape(len(x), -1) + noise) / 256
    return np.log(p / (1 - p))


def mixture_joint(w: hand.Weights, t: np.ndarray) -> np.ndarray:
    """log πₖ N(t; μₖ, σₖ²), [b, component]."""
    shares = np.exp(w["logits"]) / np.exp(w["logits"]).sum()
    each = [hand.log_normal(t, m, v).sum(1) for m, v in zip(w["means"], w["log_vars"], strict=True)]
    return np.log(shares) + np.stack(each, axis=1)


def mixture_of(x: np.ndarray, components: int = 3, **options: int):
    method = methods.GaussianMixture(components=components, **options).build(DataSpec(x.shape[1:], len(x)))
    with torch.no_grad():
        method.logits.uniform_(-1, 1)
        method.log_vars.uniform_(-1, 1)
    return method


@pytest.mark.parametrize("x", [X, TRACES], ids=["images", "traces"])
def test_the_mixture_is_fitted_by_its_log_density(x: np.ndarray, draws: Draws) -> None:
    method = mixture_of(x)
    draws.clear()

    def by_hand(w: hand.Weights) -> float:
        t = logit_space(x, draws.uniform[0]) if x.ndim == 4 else x
        return float(-np.log(np.exp(mixture_joint(w, t)).sum(1)).mean())

    hand.check_loss(method, "mixture", hand.batch(x), by_hand)


def test_components_are_inferred_by_bayes_rule_and_decoded_to_their_centres() -> None:
    method = mixture_of(X)
    with torch.no_grad():
        method.means.mul_(0.3)
        method.means.add_(torch.from_numpy(logit_space(X, 0.5)).mean(0))
    w = {name: parameter.detach().numpy() for name, parameter in method.named_parameters()}
    joint = mixture_joint(w, logit_space(X, 0.5))  # the middle of each byte, where nothing is drawn
    p = np.exp(joint) / np.exp(joint).sum(1, keepdims=True)
    shares = np.exp(w["logits"]) / np.exp(w["logits"]).sum()
    q = method.encode(torch.from_numpy(X))["c"]
    np.testing.assert_allclose(q.mean.detach().numpy(), np.eye(3)[joint.argmax(1)])
    kl = (p * np.log(p / shares)).sum(1)
    np.testing.assert_allclose(q.kl_per_latent().sum(1).detach().numpy(), kl, rtol=1e-6)
    codes = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    made = method.decode({"c": torch.from_numpy(codes)}).detach().numpy().reshape(2, -1)
    centres = np.stack((w["means"][0], (w["means"][1] + w["means"][2]) / 2))
    bytes_ = ((hand.sigmoid(centres) - 1e-6) / (1 - 2e-6) * 256 - 0.5) / 255
    np.testing.assert_allclose(made, np.clip(bytes_, 0, 1), rtol=1e-6)


def test_em_with_one_component_gives_the_moments_of_the_data() -> None:
    method = methods.GaussianMixture(components=1).build(DataSpec((4,), 3))
    method.prepare(iter([torch.from_numpy(TRACES[:2]), torch.from_numpy(TRACES[2:])]))
    np.testing.assert_allclose(method.means.detach().numpy()[0], TRACES.mean(0), rtol=1e-6)
    np.testing.assert_allclose(method.log_vars.detach().numpy()[0], np.log(TRACES.var(0) + 1e-4), rtol=1e-6)
    assert torch.log_softmax(method.logits, 0).item() == 0


def density(z_of: object, t: np.ndarray, step: float = 1e-5) -> np.ndarray:
    """log N(z(t)) + log |det dz/dt| for every row of t, the determinant by central differences."""
    rows, values = t.shape
    jacobian = np.empty((rows, values, values))
    for j in range(values):
        move = np.zeros(values)
        move[j] = step
        jacobian[:, :, j] = (z_of(t + move) - z_of(t - move)) / (2 * step)  # type: ignore[operator]
    base = hand.log_normal(z_of(t)).sum(1)  # type: ignore[operator]
    return base + np.log(np.abs(np.linalg.det(jacobian)))


def test_ms_flow_is_the_change_of_variables_given_y() -> None:
    """MS-VAE, appendix D: log p(x | y) = log N(f⁻¹(x; y)) + log |det ∂f⁻¹/∂x|, of standardised values."""
    method = methods.MSFlow(transforms=3, width=0.004).build(DataSpec((4,), 10))
    method.prepare(iter([torch.from_numpy(TRACES)]))
    np.testing.assert_allclose(method.centre.numpy(), TRACES.mean(0))
    np.testing.assert_allclose(method.spread.numpy(), TRACES.std(0), rtol=1e-6)

    def z_of(t: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return method.encode(torch.from_numpy(t), torch.from_numpy(COARSE))["z"].mean.numpy()  # type: ignore[no-any-return]

    given = hand.batch(TRACES, y=COARSE)
    terms = method.loss(given, 0)
    assert terms.total.item() == pytest.approx(-density(z_of, TRACES).mean(), rel=1e-6)
    assert terms.values()["log_density"] == pytest.approx(density(z_of, TRACES).mean(), rel=1e-6)
    terms.total.backward()
    biases = [p for name, p in method.flow.named_parameters() if name.endswith("bias")]
    for parameter in (biases[0], biases[-1]):
        slopes = []
        for sign in (1, -1):
            with torch.no_grad():
                parameter[0] += sign * 1e-4
            slopes.append(-density(z_of, TRACES).mean())
            with torch.no_grad():
                parameter[0] -= sign * 1e-4
        assert parameter.grad[0].item() == pytest.approx((slopes[0] - slopes[1]) / 2e-4, rel=1e-3, abs=1e-6)
    other = method.loss(hand.batch(TRACES, y=COARSE + 1), 0).total.item()
    assert other != pytest.approx(terms.total.item(), rel=1e-6), "y is seen"


def test_ms_flow_counts_images_in_logit_space(draws: Draws) -> None:
    method = methods.MSFlow(transforms=3, width=0.004).build(DataSpec((1, 3, 3), 10))
    with torch.no_grad():
        method.centre.uniform_(-1, 1)
        method.spread.uniform_(0.5, 2)
    draws.clear()
    found = method.loss(hand.batch(X, y=Y), 0).total.item()
    t = logit_space(X, draws.uniform[0])

    def z_of(points: np.ndarray) -> np.ndarray:
        standard = (points - method.centre.numpy()) / method.spread.numpy()
        with torch.no_grad():
            flow = method.flow(torch.from_numpy(Y).flatten(1))
            return flow.transform(torch.from_numpy(standard)).numpy()  # type: ignore[no-any-return]

    assert found == pytest.approx(-density(z_of, t).mean(), rel=1e-6)
    codes = method.encode(torch.from_numpy(X), torch.from_numpy(Y))["z"]
    np.testing.assert_allclose(codes.mean.detach().numpy(), z_of(logit_space(X, 0.5)), rtol=1e-6, atol=1e-9)
