"""What measures may ask of a method is a protocol that the method keeps, not its class."""

import pytest
import torch

from unbraid import methods
from unbraid.core import DataSpec, HasClasses, HasConditionalPrior, HasLikelihood, MethodConfig
from unbraid.training.batches import TrainingData
from unbraid.training.contract import small_images

DATA = small_images()
SPEC = TrainingData(DATA, DATA.factors).spec
IMAGES = DataSpec((3, 16, 16), 48)


@pytest.mark.parametrize(
    ("config", "capabilities"),
    [
        (methods.BetaVAE(width=0.1), {HasLikelihood}),
        (methods.PartedVAE(width=0.1), {HasClasses}),
        (methods.IVAE(width=0.1), {HasConditionalPrior}),
        (methods.SSIDVAE(width=0.1), {HasConditionalPrior}),
        (methods.Controls(width=0.1), set()),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_capabilities_are_found_by_what_a_method_has(config: MethodConfig, capabilities: set[type]) -> None:
    method = config.build(SPEC)
    assert {kind for kind in (HasLikelihood, HasClasses, HasConditionalPrior) if isinstance(method, kind)} == (
        capabilities
    )


def test_class_codes_are_the_modes_that_classes_name() -> None:
    torch.manual_seed(0)
    method = methods.PartedVAE(width=0.1, classes=(3, 2), class_latents=2).build(IMAGES)
    assert (method.class_sizes, method.codes_per_variable) == ((3, 2), 2)
    method.class_shares.copy_(torch.tensor([0.2, 0.3, 0.5, 0.9, 0.1]))
    modes = [method.class_modes(k) for k in range(2)]
    assert modes[0].shares.tolist() == pytest.approx([0.2, 0.3, 0.5])
    assert modes[1].mean is method.modes[1].mean
    u = method.class_codes(0, torch.tensor([1, 0]))  # the other variable's likeliest class is 0
    torch.testing.assert_close(u[:, :2], modes[0].mean[[1, 0]])
    torch.testing.assert_close(u[:, 2:], modes[1].mean[[0, 0]])
    u = method.class_codes(1, torch.tensor([1]))  # the other variable's likeliest class is 2
    torch.testing.assert_close(u, torch.cat([modes[0].mean[[2]], modes[1].mean[[1]]], dim=1))


def test_a_conditional_prior_is_that_of_the_labels_as_networks_see_them() -> None:
    torch.manual_seed(0)
    method = methods.IVAE(width=0.1, encoding="one-hot").build(SPEC)
    labels = torch.tensor([[3.0, 0.0], [1.0, 2.0]])
    u = torch.tensor([[0.0, 0, 0, 1, 1, 0, 0], [0.0, 1, 0, 0, 0, 0, 1]])
    mean, log_var = method.prior_encoder(u).chunk(2, dim=1)
    prior = method.conditional_prior_of(labels)
    torch.testing.assert_close(prior.mean, mean)
    torch.testing.assert_close(prior.log_var, log_var)
