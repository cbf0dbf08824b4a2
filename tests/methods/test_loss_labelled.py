"""FullVAE, IVAE, IDVAE and their semi-supervised forms: losses and their slopes against the formulas in NumPy."""

import hand
import numpy as np
import pytest
from hand import Draws

from unbraid import methods
from unbraid.core import DataSpec
from unbraid.data import Factor

pytestmark = pytest.mark.usefixtures("double")
NAN = np.nan
X = hand.observations(4, 1, 2, 2)
# A class of three and a number between 2 and 6; four of ten observations are labelled.
SPEC = DataSpec(
    (1, 2, 2),
    10,
    (Factor("class", 3, "categorical"), Factor("mass", 0, "continuous")),
    ranges=((0.0, 2.0), (2.0, 6.0)),
    labelled=4,
    shares=((0.5, 0.3, 0.2), ()),
    means=(0.7, 3.0),
)
GAPS = np.array([[2.0, 5.0], [NAN, 3.5], [NAN, NAN], [0.0, 2.5]])  # both, one, none and both known
KNOWN = ~np.isnan(GAPS)
MEANS = {"scaled": np.array([0.35, 0.25]), "one-hot": np.array([0.5, 0.3, 0.2, 0.25])}
ENCODINGS = pytest.mark.parametrize("encoding", ["scaled", "one-hot"])


def auxiliary(labels: np.ndarray, encoding: str, instead: np.ndarray) -> np.ndarray:
    """u: numbers scaled to [0, 1], classes too or one-hot; `instead` where a label is missing."""
    rows = []
    for (kind, mass), other in zip(labels, instead, strict=True):
        if np.isnan(kind):
            first = list(other[:-1])
        else:
            first = [kind / 2] if encoding == "scaled" else [float(kind == value) for value in range(3)]
        rows.append([*first, other[-1] if np.isnan(mass) else (mass - 2) / 4])
    return np.array(rows)


def tiny(config, u: int):
    """The method with one linear layer for each network; u joins the encoder."""
    method = config.build(SPEC)
    method.encoder, method.decoder = hand.Tiny(4 + u, 4), hand.Tiny(2, 1, 2, 2)
    if u:
        method.prior_encoder = hand.Tiny(u, 4)
    if hasattr(method, "prior_decoder"):
        method.prior_decoder = hand.Tiny(2, u)
    if hasattr(method, "guess"):
        method.guess.encoder = hand.Tiny(4, 4 if u == 2 else 5)
    return method


def image_bound(w: hand.Weights, u: np.ndarray, noise: np.ndarray, beta: float) -> np.ndarray:
    """−log p(x | z) + β·KL[q(z | x, u) ‖ p(z | u)], [b]."""
    q, p = hand.halves(hand.linear(w, "encoder", X, u)), hand.halves(hand.linear(w, "prior_encoder", u))
    return hand.bernoulli(hand.linear(w, "decoder", hand.draw(*q, noise)), X) + beta * hand.kl(*q, *p).sum(1)


def label_terms(w: hand.Weights, u: np.ndarray, noise: np.ndarray, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """−log p(u | z) and KL[q(z | u) ‖ p(z)], each [b]."""
    q = hand.halves(hand.linear(w, "prior_encoder", u))
    made = hand.linear(w, "prior_decoder", hand.draw(*q, noise))
    return hand.normal_error(made, u, scale), hand.kl(*q).sum(1)


def test_full_vae_matches_latents_with_known_factors(draws: Draws) -> None:
    """Mita et al. 2021, eq. 8; rows are averaged as the data have them, of which four in ten are labelled."""
    method = tiny(methods.FullVAE(latents=2, beta=3.0, gamma=5.0, width=0.01), 0)

    def over_data(rows: np.ndarray) -> float:
        return 0.4 * rows[[0, 1, 3]].mean() + 0.6 * rows[2]

    def by_hand(w: hand.Weights) -> dict[str, float]:
        mean, log_var = hand.halves(hand.linear(w, "encoder", X))
        logits = hand.linear(w, "decoder", hand.draw(mean, log_var, draws.normal[0]))
        u, p = auxiliary(GAPS, "scaled", np.zeros((4, 2))), hand.sigmoid(mean)
        entropy = -(u * np.log(p) + (1 - u) * np.log(1 - p))
        supervised = (entropy * KNOWN).sum() / 3
        error, kl = over_data(hand.bernoulli(logits, X)), over_data(hand.kl(mean, log_var).sum(1))
        total = error + 3.0 * kl + 5.0 * supervised
        return {"total": total, "reconstruction": error, "kl": kl, "supervised": supervised}

    hand.check_loss(method, "vae", hand.batch(X, GAPS), by_hand)


@ENCODINGS
def test_ivae_measures_the_kl_to_a_prior_given_labels(encoding: str, draws: Draws) -> None:
    """Mita et al. 2021, eq. 10; the prior learns too. A missing label counts as the mean of those in training."""
    mean_u = MEANS[encoding]
    method = tiny(methods.IVAE(latents=2, beta=3.0, encoding=encoding, width=0.01), len(mean_u))

    def by_hand(w: hand.Weights) -> float:
        u = auxiliary(GAPS, encoding, np.tile(mean_u, (4, 1)))
        return float(image_bound(w, u, draws.normal[0], beta=3.0).mean())

    hand.check_loss(method, "vae", hand.batch(X, GAPS), by_hand)


@ENCODINGS
def test_idvae_learns_its_prior_as_a_vae_over_the_labels(encoding: str, draws: Draws) -> None:
    """Mita et al. 2021, eq. 16, with p(u | z) of standard deviation 0.3."""
    mean_u = MEANS[encoding]
    config = methods.IDVAE(latents=2, beta=3.0, label_scale=0.3, encoding=encoding, width=0.01)
    method = tiny(config, len(mean_u))

    def by_hand(w: hand.Weights) -> dict[str, float]:
        u = auxiliary(GAPS, encoding, np.tile(mean_u, (4, 1)))
        error, kl = label_terms(w, u, draws.normal[0], scale=0.3)
        return {"total": (error + kl).mean(), "reconstruction": error.mean(), "kl": kl.mean()}

    hand.check_loss(method, "prior", hand.batch(X, GAPS), by_hand, untouched=("encoder", "decoder"))


@ENCODINGS
def test_idvae_holds_its_prior_fixed_under_the_images(encoding: str, draws: Draws) -> None:
    """Mita et al. 2021, eq. 15 with q_ψ(z | u) for p(z | u): KL[q(z | x, u) ‖ q_ψ(z | u)], in this direction."""
    mean_u = MEANS[encoding]
    method = tiny(methods.IDVAE(latents=2, beta=3.0, encoding=encoding, width=0.01), len(mean_u))

    def by_hand(w: hand.Weights) -> float:
        u = auxiliary(GAPS, encoding, np.tile(mean_u, (4, 1)))
        return float(image_bound(w, u, draws.normal[0], beta=3.0).mean())

    hand.check_loss(method, "image", hand.batch(X, GAPS), by_hand, untouched=("prior_encoder", "prior_decoder"))


def guessed(w: hand.Weights, encoding: str, draws: Draws) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A draw of q(u | x), its entropy and log q(label | x), each [b, …]; deviations lie between e⁻⁴ and 1."""
    output = hand.linear(w, "guess.encoder", X)
    mean, log_var = output[:, -2], -8 * hand.sigmoid(output[:, -1])
    mass = hand.draw(mean, log_var, draws.normal[0 if encoding == "one-hot" else 1][:, 0])
    gaussian = 0.5 * np.log(2 * np.pi * np.e * np.exp(log_var))
    scaled_mass = np.nan_to_num((GAPS[:, 1] - 2) / 4)
    if encoding == "scaled":
        first_mean, first_log_var = output[:, 0], -8 * hand.sigmoid(output[:, 1])
        first = hand.draw(first_mean, first_log_var, draws.normal[0][:, 0])[:, None]
        entropy = 0.5 * np.log(2 * np.pi * np.e * np.exp(first_log_var))
        log_q = hand.log_normal(np.nan_to_num(GAPS[:, 0] / 2), first_mean, first_log_var)
    else:
        p = hand.softmax(output[:, :3])
        first = hand.softmax((output[:, :3] - np.log(draws.exponential[0])) / 0.67)
        entropy = -(p * np.log(p)).sum(1)
        log_q = np.log(p[np.arange(4), np.nan_to_num(GAPS[:, 0]).astype(int)])
    draw = np.concatenate((first, mass[:, None]), axis=1)
    densities = np.stack((log_q, hand.log_normal(scaled_mass, mean, log_var)), axis=1)
    return draw, np.stack((entropy, gaussian), axis=1), densities


@ENCODINGS
@pytest.mark.parametrize("double_vae", [False, True], ids=["ss-ivae", "ss-idvae"])
def test_semi_supervised_bound(double_vae: bool, encoding: str, draws: Draws) -> None:
    """Mita et al. 2021, eqs. 21 to 23 (with the entropy as Kingma et al. 2014 have it) and α·(−log q(u | x)).

    Rows 0 and 3 are labelled, rows 1 and 2 have something to guess; row 1 has a label to learn from all the same.
    """
    u_values = len(MEANS[encoding])
    options = {"latents": 2, "alpha": 7.0, "beta": 3.0, "encoding": encoding, "width": 0.01}
    config = methods.SSIDVAE(label_scale=0.3, **options) if double_vae else methods.SSIVAE(**options)
    method = tiny(config, u_values)

    def by_hand(w: hand.Weights) -> dict[str, float]:
        draw, entropy, log_q = guessed(w, encoding, draws)
        u = auxiliary(GAPS, encoding, draw)
        noise = draws.normal[(2 if encoding == "scaled" else 1) :]
        bound = image_bound(w, u, noise[0], beta=3.0)
        if double_vae:
            bound = bound + sum(label_terms(w, u, noise[1], scale=0.3))
        unlabelled = ((bound[1] - entropy[1, 0]) + (bound[2] - entropy[2].sum())) / 2
        supervised = -(log_q[0].sum() + log_q[1, 1] + log_q[3].sum()) / 3
        labelled = (bound[0] + bound[3]) / 2
        total = labelled + unlabelled + 7.0 * supervised
        return {"total": total, "labelled": labelled, "unlabelled": unlabelled, "supervised": supervised}

    name, fixed = ("image", ("prior_encoder", "prior_decoder")) if double_vae else ("vae", ())
    hand.check_loss(method, name, hand.batch(X, GAPS), by_hand, untouched=fixed)


@ENCODINGS
def test_the_prior_of_ss_idvae_learns_from_given_and_guessed_labels(encoding: str, draws: Draws) -> None:
    """Eq. 16 under both sums of eq. 21, which weigh alike."""
    config = methods.SSIDVAE(latents=2, alpha=7.0, beta=3.0, label_scale=0.3, encoding=encoding, width=0.01)
    method = tiny(config, len(MEANS[encoding]))

    def by_hand(w: hand.Weights) -> dict[str, float]:
        u = auxiliary(GAPS, encoding, guessed(w, encoding, draws)[0])
        error, kl = label_terms(w, u, draws.normal[-1], scale=0.3)
        rows = error + kl
        total = rows[[0, 3]].mean() + rows[[1, 2]].mean()
        return {"total": total, "reconstruction": error.mean(), "kl": kl.mean()}

    hand.check_loss(method, "prior", hand.batch(X, GAPS), by_hand, untouched=("guess", "encoder", "decoder"))
