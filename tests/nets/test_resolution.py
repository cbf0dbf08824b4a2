"""Networks that work on smaller images than the data's."""

import pytest
import torch

from unbraid import methods
from unbraid.core import DataSpec
from unbraid.errors import InputError
from unbraid.nets.resolution import Resolution
from unbraid.ops import likelihood
from unbraid.training.contract import check_method

SPEC = DataSpec((3, 16, 16), 48)


def test_down_is_the_mean_of_each_area_and_up_is_linear_between_centres() -> None:
    view = Resolution((1, 2, 4), 1)
    assert view.shape == (1, 1, 2)
    assert view.weight == 4
    small = view.down(torch.tensor([[[[1.0, 2.0, 5.0, 7.0], [3.0, 6.0, 9.0, 11.0]]]]))
    assert small.tolist() == [[[[3.0, 8.0]]]]
    assert view.up(small).tolist() == [[[[3.0, 4.25, 6.75, 8.0]] * 2]]


def test_the_small_image_counts_as_much_against_the_kl_as_the_whole_one() -> None:
    torch.manual_seed(0)
    model = methods.BetaVAE(width=0.1, latents=2, resolution=8, likelihood="gaussian", scale=0.5).build(SPEC)
    x, z = torch.rand(5, 3, 16, 16), torch.randn(5, 2)
    output = model.decoder(z)
    assert output.shape == (5, 3, 8, 8)
    means = x.reshape(5, 3, 8, 2, 8, 2).mean(dim=(3, 5))
    expected = 4 * likelihood.nll("gaussian", output, means, 0.5)
    torch.testing.assert_close(model.reconstruction(z, x), expected)
    made = model.decode({"z": z})
    assert made.shape == x.shape
    assert made.mean().item() == pytest.approx(output.sigmoid().mean().item(), rel=1e-3)


@pytest.mark.parametrize("config", [methods.BetaTCVAE(width=0.1, resolution=8), methods.IVAE(width=0.1, resolution=8)])
def test_it_keeps_the_contract(config) -> None:
    check_method(config, processes=1)


def test_sizes_that_there_are_not_are_refused() -> None:
    for side in (17, -1):
        with pytest.raises(InputError, match="--resolution must be from 1 to the 16 pixels"):
            methods.VAE(resolution=side).build(SPEC)
    with pytest.raises(InputError, match="--resolution is for images"):
        methods.VAE(resolution=8, likelihood="gaussian").build(DataSpec((20,), 48))


@pytest.mark.parametrize(("full", "side"), [((3, 12, 20), 6), ((1, 9, 9), 3), ((2, 10, 10), 4)])
def test_halving_has_a_way_of_its_own_and_the_means_are_the_same_to_the_bit(full: tuple[int, ...], side: int) -> None:
    view, x = Resolution(full, side), torch.rand(5, *full, generator=torch.Generator().manual_seed(0))
    for images in (x, x.contiguous(memory_format=torch.channels_last)):
        assert torch.equal(view.down(images), torch.nn.functional.interpolate(images, view.shape[1:], mode="area"))
