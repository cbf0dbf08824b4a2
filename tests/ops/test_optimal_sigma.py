"""The Gaussian of the best width: its value, its gradient, and that it is a Gaussian's likelihood."""

import math

import pytest
import torch

from unbraid.ops import likelihood
from unbraid.ops.optimal_sigma import optimal_gaussian_nll

X = torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 7.0]])
MEAN = torch.tensor([[0.0, 1.5, 2.0], [3.0, 2.0, 7.0]])  # squared errors 0.25 and 4 of six values


def test_value_by_hand():
    variance = 4.25 / 6
    expected = 0.5 * 3 * (math.log(variance) + 1 + math.log(2 * math.pi))
    assert optimal_gaussian_nll(MEAN, X).item() == pytest.approx(expected, rel=1e-6)


def test_no_fixed_width_is_better():
    best = optimal_gaussian_nll(MEAN, X).item()
    widths = [math.sqrt(4.25 / 6) * factor for factor in (0.8, 0.99, 1.0, 1.01, 1.3)]
    fixed = [likelihood.nll("gaussian", MEAN, X, width).item() for width in widths]
    assert fixed[2] == pytest.approx(best, rel=1e-6)
    assert min(fixed[0], fixed[1], fixed[3], fixed[4]) > best


def test_gradient_is_that_of_the_best_fixed_width():
    mean = MEAN.clone().requires_grad_()
    (free,) = torch.autograd.grad(optimal_gaussian_nll(mean, X), mean)
    (fixed,) = torch.autograd.grad(likelihood.nll("gaussian", mean, X, math.sqrt(4.25 / 6)), mean)
    torch.testing.assert_close(free, fixed)


def test_images_go_through_the_logistic_function_and_rows_add_up():
    torch.manual_seed(0)
    output, x = torch.randn(4, 3, 2, 2), torch.rand(4, 3, 2, 2)
    whole = likelihood.nll("gaussian-optimal", output, x)
    torch.testing.assert_close(whole, optimal_gaussian_nll(output.sigmoid(), x))
    torch.testing.assert_close(likelihood.nll_rows("gaussian-optimal", output, x).mean(), whole)


def test_a_perfect_reconstruction_is_finite():
    assert math.isfinite(optimal_gaussian_nll(X, X).item())
