"""Turned codes: the same pictures, other axes."""

import numpy as np
import pytest
import torch

from unbraid.core import DataSpec
from unbraid.data import from_arrays
from unbraid.methods import BetaTCVAE
from unbraid.methods.vae.alignment import ACTIVE, is_turn, turn_codes
from unbraid.nets.stacks import Encoder, decoder
from unbraid.ops.gaussian import DiagonalGaussian
from unbraid.ops.rotation import marginal_entropies

ANGLE = 0.6


@pytest.fixture
def turned_square() -> tuple[Encoder, torch.nn.Sequential, torch.Tensor]:
    """An encoder that reads two independent values off a vector as codes 0 and 2, turned; code 1 carries nothing."""
    torch.manual_seed(0)
    encoder, decode = Encoder((4,), 6, network="mlp", width=0.02), decoder(3, (4,), network="mlp", width=0.02)
    with torch.no_grad():
        encoder.trunk = torch.nn.Sequential()
        encoder.head = torch.nn.Linear(4, 6)
        encoder.head.weight.zero_()
        c, s = np.cos(ANGLE), np.sin(ANGLE)
        encoder.head.weight[0, :2] = torch.tensor([c, -s]) * 2
        encoder.head.weight[2, :2] = torch.tensor([s, c]) * 2
        encoder.head.bias[:3] = torch.tensor([0.7, 0.0, -0.4])
        encoder.head.bias[3:] = torch.tensor([-4.0, 0.0, -3.0])
    return encoder, decode, torch.rand(3000, 4) * 2 - 1


def test_every_picture_stays_and_codes_become_independent(turned_square):
    encoder, decode, x = turned_square
    before = DiagonalGaussian.from_parameters(encoder(x))
    pictures = decode(before.mean)
    found = turn_codes(encoder, decode, x)
    after = DiagonalGaussian.from_parameters(encoder(x))
    torch.testing.assert_close(decode(after.mean), pictures, atol=1e-5, rtol=1e-4)
    assert found is not None
    entropies = [marginal_entropies(q.mean[:, [0, 2]].detach().double().T.numpy()).sum() for q in (before, after)]
    assert entropies[0] - entropies[1] == pytest.approx(found.gain, abs=0.01)
    assert found.gain > 0.1
    # Each code now follows one of the two values.
    likeness = np.abs(np.corrcoef(after.mean[:, [0, 2]].detach().T.numpy(), x[:, :2].T.numpy())[:2, 2:])
    np.testing.assert_allclose(np.sort(likeness, axis=1)[:, 1], 1, atol=0.01)
    np.testing.assert_allclose(np.sort(likeness, axis=1)[:, 0], 0, atol=0.1)


def test_a_code_that_carries_nothing_is_left_alone(turned_square):
    encoder, decode, x = turned_square
    q = DiagonalGaussian.from_parameters(encoder(x))
    assert (q.kl_per_latent().mean(0) > ACTIVE).tolist() == [True, False, True]
    turn_codes(encoder, decode, x)
    after = DiagonalGaussian.from_parameters(encoder(x))
    torch.testing.assert_close(after.mean[:, 1], q.mean[:, 1])
    torch.testing.assert_close(after.log_var[:, 1], q.log_var[:, 1])


def test_variances_are_those_along_the_new_axes(turned_square):
    encoder, decode, x = turned_square
    found = turn_codes(encoder, decode, x)
    assert found is not None
    share = found.matrix**2
    expected = np.log(share @ np.exp([-4.0, -3.0]))
    spread = DiagonalGaussian.from_parameters(encoder(x)).log_var[0, [0, 2]].detach().numpy()
    np.testing.assert_allclose(spread, expected, atol=1e-4)


def test_log_variances_change_with_x_in_the_same_proportions_and_have_the_right_level(turned_square):
    """Σⱼ Rᵢⱼ²·(ℓⱼ(x) − ℓ̄ⱼ) + log Σⱼ Rᵢⱼ²·exp ℓ̄ⱼ, with ℓ̄ the mean over the observations."""
    encoder, decode, x = turned_square
    with torch.no_grad():
        encoder.head.weight[3, 2], encoder.head.weight[5, 3], encoder.head.weight[4, 2] = 0.8, -0.5, 0.1
    before = DiagonalGaussian.from_parameters(encoder(x)).log_var.detach().numpy()
    found = turn_codes(encoder, decode, x)
    assert found is not None
    share = np.eye(3)
    share[np.ix_([0, 2], [0, 2])] = found.matrix**2
    assert share[0, 2] > 0.1
    level = before.mean(0)
    expected = (before - level) @ share.T + np.log(share @ np.exp(level))
    after = DiagonalGaussian.from_parameters(encoder(x)).log_var.detach().numpy()
    np.testing.assert_allclose(after, expected, atol=1e-4)


def test_a_code_is_turned_by_what_it_carries_of_one_observation_not_of_all(turned_square):
    encoder, decode, x = turned_square
    with torch.no_grad():
        encoder.head.weight[1, 2] = 0.4
    before = DiagonalGaussian.from_parameters(encoder(x))
    assert 0.01 < before.kl_per_latent().mean(0)[1] < 0.05
    turn_codes(encoder, decode, x)
    torch.testing.assert_close(DiagonalGaussian.from_parameters(encoder(x)).mean[:, 1], before.mean[:, 1])


def test_fewer_than_two_codes_cannot_turn(turned_square):
    encoder, decode, x = turned_square
    with torch.no_grad():
        encoder.head.weight[0] = 0
        encoder.head.bias[[0, 3]] = 0
    weights = encoder.head.weight.clone()
    assert turn_codes(encoder, decode, x) is None
    torch.testing.assert_close(encoder.head.weight, weights)


def test_turns_are_spread_over_training():
    assert [step for step in range(100) if is_turn(step, 100, 4)] == [20, 40, 60, 80]
    assert not any(is_turn(step, 100, 0) for step in range(100))
    assert [step for step in range(3) if is_turn(step, 3, 4)] == [1, 2]


def test_training_turns_codes_and_the_paper_does_not(tmp_path, monkeypatch):
    import unbraid
    from unbraid.methods.vae import beta_tcvae

    calls = []
    monkeypatch.setattr(beta_tcvae, "turn_codes", lambda encoder, decoder, x: calls.append(x.shape))
    data = from_arrays(np.random.default_rng(0).integers(0, 255, (50, 8, 8, 1)).astype(np.uint8))
    for turns in (0, 2):
        config = BetaTCVAE(width=0.1, turns=turns, batch_size=8)
        unbraid.fit(data, config, steps=8, out=tmp_path / str(turns), show=False)
    assert calls == [(45, 1, 8, 8)] * 2, "a tenth is held out"


def test_codes_are_turned_at_the_resolution_that_they_are_learned_at():
    torch.manual_seed(0)
    model = BetaTCVAE(width=0.1, turns=2, resolution=8).build(DataSpec((1, 16, 16), 50))
    weights = model.encoder.head.weight.clone()
    with torch.no_grad():
        model.encoder.head.weight.mul_(100)  # codes that carry something
    model.adjust(torch.rand(50, 1, 16, 16))
    assert model.encoder.head.weight.shape == weights.shape


@pytest.mark.parametrize(("mean", "turned"), [(0.9, False), (1.1, True)])  # 0.405 nats and 0.605 nats
def test_half_a_nat_is_enough_to_be_turned(turned_square, mean, turned):
    encoder, decode, x = turned_square
    with torch.no_grad():
        encoder.head.weight[0] = 0
        encoder.head.bias[0], encoder.head.bias[3] = mean, 0.0  # ½·mean² nats of every observation
    assert (turn_codes(encoder, decode, x) is not None) == turned
