"""Condition (iv): when there are points at which L can be inverted."""

import numpy as np

from unbraid.evaluation.identifiability import condition_iv


def priors(points: int, latents: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return random.normal(size=(points, latents)), random.uniform(-2, 0, size=(points, latents))


def test_parameters_at_random_satisfy_it() -> None:
    found = condition_iv(*priors(50, 3))
    assert found.holds
    assert found.needed == found.rank == 6
    assert found.condition_number < 100


def test_one_point_too_few_does_not() -> None:
    assert condition_iv(*priors(7, 3)).holds
    found = condition_iv(*priors(6, 3))
    assert not found.holds
    assert found.rank == 5
    assert found.condition_number == np.inf


def test_a_prior_that_ignores_u_does_not() -> None:
    mean, log_var = priors(50, 3)
    mean[:, 1], log_var[:, 1] = 0.3, -1.0
    found = condition_iv(mean, log_var)
    assert not found.holds
    assert found.rank == 4


def test_noise_of_single_precision_is_no_rank() -> None:
    random = np.random.default_rng(0)
    mean, log_var = (np.full((500, 3), value, np.float32) for value in (0.7, -1.3))
    noisy = [array + random.uniform(-1, 1, array.shape).astype(np.float32) * 1e-7 for array in (mean, log_var)]
    assert condition_iv(*noisy).rank == 0


def test_without_any_point_there_is_no_rank() -> None:
    found = condition_iv(np.zeros((0, 3)), np.zeros((0, 3)))
    assert (found.needed, found.rank, found.points, found.holds) == (6, 0, 0, False)


def test_a_latent_that_repeats_another_does_not() -> None:
    mean, log_var = priors(50, 3)
    mean[:, 2], log_var[:, 2] = mean[:, 0], log_var[:, 0]
    assert condition_iv(mean, log_var).rank == 4


def test_variances_that_never_change_leave_half_the_rank() -> None:
    mean, log_var = priors(50, 3)
    assert condition_iv(mean, np.full_like(log_var, -1.0)).rank == 3


def test_the_condition_number_does_not_depend_on_the_units_of_the_latents() -> None:
    mean, log_var = priors(50, 3)
    scale = np.array([0.01, 1.0, 50.0])
    scaled = condition_iv(5 + mean * scale, log_var + 2 * np.log(scale))
    np.testing.assert_allclose(scaled.condition_number, condition_iv(mean, log_var).condition_number, rtol=1e-6)


def test_the_rank_is_that_of_the_best_choice_of_points() -> None:
    mean, log_var = priors(7, 3)
    repeated = np.repeat(mean, 4, axis=0), np.repeat(log_var, 4, axis=0)
    assert condition_iv(*repeated).holds


def test_the_matrix_of_three_priors_by_hand() -> None:
    """λ = (μ/σ², −1/2σ²) of standardised latents; L holds the differences from the point nearest to the middle."""
    mean, variance = np.array([1.0, 2.0, 6.0]), np.array([1.0, 4.0, 0.5])
    spread = mean.var() + variance.mean()
    m, v = (mean - 3) / np.sqrt(spread), variance / spread
    points = np.stack([m / v, -0.5 / v], axis=1)
    nearest = np.square(points - points.mean(0)).sum(1).argmin()
    matrix = np.delete(points, nearest, axis=0) - points[nearest]
    found = condition_iv(mean[:, None], np.log(variance)[:, None])
    largest, least = np.linalg.svd(matrix, compute_uv=False)
    np.testing.assert_allclose(found.singular_values, [largest, least])
    np.testing.assert_allclose(found.condition_number, np.linalg.cond(matrix))
    assert found.condition_number > 1
