"""JointVAE, Guided-VAE in its forms, and InfoGAN: losses and their slopes against the formulas in NumPy."""

import hand
import numpy as np
import pytest
import torch
from hand import Draws

from unbraid import methods
from unbraid.core import DataSpec
from unbraid.data import Factor

pytestmark = pytest.mark.usefixtures("double")
X = hand.observations(3, 1, 3, 3)
LABELS = DataSpec((1, 3, 3), 10, (Factor("a", 2, "categorical"), Factor("b", 3, "categorical")), labelled=10)


@pytest.mark.parametrize(
    ("step", "capacity", "discrete"),
    [(0, 0.0, 0.0), (3, 0.6, 1.5), (7, 1.4, np.log(6)), (10, 2.0, np.log(6)), (55, 2.0, np.log(6))],
)
def test_joint_vae_holds_both_kls_at_capacities(step: int, capacity: float, discrete: float, draws: Draws) -> None:
    """Dupont 2018, eq. 7; the capacity of codes with 3 and 2 values grows to 5 nats but stops at log 3 + log 2."""
    config = methods.JointVAE(
        latents=2,
        classes=(3, 2),
        gamma=7.0,
        capacity=2.0,
        discrete_capacity=5.0,
        capacity_steps=10,
        temperature=0.5,
        width=0.01,
    )
    method = config.build(DataSpec((1, 3, 3), 10))
    method.encoder, method.decoder = hand.Tiny(9, 9), hand.Tiny(7, 1, 3, 3)

    def by_hand(w: hand.Weights) -> dict[str, float]:
        output = hand.linear(w, "encoder", X)
        mean, log_var, first, second = output[:, :2], output[:, 2:4], output[:, 4:7], output[:, 7:]
        codes = [hand.draw(mean, log_var, draws.normal[0])]
        kl_c = 0.0
        for logits, exponential in zip((first, second), draws.exponential, strict=True):
            codes.append(hand.softmax((logits - np.log(exponential)) / 0.5))
            p = hand.softmax(logits)
            kl_c += (p * np.log(p * logits.shape[1])).sum(1).mean()
        error = hand.bernoulli(hand.linear(w, "decoder", *codes), X).mean()
        kl_z = hand.kl(mean, log_var).sum(1).mean()
        total = error + 7.0 * abs(kl_z - capacity) + 7.0 * abs(kl_c - discrete)
        return {"total": total, "kl_continuous": kl_z, "kl_discrete": kl_c, "kl": kl_z + kl_c}

    hand.check_loss(method, "vae", hand.batch(X), by_hand, step)


def moved(picture: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """A picture [height, width] seen through an affine map of places in [−1, 1], bilinearly; its edge goes on."""
    height, width = picture.shape
    result = np.empty_like(picture)
    for i in range(height):
        for j in range(width):
            u, v = matrix @ np.array([(2 * j + 1) / width - 1, (2 * i + 1) / height - 1, 1.0])
            column = np.clip(((u + 1) * width - 1) / 2, 0, width - 1)
            row = np.clip(((v + 1) * height - 1) / 2, 0, height - 1)
            left, top = min(int(column), width - 2), min(int(row), height - 2)
            across, down = column - left, row - top
            result[i, j] = (1 - down) * ((1 - across) * picture[top, left] + across * picture[top, left + 1]) + down * (
                (1 - across) * picture[top + 1, left] + across * picture[top + 1, left + 1]
            )
    return result


@pytest.mark.parametrize("deformation", [0, 2, 4])
@pytest.mark.parametrize("tc", [False, True])
def test_guided_vae_adds_a_linear_decoder_with_orthogonal_components(tc: bool, deformation: int, draws: Draws) -> None:
    """Ding et al. 2020, §3.2: λ·‖x − τ(z_def) ∘ (z_cont Bᵀ)‖² and Σ_k Σ_{j≠k} (b_kᵀ b_j)²."""
    options = {"latents": 6, "guide": 2.0, "overlap": 3.0, "deformation": deformation, "width": 0.01}
    config = methods.GuidedBetaTCVAE(beta=5.0, **options) if tc else methods.GuidedVAE(**options)
    method = config.build(DataSpec((1, 3, 3), 11))
    method.encoder, method.decoder = hand.Tiny(9, 12), hand.Tiny(6, 1, 3, 3)
    with torch.no_grad():
        method.guide.gain.copy_(torch.tensor([0.3, 0.2, 0.25, 0.15]))

    def by_hand(w: hand.Weights) -> dict[str, float]:
        mean, log_var = hand.halves(hand.linear(w, "encoder", X))
        z = hand.draw(mean, log_var, draws.normal[0])
        error = hand.bernoulli(hand.linear(w, "decoder", z), X).mean()
        pictures = hand.linear(w, "guide.basis", z[:, deformation:]).reshape(3, 3, 3)
        moves = np.zeros((3, 4))
        moves[:, :deformation] = z[:, :deformation] * w["guide.gain"][:deformation]
        guided = []
        for picture, (angle, growth, across, up) in zip(pictures, moves, strict=True):
            cos, sin = np.exp(growth) * np.cos(angle), np.exp(growth) * np.sin(angle)
            guided.append(moved(picture, np.array([[cos, -sin, across], [sin, cos, up]])))
        guide = ((X[:, 0] - np.array(guided)) ** 2).sum((1, 2)).mean()
        b = w["guide.basis.weight"]
        overlap = sum((b[:, k] @ b[:, j]) ** 2 for k in range(b.shape[1]) for j in range(b.shape[1]) if j != k)
        prior = hand.kl(mean, log_var).sum(1).mean()
        if tc:
            log_prior = hand.log_normal(z).sum(1)
            terms = hand.decomposition(z, mean, log_var, log_prior, hand.plain_weights(3, 11))
            prior_term = float(np.dot((1.0, 5.0, 1.0), terms))
        else:
            prior_term = prior
        total = error + prior_term + 2.0 * guide + 3.0 * overlap
        return {"total": total, "kl": prior, "guide": guide, "overlap": overlap}

    hand.check_loss(method, "vae", hand.batch(X), by_hand)


def supervised(**options: float):
    """Supervised Guided-VAE with three latents and labels of 2 and 3 values."""
    method = methods.SupervisedGuidedVAE(latents=3, width=0.01, **options).build(LABELS)
    method.encoder, method.decoder = hand.Tiny(9, 6), hand.Tiny(3, 1, 3, 3)
    for t, size in enumerate((2, 3)):
        method.exciting[t], method.inhibiting[t] = hand.Tiny(1, size), hand.Tiny(2, size)
    return method


FACTORS = np.array([[0.0, 2.0], [1.0, 1.0], [1.0, 0.0]])


def chances(w: hand.Weights, z: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """What each exciting classifier makes of its latent, and each inhibiting one of all others."""
    others = ([1, 2], [0, 2])
    excited = [hand.softmax(hand.linear(w, f"exciting.{t}", z[:, t : t + 1])) for t in range(2)]
    inhibited = [hand.softmax(hand.linear(w, f"inhibiting.{t}", z[:, others[t]])) for t in range(2)]
    return excited, inhibited


def named(p: np.ndarray, t: int) -> np.ndarray:
    """The probability of each observation's own label."""
    return p[np.arange(3), FACTORS[:, t].astype(int)]


def test_supervised_guidance_leaves_the_elbo_as_it_is(draws: Draws) -> None:
    def by_hand(w: hand.Weights) -> float:
        mean, log_var = hand.halves(hand.linear(w, "encoder", X))
        logits = hand.linear(w, "decoder", hand.draw(mean, log_var, draws.normal[0]))
        return hand.bernoulli(logits, X).mean() + hand.kl(mean, log_var).sum(1).mean()

    hand.check_loss(supervised(label_weight=5.0), "vae", hand.batch(X, FACTORS), by_hand)


def test_excitation_reads_a_label_off_its_latent_and_leaves_the_rest_in_doubt(draws: Draws) -> None:
    """Ding et al. 2020, §3.3; the target of the inhibiting classifiers is uniform: mean of −log p over values."""

    def by_hand(w: hand.Weights) -> dict[str, float]:
        z = hand.draw(*hand.halves(hand.linear(w, "encoder", X)), draws.normal[0])
        excited, inhibited = chances(w, z)
        excitation = sum(-np.log(named(p, t)).mean() for t, p in enumerate(excited))
        doubt = sum(-np.log(p).mean(1).mean() for p in inhibited)
        return {"total": 5.0 * (excitation + doubt), "excitation": excitation, "inhibition": doubt}

    method = supervised(label_weight=5.0)
    hand.check_loss(method, "excitation", hand.batch(X, FACTORS), by_hand, untouched=("decoder",))


def test_inhibiting_classifiers_look_for_the_label_in_the_other_latents(draws: Draws) -> None:
    def by_hand(w: hand.Weights) -> float:
        z = hand.draw(*hand.halves(hand.linear(w, "encoder", X)), draws.normal[0])
        return float(sum(-np.log(named(p, t)).mean() for t, p in enumerate(chances(w, z)[1])))

    method = supervised(label_weight=5.0)
    untouched = ("encoder", "decoder", "exciting")
    hand.check_loss(method, "inhibition", hand.batch(X, FACTORS), by_hand, untouched=untouched)


@pytest.mark.parametrize(("step", "deviation"), [(0, 0.5), (4, 0.3), (10, 0.0), (60, 0.0)])
@pytest.mark.parametrize("player", ["critic", "generator"])
def test_infogan_plays_for_information_too(player: str, step: int, deviation: float, draws: Draws) -> None:
    """Chen et al. 2016, eqs. 5 and 6, λ = 3; both players want it, and all images are blurred until step 10."""
    config = methods.InfoGAN(codes=2, noise=3, information=3.0, instance_noise=0.5, noise_steps=10, width=0.01)
    method = config.build(DataSpec((1, 3, 3), 10))
    method.generator, method.trunk = hand.Tiny(5, 1, 3, 3), hand.Tiny(9, 4)
    method.critic, method.recognition = torch.nn.Linear(4, 1), torch.nn.Linear(4, 4)
    draws.clear()

    def judged(w: hand.Weights, x: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        features = hand.linear(w, "trunk", x.reshape(3, -1) + deviation * noise.reshape(3, -1))
        mean, log_var = hand.halves(hand.linear(w, "recognition", features))
        return hand.sigmoid(hand.linear(w, "critic", features)[:, 0]), mean, log_var

    def by_hand(w: hand.Weights) -> dict[str, float]:
        codes = 2 * draws.uniform[0] - 1
        made = hand.sigmoid(hand.linear(w, "generator", codes, draws.normal[0]))
        real = judged(w, X, draws.normal[1])[0] if player == "critic" else None
        fake, mean, log_var = judged(w, made, draws.normal[-1])
        information = hand.log_normal(codes, mean, log_var).sum(1).mean() + 2 * np.log(2)
        if real is None:
            adversarial = -np.log(fake).mean()
        else:
            adversarial = -0.5 * np.log(real).mean() - 0.5 * np.log(1 - fake).mean()
        return {"total": adversarial - 3.0 * information, "adversarial": adversarial, "information": information}

    hand.check_loss(method, player, hand.batch(X), by_hand, step, ("generator",) if player == "critic" else ())
