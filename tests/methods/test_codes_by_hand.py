"""What methods make of observations and codes after training: encode, decode, prior and draws, in NumPy."""

import hand
import numpy as np
import pytest
import torch
from hand import Draws

from unbraid import methods
from unbraid.core import DataSpec
from unbraid.data import Factor

pytestmark = pytest.mark.usefixtures("double")
X = hand.observations(3, 1, 2, 2)
SPEC = DataSpec((1, 2, 2), 10)
LABELLED = DataSpec(
    (1, 2, 2),
    10,
    (Factor("class", 3, "categorical"), Factor("mass", 0, "continuous")),
    ranges=((0.0, 2.0), (2.0, 6.0)),
    labelled=4,
    shares=((0.5, 0.3, 0.2), ()),
    means=(0.7, 3.0),
)


def weights(method) -> dict[str, np.ndarray]:
    return {name: parameter.detach().numpy() for name, parameter in method.named_parameters()}


def close(found: torch.Tensor, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found.detach().numpy().reshape(np.shape(expected)), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("likelihood", "scale"), [("bernoulli", 1.0), ("gaussian", 0.3), ("laplace", 0.3)])
def test_gaussian_codes(likelihood: str, scale: float, draws: Draws) -> None:
    method = methods.BetaVAE(latents=2, width=0.01, likelihood=likelihood, scale=scale).build(SPEC)
    method.encoder, method.decoder = hand.Tiny(4, 4), hand.Tiny(2, 1, 2, 2)
    w = weights(method)
    mean, log_var = hand.halves(hand.linear(w, "encoder", X))
    q = method.encode(torch.from_numpy(X))["z"]
    close(q.mean, mean)
    close(q.kl_per_latent(), hand.kl(mean, log_var))
    close(q.kl(), hand.kl(mean, log_var).sum(1).mean())
    z = q.rsample()
    close(z, mean + np.exp(log_var / 2) * draws.normal[0])
    close(q.log_prob(z), hand.log_normal(z.detach().numpy(), mean, log_var).sum(1))
    centre = hand.sigmoid(hand.linear(w, "decoder", z.detach().numpy()))
    close(method.decode({"z": z}), centre)
    prior = method.prior(5)["z"]
    close(prior.mean, np.zeros((5, 2)))
    close(prior.kl_per_latent(), np.zeros((5, 2)))
    draws.clear()
    rows = method.nll_rows(torch.from_numpy(X)).detach().numpy()
    again = hand.sigmoid(hand.linear(w, "decoder", hand.draw(mean, log_var, draws.normal[0])))
    flat = X.reshape(3, -1)
    if likelihood == "bernoulli":
        expected = hand.bernoulli(np.log(again / (1 - again)), X)
    elif likelihood == "gaussian":
        expected = hand.normal_error(again, flat, scale)
    else:
        expected = (np.abs(flat - again) / scale + np.log(2 * scale)).sum(1)
    np.testing.assert_allclose(rows, expected, rtol=1e-7)
    draws.clear()
    drawn = method.sample_x({"z": z}).detach().numpy().reshape(3, -1)
    if likelihood == "gaussian":
        np.testing.assert_allclose(drawn, centre + scale * draws.normal[0].reshape(3, -1))
    elif likelihood == "laplace":  # the inverse of its distribution function at a uniform draw
        u = draws.uniform[0].reshape(3, -1)
        quantile = np.where(u < 0.5, np.log(2 * u), -np.log(2 * (1 - u)))
        np.testing.assert_allclose(drawn, centre + scale * quantile, rtol=1e-7)
    else:
        assert set(np.unique(drawn)) <= {0.0, 1.0}


@pytest.mark.parametrize("config", [methods.JointVAE, methods.HFVAE], ids=["joint-vae", "hfvae"])
def test_discrete_codes(config, draws: Draws) -> None:
    size = {"latents": 2} if config is methods.JointVAE else {"groups": (1, 1)}
    method = config(classes=(3, 2), temperature=0.5, width=0.01, **size).build(SPEC)
    method.encoder, method.decoder = hand.Tiny(4, 9), hand.Tiny(7, 1, 2, 2)
    w = weights(method)
    output = hand.linear(w, "encoder", X)
    found = method.encode(torch.from_numpy(X))
    close(found["z"].mean, output[:, :2])
    close(found["z"].kl_per_latent(), hand.kl(output[:, :2], output[:, 2:4]))
    blocks = (output[:, 4:7], output[:, 7:])
    one_hot = np.concatenate([np.eye(block.shape[1])[block.argmax(1)] for block in blocks], axis=1)
    close(found["c"].mean, one_hot)
    p = np.concatenate([hand.softmax(block) for block in blocks], axis=1)
    close(found["c"].probabilities, p)
    share = np.array([1 / 3] * 3 + [1 / 2] * 2)
    close(found["c"].kl_per_latent(), p * np.log(p / share) - p + share)
    drawn = found["c"].rsample()
    relaxed = [hand.softmax((b - np.log(e)) / 0.5) for b, e in zip(blocks, draws.exponential, strict=True)]
    close(drawn, np.concatenate(relaxed, axis=1))
    codes = np.concatenate((output[:, :2], one_hot), axis=1)
    close(method.decode({"z": found["z"].mean, "c": found["c"].mean}), hand.sigmoid(hand.linear(w, "decoder", codes)))
    prior = method.prior(4)
    close(prior["z"].mean, np.zeros((4, 2)))
    close(prior["c"].probabilities, np.tile(share, (4, 1)))
    assert prior["c"].temperature == found["c"].temperature == 0.5


LABELS = np.array([[2.0, 5.0], [np.nan, 3.0], [np.nan, np.nan]])


@pytest.mark.parametrize("config", [methods.IVAE, methods.IDVAE, methods.SSIVAE, methods.SSIDVAE])
@pytest.mark.parametrize("encoding", ["scaled", "one-hot"])
def test_codes_given_labels_their_mean_or_a_guess(config, encoding: str) -> None:
    method = config(latents=2, encoding=encoding, width=0.01).build(LABELLED)
    one_hot = encoding == "one-hot"
    values = 4 if one_hot else 2
    method.encoder, method.decoder = hand.Tiny(4 + values, 4), hand.Tiny(2, 1, 2, 2)
    guesses = hasattr(method, "guess")
    if guesses:
        method.guess.encoder = hand.Tiny(4, 5 if one_hot else 4)
    w = weights(method)
    if guesses:
        output = hand.linear(w, "guess.encoder", X)
        first = np.eye(3)[output[:, :3].argmax(1)] if one_hot else output[:, :1]
        absent = np.concatenate((first, output[:, -2:-1]), axis=1)
    else:
        absent = np.tile([0.5, 0.3, 0.2, 0.25] if one_hot else [0.35, 0.25], (3, 1))
    u = absent.copy()
    u[0] = [0, 0, 1, 0.75] if one_hot else [1, 0.75]
    u[1, -1] = 0.25
    for labels, given in ((LABELS, u), (None, absent)):
        mean, log_var = hand.halves(hand.linear(w, "encoder", X, given))
        q = method.encode(torch.from_numpy(X), labels=None if labels is None else torch.from_numpy(labels))["z"]
        close(q.mean, mean)
        close(q.kl_per_latent(), hand.kl(mean, log_var))
    close(method.decode({"z": q.mean}), hand.sigmoid(hand.linear(w, "decoder", mean)))


@pytest.mark.parametrize("shape", [(1, 2, 2), (4,)])
def test_infogan_reads_its_codes_back_without_noise(shape: tuple[int, ...], draws: Draws) -> None:
    x = X.reshape(3, *shape)
    method = methods.InfoGAN(codes=3, noise=3, instance_noise=0.5, width=0.01).build(DataSpec(shape, 10))
    method.generator, method.trunk = hand.Tiny(6, *shape), hand.Tiny(4, 4)
    method.critic, method.recognition = torch.nn.Linear(4, 1), torch.nn.Linear(4, 6)
    w = weights(method)
    mean, log_var = hand.halves(hand.linear(w, "recognition", hand.linear(w, "trunk", x)))
    q = method.encode(torch.from_numpy(x))["z"]
    close(q.mean, mean)
    # How much less is uncertain than under the uniform prior on [−1, 1]; no surer is nothing.
    close(q.kl_per_latent(), np.maximum(np.log(2) - 0.5 * np.log(2 * np.pi * np.e * np.exp(log_var)), 0))
    codes = np.array([[0.3, -0.8, 0.1]])
    made = hand.linear(w, "generator", np.concatenate((codes, np.zeros((1, 3))), axis=1))
    close(method.decode({"z": torch.from_numpy(codes)}), hand.sigmoid(made) if len(shape) == 3 else made)
    draws.clear()
    prior = method.prior(6)["z"]
    close(prior.mean, np.zeros((6, 3)))
    close(prior.rsample(), 2 * draws.uniform[0] - 1)
    close(q.rsample(), mean + np.exp(log_var / 2) * draws.normal[0])


def test_gans_make_observations_of_what_is_given_and_noise(draws: Draws) -> None:
    y = hand.observations(3, 1, 3, 3, seed=2)
    ms_gan = methods.MSGAN(latents=2, width=0.01).build(DataSpec((1, 3, 3), 10))
    ms_gan.generator = hand.Tiny(11, 1, 3, 3)
    z = np.array([[1.0, 2.0], [0.5, -1.0], [0.0, 0.0]])
    made = ms_gan.decode({"z": torch.from_numpy(z)}, torch.from_numpy(y))
    close(made, hand.sigmoid(hand.linear(weights(ms_gan), "generator", y, z)))
    assert ms_gan.prior(4)["z"].mean.shape == (4, 2)
    spec = DataSpec((1, 8, 8), 10, (Factor("size", 5, "ordinal"), Factor("mass", 0, "continuous")), ((0, 4), (2, 6)))
    cgan = methods.CGAN(latents=2, width=0.01).build(spec)
    cgan.generator = hand.Tiny(4, 1, 2, 2)
    features = np.array([[0.5, 0.5], [-1, -1], [1, 0.0]])
    codes = {"c": torch.tensor([[3.0, 5.0], [0.0, 2.0], [4.0, 4.0]]), "z": torch.from_numpy(z)}
    close(cgan.decode(codes), hand.sigmoid(hand.linear(weights(cgan), "generator", features, z)))
    labels = torch.tensor([[3.0, np.nan]])
    found = cgan.encode(torch.zeros(1, 1, 8, 8), labels=labels)
    close(found["c"].mean, np.array([[3.0, 4.0]]))
    assert torch.isinf(found["c"].kl_per_latent()).all()
    close(found["z"].mean, np.zeros((1, 2)))
    draws.clear()
    drawn = cgan.prior(4)["c"].rsample()
    u = draws.uniform[0]
    expected = np.stack((np.floor(5 * u[:, 0]), 2 + 4 * u[:, 1]), axis=1)  # sizes are counted, masses are not
    close(drawn, expected)
    close(cgan.prior(1)["c"].mean, np.array([[2.0, 4.0]]))
    close(cgan.encode(torch.zeros(1, 1, 8, 8))["c"].mean, np.array([[2.0, 4.0]]))


def test_student_and_one_step_model_have_codes_of_their_own() -> None:
    x = torch.from_numpy(hand.observations(3, 1, 5, 5))
    student = methods.JacobianSupervision(latents=2, width=0.01).build(DataSpec((1, 5, 5), 10, codes=3))
    student.encoder, student.decoder = hand.Tiny(25, 5), hand.Tiny(5, 1, 5, 5)
    codes = hand.linear(weights(student), "encoder", x.numpy())
    found = student.encode(x)
    close(found["c"].mean, codes[:, :3])
    close(found["z"].rsample(), codes[:, 3:])
    decoded = student.decode({"c": found["c"].mean, "z": found["z"].mean})
    close(decoded, hand.sigmoid(hand.linear(weights(student), "decoder", codes)))
    whole = methods.EndToEnd(latents=2, residual_latents=1, width=0.01).build(DataSpec((1, 5, 5), 10))
    whole.encoder, whole.decoder = hand.Tiny(25, 6), hand.Tiny(3, 1, 5, 5)
    output = hand.linear(weights(whole), "encoder", x.numpy())
    both = whole.encode(x)
    close(both["c"].kl_per_latent(), hand.kl(output[:, :2], output[:, 2:4]))
    close(both["z"].kl_per_latent(), hand.kl(output[:, 4:5], output[:, 5:]))
    made = whole.decode({"c": both["c"].mean, "z": both["z"].mean})
    close(made, hand.sigmoid(hand.linear(weights(whole), "decoder", output[:, :2], output[:, 4:5])))
    assert {key: q.mean.shape for key, q in whole.prior(4).items()} == {"c": (4, 2), "z": (4, 1)}


def test_draws_of_the_flow_prior_are_normal_behind_the_flow(draws: Draws) -> None:
    method = methods.FlowBetaTCVAE(latents=2, depth=2, width=0.01).build(SPEC)
    with torch.no_grad():
        method.flow.strength.uniform_(-1, 1)
    draws.clear()
    prior = method.prior(5)["z"]
    drawn = prior.rsample().numpy()
    w = weights(method)
    for z, base in ((drawn, draws.normal[0]), (prior.mean.numpy(), np.zeros((5, 2)))):
        for raw, log_width, shift in zip(w["flow.strength"], w["flow.log_width"], w["flow.shift"], strict=True):
            width = np.exp(log_width)
            z = z + (np.log(1 + np.exp(raw) * (np.e - 1)) - 1) / width * np.tanh(width * z + shift)
        np.testing.assert_allclose(z, base, atol=1e-8)
