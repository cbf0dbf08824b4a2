"""Small operations at values that a few lines of arithmetic give, each with its reductions, constants and edges."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from unbraid.ops import (
    categorical,
    covariance,
    curvature,
    density_ratio,
    gaussian,
    likelihood,
    logit_space,
    masked,
    mixture,
    rotation,
    total_correlation,
)
from unbraid.ops.counts import GREATEST_LOG_RATE, split_output
from unbraid.ops.given import Given, Point, Uniform
from unbraid.ops.groups import grouped_density
from unbraid.ops.information import UNIFORM_ENTROPY, RecognisedCode, UniformCode, information_bound
from unbraid.ops.quantise import OneOfValues
from unbraid.ops.schedules import linear
from unbraid.ops.total_correlation import decompose, mixture_weights, stratified_weights


def close(found: torch.Tensor, expected: object, **tolerance: float) -> None:
    np.testing.assert_allclose(found.numpy(), np.asarray(expected), **{"rtol": 1e-5, "atol": 1e-6, **tolerance})


def test_normal_densities() -> None:
    x = torch.tensor([0.0, 1.0, -3.0])
    close(gaussian.standard_log_prob(x), [-0.9189385, -1.4189385, -5.4189385])
    found = gaussian.log_prob(torch.tensor([3.0]), torch.tensor([1.0]), torch.tensor([math.log(4.0)]))
    close(found, [-0.5 * math.log(2 * math.pi * 4) - 0.5])


def test_kl_between_normals() -> None:
    """log s/σ + (σ² + (μ − m)²)/2s² − ½ at μ = 1, σ² = 4, m = 3, s² = 2."""
    values = [torch.tensor([v]) for v in (1.0, math.log(4.0), 3.0, math.log(2.0))]
    close(gaussian.kl(*values), [0.5 * math.log(2 / 4) + (4 + 4) / 4 - 0.5])


def test_a_network_gives_means_then_log_variances() -> None:
    q = gaussian.DiagonalGaussian.from_parameters(torch.tensor([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]))
    close(q.mean, [[1, 2, 3]])
    close(q.log_var, [[4, 5, 6]])
    prior = gaussian.DiagonalGaussian.standard(3, 2, torch.zeros(1, dtype=torch.float64))
    assert prior.mean.dtype == torch.float64
    close(prior.mean, np.zeros((3, 2)))
    close(prior.log_var, np.zeros((3, 2)))


def test_likelihoods_sum_over_values_and_average_over_the_batch() -> None:
    """Two observations of two values; as images the mean is a sigmoid, as vectors it is the output."""
    output, x = torch.tensor([[0.0, 1.0], [2.0, -1.0]]), torch.tensor([[1.0, 0.0], [0.5, 0.25]])
    p, targets = 1 / (1 + np.exp(-output.numpy())), x.numpy()
    bernoulli = -(targets * np.log(p) + (1 - targets) * np.log(1 - p)).sum(1)
    close(likelihood.nll_rows("bernoulli", output, x), bernoulli)
    close(likelihood.nll("bernoulli", output, x), bernoulli.mean())
    errors = targets - output.numpy()
    normal = (errors**2 / (2 * 0.25) + 0.5 * math.log(2 * math.pi * 0.25)).sum(1)
    close(likelihood.nll_rows("gaussian", output, x, 0.5), normal)
    close(likelihood.nll_rows("gaussian", output, x), (errors**2 / 2 + 0.5 * math.log(2 * math.pi)).sum(1))
    close(likelihood.nll("laplace", output, x), (np.abs(errors) + math.log(2)).sum(1).mean())
    laplace = (np.abs(errors) / 0.5 + math.log(2 * 0.5)).sum(1)
    close(likelihood.nll_rows("laplace", output, x, 0.5), laplace)
    image, target = output.view(2, 1, 2, 1), x.view(2, 1, 2, 1)
    inside = ((targets - p) ** 2 / (2 * 0.25) + 0.5 * math.log(2 * math.pi * 0.25)).sum(1)
    close(likelihood.nll("gaussian", image, target, 0.5), inside.mean())
    close(likelihood.mean("laplace", image), p.reshape(2, 1, 2, 1))
    close(likelihood.mean("laplace", output), output.numpy())
    close(likelihood.mean("bernoulli", output), p)


def test_draws_have_width_one_unless_another_is_given() -> None:
    torch.manual_seed(0)
    drawn = likelihood.sample("gaussian", torch.full((20_000, 1), 3.0))
    assert drawn.std().item() == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize(("step", "value"), [(0, 2.0), (5, 3.5), (10, 5.0), (11, 5.0), (1000, 5.0)])
def test_a_schedule_is_a_line_and_then_level(step: int, value: float) -> None:
    assert linear(step, 2.0, 5.0, 10) == value


def test_a_schedule_of_no_steps_is_over_after_the_first() -> None:
    assert [linear(step, 2.0, 5.0, 0) for step in (0, 1, 2)] == [2.0, 5.0, 5.0]


def test_a_mean_over_a_part_of_the_batch() -> None:
    values, mask = torch.tensor([1.0, 2.0, 6.0]), torch.tensor([True, False, True])
    close(masked.mean_where(values, mask), 3.5)
    close(masked.mean_where(values, torch.zeros(3, dtype=torch.bool)), 0.0)


def test_stratified_weights_at_four_of_ten() -> None:
    """M = 3: itself 1/10, the odd one (10 − 3)/30, the two others 1/3; rows wrap around."""
    found = stratified_weights(4, 10, torch.tensor([1, 2, 3, 1])).exp()
    own, odd, other = 1 / 10, 7 / 30, 1 / 3
    expected = [
        [own, odd, other, other],
        [other, own, other, odd],
        [other, odd, own, other],
        [odd, other, other, own],
    ]
    close(found, expected)
    close(stratified_weights(3, 3, torch.tensor([1, 1, 1])).exp(), np.full((3, 3), 1 / 3))
    close(mixture_weights(2, 10, "mws", torch.device("cpu")).exp(), np.full((2, 2), 1 / 20))


def test_the_odd_one_is_never_the_row_itself_and_may_be_any_other() -> None:
    torch.manual_seed(0)
    found = torch.stack([mixture_weights(3, 9, "mss", torch.device("cpu")).exp() for _ in range(60)])
    close(found.diagonal(dim1=1, dim2=2), np.full((60, 3), 1 / 9))
    odd = (found - 7 / 18).abs() < 1e-6
    assert odd.sum(2).eq(1).all()
    assert odd.any(0).sum() == 6


def test_of_two_rows_the_other_is_always_the_odd_one() -> None:
    for _ in range(20):
        close(mixture_weights(2, 9, "mss", torch.device("cpu")).exp(), [[1 / 9, 8 / 9], [8 / 9, 1 / 9]])
    close(mixture_weights(1, 1, "mss", torch.device("cpu")).exp(), [[1.0]])


@pytest.mark.parametrize(("most", "alone"), [(299, True), (300, False)])
def test_a_batch_too_large_goes_latent_by_latent(most: int, alone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten posteriors of three latents at ten samples: 300 numbers."""
    taken: list[int] = []
    one_by_one = total_correlation.mixture_by_latent
    monkeypatch.setattr(total_correlation, "_AT_ONCE", most)
    monkeypatch.setattr(
        total_correlation, "mixture_by_latent", lambda z, *others: (taken.append(len(z)), one_by_one(z, *others))[1]
    )
    z = torch.zeros(10, 3)
    total_correlation.weighted_mixture(z, z, z, torch.zeros(10, 10))
    assert taken == ([10] if alone else [])


def test_the_three_terms_of_one_observation() -> None:
    """One posterior alone under MSS: q(z) is its own density, nothing depends on anything, and the rest is the KL."""
    q = gaussian.DiagonalGaussian(torch.tensor([[0.5, -1.0]]), torch.tensor([[0.2, -0.3]]))
    z = torch.tensor([[1.0, 0.0]])
    prior = gaussian.standard_log_prob(z).sum(1)
    information, correlation, dimension = decompose(q, z, prior, 1, "mss")
    close(information, 0.0)
    close(correlation, 0.0)
    close(dimension, (q.log_prob(z) - prior).item())


def test_densities_of_groups() -> None:
    """Two samples, components with weights ¼ and ¾, a group of two variables and a group of one."""
    a, b, c = (
        torch.tensor(rows).log() for rows in ([[0.1, 0.2], [0.3, 0.4]], [[0.5, 0.6], [0.7, 0.8]], [[0.9, 0.3]] * 2)
    )
    weights = torch.tensor([[0.25, 0.75]] * 2).log()
    found = grouped_density([[a, b], [c]], weights)
    first = np.array([0.25 * 0.1 * 0.5 + 0.75 * 0.2 * 0.6, 0.25 * 0.3 * 0.7 + 0.75 * 0.4 * 0.8])
    single_a, single_b = np.array([0.175, 0.375]), np.array([0.575, 0.775])
    last = np.array([0.45, 0.45])
    joint = [0.25 * 0.1 * 0.5 * 0.9 + 0.75 * 0.2 * 0.6 * 0.3, 0.25 * 0.3 * 0.7 * 0.9 + 0.75 * 0.4 * 0.8 * 0.3]
    close(found.joint, np.log(joint))
    close(found.groups, np.log(first) + np.log(last))
    close(found.single, np.log(single_a) + np.log(single_b) + np.log(last))


def test_covariances_and_their_penalties() -> None:
    mean, variances = torch.tensor([[1.0, 0.0], [3.0, 4.0]]), torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    close(covariance.covariance(mean), [[1, 2], [2, 4]])
    total = covariance.aggregate_covariance(mean, variances.log())
    close(total, [[3, 2], [2, 7]])
    close(covariance.off_diagonal_penalty(total), 8.0)
    close(covariance.unit_diagonal_penalty(total), 4.0 + 36.0)


def test_the_critics_loss_and_accuracy() -> None:
    first, second = torch.tensor([2.0, -1.0, 0.5]), torch.tensor([-3.0, 1.0])
    loss, accuracy = density_ratio.classification_loss(first, second)
    chance = 1 / (1 + np.exp(-first.numpy())), 1 / (1 + np.exp(-second.numpy()))
    close(loss, -0.5 * np.log(chance[0]).mean() - 0.5 * np.log(1 - chance[1]).mean())
    close(accuracy, 0.5 * (2 / 3) + 0.5 * (1 / 2))


def test_discrete_codes() -> None:
    logits = torch.tensor([[0.0, math.log(3.0), math.log(2.0), math.log(2.0)], [0.0, 0.0, 0.0, math.log(4.0)]])
    q = categorical.Categorical(logits, (2, 2))
    p = np.array([[0.25, 0.75, 0.5, 0.5], [0.5, 0.5, 0.2, 0.8]])
    close(q.probabilities, p)
    entropies = -(p * np.log(p))
    close(categorical.entropy(q), entropies.sum(1).mean())
    close(q.kl(), (2 * math.log(2) - entropies.sum(1)).mean())
    prior = np.array([0.4, 0.6, 0.3, 0.7])
    aggregate = p.mean(0)
    found = categorical.aggregate_kl(q, torch.tensor(prior, dtype=torch.float32))
    close(found, (aggregate * np.log(aggregate / prior)).sum())
    assert categorical.capacity_limit((3, 4)) == pytest.approx(math.log(12))
    assert categorical.capacity_limit(()) == 0


def test_the_density_of_a_relaxed_draw() -> None:
    """Maddison et al. 2017, eq. 25 at α = (1, 2, 3)/6, τ = ½, y = log (0.2, 0.3, 0.5)."""
    alpha, y, tau = np.array([1, 2, 3]) / 6, np.log([0.2, 0.3, 0.5]), 0.5
    odds = alpha * np.exp(-tau * y)
    expected = 2 * tau**2 * odds.prod() / odds.sum() ** 3
    logits = torch.tensor([1.0, 2.0, 3.0]).log()
    close(categorical.relaxed_log_prob(torch.tensor(y).float(), logits, tau), math.log(expected))
    assert categorical.Categorical(logits[None], (3,)).temperature == 0.67


def test_overlap_of_modes() -> None:
    """N(0, 1) and N(2, 1) overlap by e^(−½), N(0, 1) and N(0, 4) by √(2·2/5)."""
    zero, two = torch.zeros(1), torch.tensor([2.0])
    close(mixture.bhattacharyya(zero, zero, two, zero), math.exp(-0.5))
    close(mixture.bhattacharyya(zero, zero, zero, torch.tensor([math.log(4.0)])), math.sqrt(4 / 5))
    mean, log_var = torch.tensor([[0.0], [2.0], [0.0]]), torch.tensor([[0.0], [0.0], [math.log(4.0)]])
    third = math.exp(-(4 / (8 * 2.5))) * math.sqrt(4 / 5)
    close(mixture.overlap(mean, log_var, 0.7), (math.sqrt(4 / 5) - 0.7) + (third - 0.7))
    centre, spread = mixture.moments(torch.tensor([0.25, 0.25, 0.5]), mean, log_var)
    close(centre, [0.5])
    close(spread.exp(), [0.25 + 0.25 * 5 + 0.5 * 4 - 0.25])


def test_information_about_uniform_codes() -> None:
    q = RecognisedCode(torch.zeros(2, 1), torch.tensor([[math.log(0.01)], [5.0]]))
    close(
        q.log_prob(torch.tensor([[0.1], [0.0]])),
        [-0.5 * math.log(2 * math.pi * 0.01) - 0.5, -0.5 * math.log(2 * math.pi) - 2.5],
    )
    close(q.kl_per_latent(), [[math.log(2) - 0.5 * math.log(2 * math.pi * math.e * 0.01)], [0.0]])
    close(information_bound(torch.tensor([-1.0, -2.0]), 3.0), 1.5)
    assert pytest.approx(math.log(2)) == UNIFORM_ENTROPY
    torch.manual_seed(0)
    drawn = UniformCode(torch.zeros(2000, 1)).rsample()
    assert -1 <= drawn.min() < -0.99
    assert 0.99 < drawn.max() <= 1
    assert not UniformCode(torch.zeros(2, 1)).kl_per_latent().any()


def test_bytes_in_logit_space() -> None:
    x = torch.tensor([0.0, 128 / 255, 1.0]).view(1, 1, 1, 3)
    p = np.array([0.5, 128.5, 255.5]) / 256
    inner = 1e-6 + (1 - 2e-6) * p
    close(logit_space.enter(x), np.log(inner / (1 - inner))[None], rtol=1e-4)
    close(logit_space.enter(x, torch.tensor([[0.25, 0.0, 0.75]]))[0, 0], np.log(0.25 / 255.75), rtol=1e-3)
    close(logit_space.leave(logit_space.enter(x), (1, 1, 3)), x.numpy(), atol=1e-5)
    vectors = torch.tensor([[2.0, -7.0]])
    assert logit_space.enter(vectors) is vectors
    assert logit_space.enter_noisily(vectors) is vectors
    assert logit_space.leave(vectors, (2,)) is vectors
    assert logit_space.dimension((3, 4, 5)) == 60


def test_given_codes_are_points_and_their_prior_is_uniform() -> None:
    value = torch.tensor([[2.0, 3.5]])
    for point in (Point(value), Given(value, ("a", "b"), ((0, 4), (2, 6)))):
        assert point.rsample() is value
        assert torch.isposinf(point.kl_per_latent()).all()
    torch.manual_seed(0)
    prior = Uniform(4000, ("a", "b"), ((0.0, 4.0), (2.0, 6.0)), torch.tensor([True, False]))
    close(prior.mean[0], [2.0, 4.0])
    drawn = prior.rsample()
    counts = torch.bincount(drawn[:, 0].long()) / 4000
    close(counts, np.full(5, 0.2), atol=0.03)
    assert drawn[:, 1].min().item() == pytest.approx(2, abs=0.01)
    assert drawn[:, 1].max().item() == pytest.approx(6, abs=0.01)
    assert not prior.kl_per_latent().any()
    counted = Uniform(500, ("a",), ((3.0, 6.0),), torch.tensor([True])).rsample()
    assert sorted(set(counted.flatten().tolist())) == [3.0, 4.0, 5.0, 6.0], "a range need not begin at 0"


def test_rates_of_counts_stay_where_they_can_be_written_down() -> None:
    output = torch.tensor([[900.0, -2.0, 3.0, 800.0]])
    rates, none = split_output("poisson", output)
    assert none is None
    close(rates, [[GREATEST_LOG_RATE, -2.0, 3.0, GREATEST_LOG_RATE]])
    rates, dispersions = split_output("negative-binomial", output)
    close(rates, [[GREATEST_LOG_RATE, -2.0]])
    close(dispersions, [[3.0, 800.0]])
    assert torch.isfinite(rates.exp()).all()


def test_each_output_adds_its_share_of_mixed_derivatives() -> None:
    """Of two outputs, one of which mixes its codes wholly and one not at all, the sum is that of the first."""
    z, one = torch.ones(1, 2), torch.ones(2)

    def product(z: torch.Tensor) -> torch.Tensor:
        return z[:, :1] * z[:, 1:]

    def penalty(*parts: Callable[[torch.Tensor], torch.Tensor]) -> float:
        torch.manual_seed(0)
        return curvature.normalised_hessian_penalty(lambda z: [part(z) for part in parts], z, one, draws=400).item()

    assert penalty(product, product) == pytest.approx(2 * penalty(product), rel=1e-5)
    assert penalty(product, torch.square) == pytest.approx(penalty(product), abs=0.01)


def test_the_optimal_scale_is_a_number_and_no_way_to_lower_the_loss() -> None:
    """The slope of one row is its error over the variance of all: the variance itself has none."""
    error = torch.tensor([[0.5, -1.0], [2.0, 0.1]], requires_grad=True)
    likelihood.error_rows("gaussian-optimal", error)[0].backward()
    variance = error.detach().square().mean()
    assert error.grad is not None
    torch.testing.assert_close(error.grad, torch.stack([error.detach()[0] / variance, torch.zeros(2)]))


@pytest.mark.parametrize("degrees", [-40, -25, -10, 10, 25, 40])
def test_independent_codes_that_were_turned_are_turned_back(degrees: float) -> None:
    draws = np.random.default_rng(0)
    apart = np.stack([draws.uniform(-1, 1, 3000), 0.6 * draws.laplace(size=3000)], axis=1)
    angle = np.deg2rad(degrees)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    found = rotation.independent_rotation(apart @ turn.T)
    back = found.matrix @ turn  # of the codes as they were: each alone, whatever its order and sign
    assert np.abs(back).max(axis=1) == pytest.approx(np.ones(2), abs=0.005)
    assert found.matrix @ found.matrix.T == pytest.approx(np.eye(2), abs=1e-9)
    alone = rotation.marginal_entropies(np.ascontiguousarray(apart.T)).sum()
    assert found.entropy_after == pytest.approx(alone, abs=0.02)
    assert found.gain == pytest.approx(found.entropy_before - found.entropy_after)
    rows = (apart @ turn.T - (apart @ turn.T).mean(0)) @ found.matrix.T
    assert rotation.marginal_entropies(np.ascontiguousarray(rows.T)).sum() == pytest.approx(found.entropy_after)


@pytest.mark.parametrize("degrees", [-41, -25, -11, 11, 25, 41])
def test_two_codes_are_turned_back_at_once_and_those_that_are_apart_stay(
    degrees: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rotation, "SWEEPS", 1)
    draws = np.random.default_rng(1)
    apart = np.stack([draws.uniform(-1, 1, 3000), 0.6 * draws.laplace(size=3000)], axis=1)
    angle = np.deg2rad(degrees)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    back = rotation.independent_rotation(apart @ turn.T).matrix @ turn
    assert np.abs(back).max(axis=1) == pytest.approx(np.ones(2), abs=0.005)
    monkeypatch.setattr(rotation, "SWEEPS", 10)
    still = rotation.independent_rotation(apart)
    assert (still.matrix == np.eye(2)).all()
    assert still.gain == 0


def test_one_of_many_values_says_their_logarithm_and_the_prior_nothing() -> None:
    values = torch.tensor([[-1.0, 0.0, 1.0], [0.0, 2.0, 7.0]])
    close(OneOfValues(values, torch.tensor([[0.0, 7.0]])).kl_per_latent(), [[math.log(3), math.log(3)]])
    close(OneOfValues(values, n=2).kl_per_latent(), [[0.0, 0.0], [0.0, 0.0]])
    close(OneOfValues(values, n=2).mean, [[0.0, 3.0], [0.0, 3.0]])


def test_pixels_leave_logit_space_between_black_and_white() -> None:
    """The first half of the first step of 256 is black, the last half of the last one white."""
    t = torch.tensor([[-30.0, 0.0, 30.0]])
    close(logit_space.leave(t, (1, 1, 3)).flatten(), [0.0, 0.5, 1.0])
    close(logit_space.leave(t, (3,)), t.numpy())


def test_draws_beside_a_prior_of_their_own_are_around_their_mean() -> None:
    zero = torch.zeros(1)
    drawn = mixture.PriorGaussian(torch.full((4, 1), 7.0), torch.full((4, 1), -40.0), zero, zero).rsample()
    close(drawn, [[7.0]] * 4, atol=1e-4)


def test_ranges_that_do_not_begin_at_zero() -> None:
    """From 2 to 5: four whole numbers, whose middle is 4, and the middle of a line, 3.5."""
    prior = Uniform(400, ["count", "mass"], [(2.0, 5.0), (2.0, 5.0)], torch.tensor([True, False]))
    close(prior.mean[0], [4.0, 3.5])
    counted, measured = prior.rsample().unbind(1)
    assert sorted(set(counted.tolist())) == [2.0, 3.0, 4.0, 5.0]
    assert 2.0 <= measured.min() < 2.2 < 4.8 < measured.max() <= 5.0


def test_a_batch_of_two_has_one_other_that_stands_for_all() -> None:
    """Of N = 10: a row's own 1/10, and the only other the remaining 9/10."""
    close(stratified_weights(2, 10, torch.tensor([1, 1])).exp(), [[0.1, 0.9], [0.9, 0.1]])
