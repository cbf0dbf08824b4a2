"""MS-VAE, its ablations, given controls and Jacobian supervision: losses and slopes against the formulas in NumPy."""

import hand
import numpy as np
import pytest
import torch
from hand import Draws

from unbraid import methods
from unbraid.core import DataSpec
from unbraid.data import Factor

pytestmark = pytest.mark.usefixtures("double")
X, Y = hand.observations(3, 1, 5, 5), hand.observations(3, 1, 5, 5, seed=2)
TRACES, COARSE = 3 * hand.observations(3, 4) - 1, 3 * hand.observations(3, 4, seed=2) - 1
CODES = 4 * hand.observations(3, 3, seed=3) - 2


@pytest.mark.parametrize("encoder_sees", ["residual", "x"])
@pytest.mark.parametrize("content", ["y", "codes", "codes+z"])
def test_ms_vae_infers_z_from_the_residual_and_starts_from_its_content(
    content: str, encoder_sees: str, draws: Draws
) -> None:
    """MS-VAE, term (b) of eq. 2, with β = 3 on the KL: the encoder is given x − y, the decoder y (or codes) and z."""
    config = methods.MSVAE(latents=2, beta=3.0, content=content, encoder_sees=encoder_sees, width=0.01)
    method = config.build(DataSpec((1, 5, 5), 10, codes=3))
    method.encoder, method.decoder = hand.Tiny(25, 4), hand.Tiny((25 if content == "y" else 3) + 2, 1, 5, 5)

    def by_hand(w: hand.Weights) -> dict[str, float]:
        mean, log_var = hand.halves(hand.linear(w, "encoder", X - Y if encoder_sees == "residual" else X))
        z = hand.draw(mean, log_var, draws.normal[0])
        error = hand.bernoulli(hand.linear(w, "decoder", Y if content == "y" else CODES, z), X).mean()
        kl = hand.kl(mean, log_var).sum(1).mean()
        return {"total": error + 3.0 * kl, "reconstruction": error, "kl": kl}

    hand.check_loss(method, "vae", hand.batch(X, y=Y, codes=None if content == "y" else CODES), by_hand)


def test_ms_vae_on_traces(draws: Draws) -> None:
    config = methods.MSVAE(latents=2, beta=3.0, likelihood="gaussian", scale=0.3, width=0.01)
    method = config.build(DataSpec((4,), 10))
    method.encoder, method.decoder = hand.Tiny(4, 4), hand.Tiny(6, 4)

    def by_hand(w: hand.Weights) -> float:
        mean, log_var = hand.halves(hand.linear(w, "encoder", TRACES - COARSE))
        made = hand.linear(w, "decoder", COARSE, hand.draw(mean, log_var, draws.normal[0]))
        return float((hand.normal_error(made, TRACES, 0.3) + 3.0 * hand.kl(mean, log_var).sum(1)).mean())

    hand.check_loss(method, "vae", hand.batch(TRACES, y=COARSE), by_hand)


def test_ms_vae_encodes_and_decodes_as_in_its_loss() -> None:
    method = methods.MSVAE(latents=2, width=0.01).build(DataSpec((1, 5, 5), 10))
    method.encoder, method.decoder = hand.Tiny(25, 4), hand.Tiny(27, 1, 5, 5)
    w = {name: parameter.detach().numpy() for name, parameter in method.named_parameters()}
    x, y = torch.from_numpy(X), torch.from_numpy(Y)
    mean, log_var = hand.halves(hand.linear(w, "encoder", X - Y))
    q = method.encode(x, y)["z"]
    np.testing.assert_allclose(q.mean.detach().numpy(), mean)
    np.testing.assert_allclose(q.kl_per_latent().detach().numpy(), hand.kl(mean, log_var))
    made = method.decode({"z": q.mean}, y).detach().numpy()
    np.testing.assert_allclose(made.reshape(3, -1), hand.sigmoid(hand.linear(w, "decoder", Y, mean)))


def test_ms_vae_from_codes_decodes_what_is_given() -> None:
    method = methods.MSVAE(latents=2, content="codes", width=0.01).build(DataSpec((1, 5, 5), 10, codes=3))
    method.decoder = hand.Tiny(5, 1, 5, 5)
    w, z = {name: p.detach().numpy() for name, p in method.named_parameters()}, CODES[:, :2]
    made = method.decode({"given": torch.from_numpy(CODES), "z": torch.from_numpy(z)}, torch.from_numpy(Y))
    np.testing.assert_allclose(made.detach().numpy().reshape(3, -1), hand.sigmoid(hand.linear(w, "decoder", CODES, z)))
    assert method.prior(4)["z"].mean.shape == (4, 2)


def test_end_to_end_weighs_the_kl_of_c_and_not_that_of_z(draws: Draws) -> None:
    """MS-VAE, appendix L.1, M1: β = 5 on KL[q(c | x)], 1 on KL[q(z | x)]."""
    method = methods.EndToEnd(latents=2, residual_latents=3, beta=5.0, width=0.01).build(DataSpec((1, 5, 5), 10))
    method.encoder, method.decoder = hand.Tiny(25, 10), hand.Tiny(5, 1, 5, 5)

    def by_hand(w: hand.Weights) -> dict[str, float]:
        output = hand.linear(w, "encoder", X)
        c, z = (output[:, :2], output[:, 2:4]), (output[:, 4:7], output[:, 7:])
        codes = hand.draw(*c, draws.normal[0]), hand.draw(*z, draws.normal[1])
        error = hand.bernoulli(hand.linear(w, "decoder", *codes), X).mean()
        kl_c, kl_z = hand.kl(*c).sum(1).mean(), hand.kl(*z).sum(1).mean()
        return {"total": error + 5.0 * kl_c + kl_z, "kl_c": kl_c, "kl_z": kl_z, "reconstruction": error}

    hand.check_loss(method, "vae", hand.batch(X), by_hand)
    found = method.encode(torch.from_numpy(X))
    assert found["c"].mean.shape == (3, 2)
    assert found["z"].mean.shape == (3, 3)


@pytest.mark.parametrize(("x", "y"), [(X, Y), (TRACES, COARSE)], ids=["images", "traces"])
def test_jacobian_supervision(x: np.ndarray, y: np.ndarray, draws: Draws) -> None:
    """Lezama 2019, eqs. 4 to 6: x, the teacher's codes, its differences between pairs, and ½ Σ Cov(cᵢ, zⱼ)²."""
    config = methods.JacobianSupervision(
        latents=2, code_weight=2.0, difference_weight=3.0, covariance_weight=5.0, width=0.01
    )
    method = config.build(DataSpec(x.shape[1:], 10, codes=3))
    method.encoder, method.decoder = hand.Tiny(x[0].size, 5), hand.Tiny(5, *x.shape[1:])

    def by_hand(w: hand.Weights) -> dict[str, float]:
        output = hand.linear(w, "encoder", x)
        c, z, other = output[:, :3], output[:, 3:], draws.permutation[0]

        def made(c: np.ndarray) -> np.ndarray:
            flat = hand.linear(w, "decoder", c, z)
            return (hand.sigmoid(flat) if x.ndim == 4 else flat).reshape(x.shape)

        reconstruction = ((made(c) - x) ** 2).mean()
        code = ((c - CODES) ** 2).mean()
        difference = (((made(c) - made(c[other])) - (y - y[other])) ** 2).mean()
        covariances = [np.cov(c[:, i], z[:, j], bias=True)[0, 1] for i in range(3) for j in range(2)]
        covariance = 0.5 * np.square(covariances).sum()
        total = reconstruction + 2.0 * code + 3.0 * difference + 5.0 * covariance
        return {"total": total, "code": code, "difference": difference, "covariance": covariance}

    torch.manual_seed(1)
    hand.check_loss(method, "student", hand.batch(x, y=y, codes=CODES), by_hand)
    assert (draws.permutation[0] != np.arange(3)).any(), "some observation takes over another's codes"


# A class, an angle, a counted size, and a mass between 2 and 6.
FACTORS = (
    Factor("kind", 3, "categorical"),
    Factor("angle", 4, "cyclic"),
    Factor("size", 5, "ordinal"),
    Factor("mass", 0, "continuous"),
)
RANGES = ((0.0, 2.0), (0.0, 3.0), (0.0, 4.0), (2.0, 6.0))
GIVEN = np.array([[2.0, 1.0, 3.0, 5.0], [0.0, 3.0, 0.0, 2.0], [1.0, np.nan, 4.0, np.nan]])
ROOT = np.sqrt(0.5)
# Three values one-hot; sine and cosine of the angle; size and mass on [−1, 1]. What is missing is amid its range.
FEATURES = np.array([[0, 0, 1, 1, 0, 0.5, 0.5], [1, 0, 0, -1, 0, -1, -1], [0, 1, 0, ROOT, -ROOT, 1, 0.0]])


@pytest.mark.parametrize("later", [False, True], ids=["controls", "ms-controls"])
@pytest.mark.parametrize("x", [X, TRACES], ids=["images", "traces"])
def test_controls_predict_observations_from_given_factors(x: np.ndarray, later: bool) -> None:
    """−log p(x | c), and −log p(x | c, y) as a later stage, where y goes in first and c as z does (MS-VAE, C)."""
    y = Y if x is X else COARSE
    likelihood = {"likelihood": "bernoulli"} if x is X else {"likelihood": "gaussian", "scale": 0.3}
    config = (methods.MSControls if later else methods.Controls)(width=0.01, **likelihood)
    method = config.build(DataSpec(x.shape[1:], 10, FACTORS, RANGES, labelled=10))
    assert method.inputs.features == 7
    method.decoder = hand.Tiny((y[0].size if later else 0) + 7, *x.shape[1:])

    def by_hand(w: hand.Weights) -> float:
        made = hand.linear(w, "decoder", *((y, FEATURES) if later else (FEATURES,)))
        return float((hand.bernoulli(made, x) if x is X else hand.normal_error(made, x, 0.3)).mean())

    hand.check_loss(method, "controls", hand.batch(x, GIVEN, y=y if later else None), by_hand)


def test_controls_may_be_some_of_the_factors_in_their_own_order() -> None:
    config = methods.Controls(factors=("mass", "kind"), width=0.01)
    method = config.build(DataSpec((1, 5, 5), 10, FACTORS, RANGES, labelled=10))
    method.decoder = hand.Tiny(4, 1, 5, 5)

    def by_hand(w: hand.Weights) -> float:
        return float(hand.bernoulli(hand.linear(w, "decoder", FEATURES[:, [6, 0, 1, 2]]), X).mean())

    hand.check_loss(method, "controls", hand.batch(X, GIVEN), by_hand)
    codes = method.encode(torch.from_numpy(X), labels=torch.from_numpy(GIVEN))["c"].mean
    np.testing.assert_allclose(codes.numpy(), [[5, 2], [2, 0], [4, 1]])
