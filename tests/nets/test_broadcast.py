"""The broadcast decoder: what is at a place follows from the codes and from where the place is."""

import pytest
import torch

from unbraid.nets.broadcast import AtEveryPlace, Cut, broadcast_decoder, start_at_colour


@pytest.mark.parametrize("shape", [(1, 16, 16), (3, 32, 32), (1, 64, 64), (3, 128, 128), (3, 30, 45)])
def test_images_have_the_wanted_shape(shape):
    assert broadcast_decoder(3, shape, 8)(torch.randn(2, 3)).shape == (2, *shape)


def test_a_place_is_told_by_its_row_and_column():
    place = AtEveryPlace(3, (2, 3))
    with torch.no_grad():
        place.project.weight.copy_(torch.tensor([[10.0, 0.0], [0.0, 100.0], [1.0, 2.0]])[:, :, None, None])
    out = place(torch.tensor([[0.5, 0.0, 0.0], [7.0, 8.0, 9.0]]))
    torch.testing.assert_close(out[0, 0], torch.tensor([[-9.5, -9.5, -9.5], [10.5, 10.5, 10.5]]))
    torch.testing.assert_close(out[0, 1], torch.tensor([[-100.0, 0.0, 100.0]] * 2))
    torch.testing.assert_close(out[1] - out[0], torch.tensor([6.5, 8.0, 9.0])[:, None, None].expand(3, 2, 3))


def test_every_code_reaches_every_pixel_and_every_weight_learns():
    torch.manual_seed(0)
    decoder = broadcast_decoder(4, (1, 18, 18), 16)
    z = torch.randn(8, 4, requires_grad=True)
    image = decoder(z)
    for row, column in ((0, 0), (17, 17), (9, 5)):
        (gradient,) = torch.autograd.grad(image[:, 0, row, column].sum(), z, retain_graph=True)
        assert (gradient.abs().amax(0) > 0).all()
    image.square().sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in decoder.parameters())


def test_an_untrained_decoder_paints_the_colour_that_it_is_told():
    torch.manual_seed(0)
    decoder = broadcast_decoder(3, (3, 10, 12), 8)
    start_at_colour(decoder, torch.tensor([0.9, 0.5, 0.1]))
    with torch.no_grad():
        for layer in decoder:
            if isinstance(layer, torch.nn.Conv2d):
                layer.weight.zero_()
        made = decoder(torch.randn(2, 3)).sigmoid()
    torch.testing.assert_close(made.mean((0, 2, 3)), torch.tensor([0.9, 0.5, 0.1]))
    torch.testing.assert_close(made.std((0, 2, 3)), torch.zeros(3), atol=1e-6, rtol=0)


def test_what_sticks_out_is_cut_off_below_and_on_the_right() -> None:
    images = torch.arange(36.0).reshape(1, 1, 6, 6)
    assert Cut(2, 3)(images).tolist() == [[[[0.0, 1.0, 2.0], [6.0, 7.0, 8.0]]]]
