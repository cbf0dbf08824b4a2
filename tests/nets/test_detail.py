"""The detail network: sizes, its start, and the ways that z has into the picture."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from unbraid.core import Batch, DataSpec
from unbraid.errors import InputError
from unbraid.methods import MSVAE
from unbraid.nets.detail import DetailDecoder, DetailEncoder
from unbraid.ops.gaussian import LOG_2PI

SHAPES = [(3, 32, 32), (1, 64, 64), (3, 64, 64), (3, 128, 128), (1, 28, 20), (3, 109, 89)]


def with_something_to_say(decoder: DetailDecoder) -> DetailDecoder:
    nn.init.normal_(decoder.out.weight)
    return decoder


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_it_starts_as_y_and_keeps_the_size(shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    x, y = torch.rand(2, 2, *shape)
    parameters = DetailEncoder(shape, 5, 0.25)(x - y)
    assert parameters.shape == (2, 10)
    decoder = DetailDecoder(shape, 5, 0.25)
    assert torch.equal(decoder(y, parameters[:, :5]), y)
    assert with_something_to_say(decoder)(y, parameters[:, :5]).shape == y.shape


@pytest.mark.parametrize("normalize", [False, True])
def test_z_enters_by_scales_and_shifts_at_places_and_by_nothing_else(normalize: bool) -> None:
    torch.manual_seed(0)
    decoder = with_something_to_say(DetailDecoder((3, 32, 32), 5, 0.25, normalize=normalize))
    y, z, other = torch.rand(2, 3, 32, 32), torch.randn(2, 5), torch.randn(2, 5)
    assert not torch.allclose(decoder(y, z), decoder(y, other))
    sites = {"low_styles": (3, 24, 4), "middle_styles": (2, 12, 8)}
    for name, (count, channels, side) in sites.items():
        styles = getattr(decoder, name)(z)
        assert len(styles) == count
        assert all(part.shape == (2, channels, side, side) for pair in styles for part in pair)
        fixed = [(scale.detach(), shift.detach()) for scale, shift in styles]
        setattr(decoder, name, Same(fixed))
    assert torch.equal(decoder(y, z), decoder(y, other))


class Same(nn.Module):
    """The same styles for every z."""

    def __init__(self, styles) -> None:
        super().__init__()
        self.styles = styles

    def forward(self, z):
        return self.styles


def test_a_scale_of_one_and_no_shift_leave_the_activation_alone() -> None:
    decoder = DetailDecoder((3, 32, 32), 5, 0.25)
    h = torch.randn(2, 4, 3, 3)
    one, none = torch.ones_like(h), torch.zeros_like(h)
    torch.testing.assert_close(decoder.film(h, (one, none)), h * torch.sigmoid(h))
    changed = decoder.film(h, (2 * one, 3 * one))
    torch.testing.assert_close(changed, (2 * h + 3) * torch.sigmoid(2 * h + 3))
    decoder.normalize = True
    maps = torch.tensor([[[[1.0, 3.0]]]])  # mean 2, deviation 1
    expected = torch.tensor([[[[-1.0, 1.0]]]]) * 5 + 7
    found = decoder.film(maps, (torch.full_like(maps, 5.0), torch.full_like(maps, 7.0)))
    torch.testing.assert_close(found, expected * torch.sigmoid(expected), atol=1e-4, rtol=1e-4)


def test_log_variances_stay_within_their_bounds() -> None:
    encoder = DetailEncoder((3, 32, 32), 4, 0.25)
    encoder.head.bias.data[4:] = torch.tensor([-50.0, 50.0, -50.0, 50.0])
    found = encoder(torch.zeros(1, 3, 32, 32))[:, 4:]
    assert found.tolist() == [[-9.0, 4.0, -9.0, 4.0]]


def test_the_first_loss_is_that_of_y_and_an_encoder_that_knows_nothing() -> None:
    torch.manual_seed(0)
    model: Any = MSVAE.fast(latents=3, width=0.25, beta=5.0).build(DataSpec((3, 32, 32), 48))
    nn.init.zeros_(model.encoder.head.weight)
    model.encoder.head.bias.data[:] = torch.tensor([1.0, 2.0, 0.0, 0.0, 0.0, 0.0])  # means 1, 2, 0; variances 1
    x, y = torch.rand(2, 4, 3, 32, 32)
    terms: Any = model.loss(Batch(x, torch.arange(4), torch.empty(4, 0), y), 0)
    values = 3 * 32 * 32
    nll = 0.5 * values * (((x - y) ** 2).mean().log().item() + LOG_2PI + 1)
    assert terms.values()["reconstruction"] == pytest.approx(nll, rel=1e-5)
    assert terms.values()["kl"] == pytest.approx(2.5)
    assert terms.total.item() == pytest.approx(nll + 5 * 2.5, rel=1e-5)
    assert model.updates()[0].optimizer.clip == values  # a gradient of length one for each value


@pytest.mark.parametrize("x", [1.0, 0.5])
def test_what_pictures_cut_off_is_no_error_and_is_called_back_only_where_it_should_not_be(x: float) -> None:
    """A mean of 3 is shown as 1: right for white, and too much by a half for grey; unbounded it is off by 2 or 2.5."""
    config = MSVAE(network="fast", likelihood="gaussian", latents=3, width=0.25)
    found = {}
    for bounded in (False, True):
        model: Any = replace(config, bounded=bounded).build(DataSpec((3, 16, 16), 48))
        model.decoder.out.bias.data[:] = 2.0
        batch = Batch(torch.full((4, 3, 16, 16), x), torch.arange(4), torch.empty(4, 0), torch.ones(4, 3, 16, 16))
        terms: Any = model.loss(batch, 0)
        error = terms.values()["reconstruction"] - 0.5 * 3 * 16 * 16 * LOG_2PI
        terms.total.backward()
        found[bounded] = error / (3 * 16 * 16), model.decoder.out.bias.grad.sum().item() / (3 * 16 * 16)
    assert found[False] == pytest.approx(((3 - x) ** 2 / 2, 3 - x), rel=1e-4)
    assert found[True] == pytest.approx(((1 - x) ** 2 / 2, 1 - x), rel=1e-4, abs=1e-6)


def test_vectors_take_the_paper_s_form_with_the_same_loss() -> None:
    model: Any = MSVAE.fast(latents=3, width=0.1, z_prior="normal").build(DataSpec((20,), 48))
    x, y = torch.randn(2, 4, 20)
    made = model.decode({"z": torch.randn(4, 3)}, y)
    assert made.shape == x.shape
    nn.init.zeros_(model.decoder.out.weight)
    nn.init.zeros_(model.decoder.out.bias)
    terms: Any = model.loss(Batch(x, torch.arange(4), torch.empty(4, 0), y), 0)
    nll = 0.5 * 20 * ((x**2).mean().log().item() + LOG_2PI + 1)
    assert terms.values()["reconstruction"] == pytest.approx(nll, rel=1e-5)


def test_options_of_the_other_network_are_refused() -> None:
    for wrong in ({"content": "codes"}, {"styles": "places"}, {"encoder_sees": "x"}):
        with pytest.raises(InputError, match="is for --network paper"):
            MSVAE.fast(**wrong)
    with pytest.raises(InputError, match=r"give it to stage 1 alone \(--1.likelihood\)"):
        MSVAE.fast(likelihood="bernoulli")
