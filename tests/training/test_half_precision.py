"""Losses while networks compute in half precision: codes, ratios, covariances and differences do not."""

import pytest
import torch
from torch import Tensor

from small_methods import SMALL
from unbraid import methods
from unbraid.core import MethodConfig
from unbraid.ops import total_correlation
from unbraid.ops.covariance import aggregate_third_moments, covariance
from unbraid.ops.curvature import normalised_hessian_penalty
from unbraid.ops.density_ratio import classification_loss, mistaken_loss
from unbraid.ops.precision import no_half
from unbraid.training.contract import batch_source, job, small_images, training_data
from unbraid.training.loop import build


def losses(config: MethodConfig, half: bool) -> tuple[list[Tensor], Tensor]:
    """The loss of every update from one seed, and the gradient of their sum."""
    source = training_data(config, small_images())
    method = build(job(config, source), torch.device("cpu")).eval()
    batches, found = batch_source(source), []
    for update in method.updates():
        batch = batches.batch(update.name, update.stream, update.batch_size, 0, update.pairs)
        torch.manual_seed(7)
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            found.append(update.loss(batch, 3).total)
    torch.stack(found).sum().backward()
    return found, torch.cat([p.grad.flatten() for p in method.parameters() if p.grad is not None])


@pytest.mark.parametrize("config", SMALL, ids=lambda config: config.name)
def test_losses_of_networks_in_half_precision_are_those_of_single(config: MethodConfig) -> None:
    whole, slope = losses(config, half=False)
    found, half_slope = losses(config, half=True)
    for one, other in zip(found, whole, strict=True):
        assert one.dtype == torch.float32
        assert one.item() == pytest.approx(other.item(), rel=0.03, abs=0.01)
    assert half_slope.isfinite().all()
    assert torch.cosine_similarity(half_slope, slope, dim=0) > 0.9


def test_a_batch_that_goes_latent_by_latent(monkeypatch: pytest.MonkeyPatch) -> None:
    config = methods.BetaTCVAE(width=0.1, beta=3.0)
    at_once, _ = losses(config, half=True)
    monkeypatch.setattr(total_correlation, "_AT_ONCE", 0)
    one_by_one, slope = losses(config, half=True)
    assert one_by_one[0].item() == pytest.approx(at_once[0].item(), rel=1e-5)
    assert slope.isfinite().all()


def test_sums_of_products_keep_their_digits() -> None:
    """Values whose squares differ in the fifth digit: eight bits would not tell them apart."""
    torch.manual_seed(0)
    samples = torch.randn(200, 3)
    exact = covariance(samples.double()), aggregate_third_moments(samples.double(), samples.double())
    with torch.autocast("cpu", torch.bfloat16):
        found = covariance(samples), aggregate_third_moments(samples, samples)
    for one, other in zip(found, exact, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-5, atol=1e-5)


def test_log_ratios_are_averaged_in_single_precision() -> None:
    odds = torch.tensor([1.0, 2.0, -0.5], dtype=torch.bfloat16)
    single = odds.float()
    assert mistaken_loss(odds).item() == mistaken_loss(single).item()
    assert classification_loss(odds, -odds)[0].item() == classification_loss(single, -single)[0].item()


def test_second_differences_within_no_half() -> None:
    """(3·z₁ + 10)² has no mixed derivative; in half precision its differences would be noise."""
    layer = torch.nn.Linear(2, 1)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[3.0, 0.0]]))
        layer.bias.fill_(10.0)
    with torch.autocast("cpu", torch.bfloat16), no_half(torch.device("cpu")):
        torch.manual_seed(0)
        z = torch.ones(4, 2)
        share = normalised_hessian_penalty(lambda codes: [layer(codes).square()], z, torch.ones(2), draws=50)
    assert share.max() < 1e-3
