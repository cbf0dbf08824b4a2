"""What a small batch does to the estimate of the total correlation."""

import math

import numpy as np
import pytest
import torch

from unbraid.methods import DIPVAEI, DIPVAEII, HFVAE, BetaTCVAE, BetaVAE
from unbraid.methods.recipes import Traits, start
from unbraid.ops.batch_bias import acting_beta, slope_at, tc_slope
from unbraid.ops.covariance import aggregate_third_moments, covariance, covariance_noise, third_moment_noise
from unbraid.ops.total_correlation import aggregate_posterior
from unbraid.runs.plan import Plan, cautions


@pytest.mark.parametrize(("batch", "expected"), [(64, 0.75), (256, 0.56), (1024, 0.33), (2048, 0.24)])
def test_the_slope_falls_as_the_batch_grows(batch: int, expected: float) -> None:
    """By 20,000 samples of batches: 0.754, 0.558 and 0.329, each within 0.004; at 2048 another program had 0.24."""
    assert tc_slope(batch, latents=5, kl=6.0) == pytest.approx(expected, abs=0.03)


def test_the_slope_is_that_of_the_estimate_itself() -> None:
    """Finite differences of the mean estimate at two informations, with the same draws."""
    draw = torch.Generator().manual_seed(3)
    starts, noise = (torch.randn((300, 32, 3), generator=draw) for _ in range(2))

    def estimate(kl: float) -> float:
        s = torch.tensor(-kl / 3).exp()
        total = 0.0
        for u, e in zip(starts, noise, strict=True):
            mean = (1 - s**2).sqrt() * u
            joint, product = aggregate_posterior(
                mean + s * e, mean, 2 * s.log().expand_as(mean), dataset_size=32, estimator="mws"
            )
            total += float((joint - product).mean())
        return total / len(starts)

    assert tc_slope(32, latents=3, kl=4.0) == pytest.approx((estimate(4.2) - estimate(3.8)) / 0.4, abs=0.03)


def test_codes_that_tell_nothing_have_no_slope_and_those_that_tell_all_have_slope_one() -> None:
    assert abs(tc_slope(32, latents=5, kl=0.05)) < 0.1
    assert tc_slope(64, latents=10, kl=20.0) == pytest.approx(1.0, abs=0.1)


def test_five_codes_of_six_nats_are_asked_for_unless_others_are_named() -> None:
    million = tc_slope(32, latents=5, kl=6.0, estimator="mss", dataset_size=1_000_000, seed=0)
    assert tc_slope(32, estimator="mss") == million, "drawn by its seed alone"
    assert tc_slope(32, estimator="mss", seed=1) != million
    assert tc_slope(32) == tc_slope(32, latents=5, kl=6.0, estimator="mws", rows=4096, seed=0)


def test_the_acting_weight_lies_between_alpha_and_beta() -> None:
    assert acting_beta(6.0, 1.0, 0.0) == 1.0
    assert acting_beta(6.0, 1.0, 1.0) == 6.0
    assert acting_beta(6.0, 1.0, 0.72) == pytest.approx(4.6)


def test_who_asks_for_a_small_batch_is_told_and_nobody_else(squares) -> None:
    many = squares.take(np.arange(65) % len(squares), "65 squares")

    def said(config, data=many) -> list[str]:
        return cautions(Plan.check(data, [config], [1], 0))

    (sentence,) = said(BetaTCVAE(batch_size=64))
    assert "from batches of 64" in sentence
    assert "β = 6 acts like a β-VAE of 4.7" in sentence
    assert said(BetaTCVAE(batch_size=64), many.take(np.arange(64), "64 squares")) == [], "nothing is estimated"
    assert said(BetaTCVAE(batch_size=512)) == []
    assert said(BetaTCVAE(batch_size=64, beta=1.0)) == []
    assert said(BetaVAE(batch_size=64)) == []
    assert said(start(BetaTCVAE, "fast", Traits((1, 64, 64)))) == []
    (sentence,) = said(HFVAE(batch_size=64))
    assert "β = 4 acts like a β-VAE of 3.2" in sentence
    assert said(HFVAE(batch_size=64, beta=1.0)) == []


def test_stratified_weights_of_few_of_many_pay_for_what_codes_tell() -> None:
    (paid,) = BetaTCVAE(batch_size=64, estimator="mss").cautions(1_000_000)
    assert "batches of 64 by mss" in paid
    assert "falls by 0.9" in paid
    (charged,) = BetaTCVAE(batch_size=64, estimator="mss").cautions(100)
    assert "rises by 0.72 for each nat of KL, so that β = 6 acts like a β-VAE of 4.6" in charged
    assert BetaTCVAE(batch_size=64, estimator="mss").cautions(10_000) == [], "nearly even"
    assert BetaTCVAE(batch_size=64, estimator="mss", turns=4).cautions(1_000_000) == []


def test_third_moments_of_perfect_codes_cost_their_noise() -> None:
    draw = torch.Generator().manual_seed(0)
    samples = torch.randn((400, 64, 4), generator=draw)
    collapsed = torch.full((64, 4), -30.0)  # all variance is that of the means
    seen = torch.stack([aggregate_third_moments(batch, collapsed).square().sum() for batch in samples]).mean()
    assert float(seen) == pytest.approx(third_moment_noise(4, 64), rel=0.1)
    (sentence,) = DIPVAEII(third_moments=200.0, batch_size=64).cautions(9_000)
    assert "pay about 4,125 nats at --third-moments 200" in sentence
    assert DIPVAEII(third_moments=200.0, batch_size=400).cautions(9_000) == []
    assert DIPVAEII(batch_size=64).cautions(9_000) == []


@pytest.mark.parametrize("batch", [16, 100])
def test_covariances_of_perfect_codes_cost_their_noise(batch: int) -> None:
    draw = torch.Generator().manual_seed(0)
    seen = torch.stack([covariance(samples) for samples in torch.randn((4000, batch, 5), generator=draw)])
    squares = (seen - torch.eye(5)).square().mean(0)
    off, diagonal = covariance_noise(5, batch)
    assert float(squares.sum() - squares.trace()) == pytest.approx(off, rel=0.1)
    assert float(squares.trace()) == pytest.approx(diagonal, rel=0.1)


@pytest.mark.parametrize("method", [DIPVAEI, DIPVAEII])
def test_large_weights_of_small_batches_are_spoken_of(method: type[DIPVAEI]) -> None:
    (sentence,) = method(off_diagonal=500.0, diagonal=100.0, batch_size=64).cautions(9_000)
    assert "pay about 734 nats at --off-diagonal 500 and --diagonal 100" in sentence  # 500 · 90/64 + 100 · 20/64
    assert method(off_diagonal=500.0, diagonal=500.0, batch_size=400).cautions(9_000) == []
    assert method(batch_size=64).cautions(9_000) == []


def grid(side: int, apart: float, spread: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Posteriors whose means lie on a grid and whose deviations are alike: q(z) is a product."""
    place = apart * (torch.arange(float(side)) - (side - 1) / 2)
    mean = torch.cartesian_prod(place, place)
    return mean, torch.full_like(mean, 2 * math.log(spread))


def test_at_a_grid_of_codes_the_whole_data_set_takes_no_kl_for_correlation() -> None:
    mean, log_var = grid(8, 0.4, 0.2)
    assert slope_at(mean, log_var, 64, batches=5) == pytest.approx(0.0, abs=1e-4)
    assert slope_at(mean, log_var, 64, estimator="mss", batches=5) == pytest.approx(0.0, abs=1e-4)
    few, stratified = (slope_at(mean, log_var, 16, estimator=name) for name in ("mws", "mss"))  # type: ignore[arg-type]
    assert few > stratified + 0.05 > 0.1, "the own posterior weighs 1/16 in place of 1/64"
    assert slope_at(mean, log_var, 8) > few


def test_the_slope_at_given_codes_is_that_of_the_expected_estimate() -> None:
    """Of four posteriors on a diagonal, with the means over many draws of the estimate at two deviations."""
    mean = torch.tensor([[-0.9, -0.6], [-0.3, -0.2], [0.4, 0.1], [1.0, 0.8]], dtype=torch.float64)
    noise = np.random.default_rng(0).normal(size=(4, 40_000, 2))
    centre = mean.numpy()

    def estimate(spread: float) -> float:
        z = centre[:, None] + spread * noise
        each = np.exp(-0.5 * ((z[:, :, None] - centre) / spread) ** 2) / spread / math.sqrt(2 * math.pi)
        return float((np.log(each.prod(3).mean(2)) - np.log(each.mean(2)).sum(2)).mean())

    def divergence(spread: float) -> float:
        return float(0.5 * (centre**2 + spread**2 - 1 - 2 * math.log(spread)).sum(1).mean())

    low, high = 0.39, 0.41
    expected = (estimate(low) - estimate(high)) / (divergence(low) - divergence(high))
    found = slope_at(mean, torch.full_like(mean, 2 * math.log(0.4)), 4, batches=4_000)
    assert found == pytest.approx(expected, abs=0.02)
    assert abs(expected) > 0.1
