"""The detail network against its description, in NumPy: where y and z enter, what is added to what, and the gains."""

import numpy as np
import pytest
import torch

from unbraid.nets.detail import DetailDecoder, DetailEncoder


def silu(a: np.ndarray) -> np.ndarray:
    return a / (1 + np.exp(-a))


def convolve(w: dict[str, np.ndarray], name: str, h: np.ndarray, stride: int = 1, padding: int = 1) -> np.ndarray:
    """A convolution, by the sum over its kernel's places."""
    kernel, bias = w[f"{name}.weight"], w[f"{name}.bias"]
    side = kernel.shape[-1]
    wide = np.pad(h, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    rows = (wide.shape[2] - side) // stride + 1
    columns = (wide.shape[3] - side) // stride + 1
    out = np.zeros((len(h), len(kernel), rows, columns)) + bias[:, None, None]
    for i in range(side):
        for j in range(side):
            part = wide[:, :, i : i + stride * rows : stride, j : j + stride * columns : stride]
            out += np.einsum("bchw,oc->bohw", part, kernel[:, :, i, j])
    return out


def into_channels(images: np.ndarray, side: int) -> np.ndarray:
    """Squares of pixels as channels."""
    b, c, h, w = images.shape
    parts = images.reshape(b, c, h // side, side, w // side, side).transpose(0, 1, 3, 5, 2, 4)
    return parts.reshape(b, c * side * side, h // side, w // side)


def into_pixels(maps: np.ndarray, side: int) -> np.ndarray:
    """The way back."""
    b, c, h, w = maps.shape
    parts = maps.reshape(b, c // side**2, side, side, h, w).transpose(0, 1, 4, 2, 5, 3)
    return parts.reshape(b, c // side**2, h * side, w * side)


def styles(w: dict[str, np.ndarray], name: str, z: np.ndarray, side: int, sites: int) -> list[np.ndarray]:
    """For each site a scale around one and a shift, [2, b, channel, side, side]."""
    maps = z @ w[f"{name}.spread.weight"].T + w[f"{name}.spread.bias"]
    maps = maps.reshape(len(z), side, side, -1).transpose(0, 3, 1, 2)
    found = convolve(w, f"{name}.styles", silu(maps), padding=0)
    pairs = found.reshape(len(z), sites, 2, -1, side, side).transpose(1, 2, 0, 3, 4, 5).copy()
    pairs[:, 0] += 1
    return list(pairs)


def weights(network: torch.nn.Module) -> dict[str, np.ndarray]:
    torch.manual_seed(0)
    for parameter in network.parameters():
        torch.nn.init.uniform_(parameter, -0.4, 0.4)
    return {name: parameter.detach().numpy() for name, parameter in network.named_parameters()}


@pytest.fixture(autouse=True)
def double():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("normalize", [False, True])
def test_the_decoder_adds_to_y_what_z_makes_of_it(normalize: bool) -> None:
    decoder = DetailDecoder((1, 16, 14), 2, 0.05, normalize=normalize)
    w, random = weights(decoder), np.random.default_rng(0)
    y, z = random.random((2, 1, 16, 14)), random.normal(size=(2, 2))

    def film(h: np.ndarray, style: np.ndarray) -> np.ndarray:
        if normalize:
            h = (h - h.mean((2, 3), keepdims=True)) / np.sqrt(h.var((2, 3), keepdims=True) + 1e-5)
        return silu(style[0] * h + style[1])

    low, middle = styles(w, "low_styles", z, 2, 3), styles(w, "middle_styles", z, 4, 2)
    u = into_channels(np.concatenate((y, y[..., -1:], y[..., -1:]), axis=3), 4)
    h = film(convolve(w, "into_low", u, stride=2), low[0])
    for number in range(2):
        h = h + film(convolve(w, f"low.{number}", h), low[number + 1])
    h = film(into_pixels(convolve(w, "into_middle", h, padding=0), 2) + convolve(w, "skip", u, padding=0), middle[0])
    h = h + film(convolve(w, "middle", h), middle[1])
    h = silu(into_pixels(convolve(w, "into_high", h, padding=0), 2))
    expected = y + into_pixels(convolve(w, "out", h), 2)[:, :, :, :14]
    found = decoder(torch.from_numpy(y), torch.from_numpy(z)).detach().numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_the_encoder_sees_three_times_the_residual_and_keeps_log_variances_in_range() -> None:
    encoder = DetailEncoder((1, 16, 16), 2, 0.1)
    w = weights(encoder)
    residual = np.random.default_rng(1).normal(size=(3, 1, 16, 16))
    h = into_channels(3 * residual, 4)
    for number, stride in enumerate((1, 2, 2)):
        h = silu(convolve(w, f"convolutions.{number}", h, stride=stride))
    expected = h.reshape(3, -1) @ w["head.weight"].T + w["head.bias"]
    np.testing.assert_allclose(encoder(torch.from_numpy(residual)).detach().numpy(), expected, rtol=1e-5, atol=1e-6)
    with torch.no_grad():
        encoder.head.bias.copy_(torch.tensor([50.0, -50.0, 50.0, -50.0]))
    far = encoder(torch.from_numpy(residual)).detach().numpy()
    assert (far[:, 0] > 30).all()
    assert (far[:, 1] < -30).all()
    np.testing.assert_array_equal(far[:, 2:], [[4.0, -9.0]] * 3)


def test_first_scales_and_codes_are_as_wide_as_they_are_meant_to_be() -> None:
    """Maps of z of variance one, styles of about a quarter, codes of some 0.3; and nothing is added at first."""
    torch.manual_seed(0)
    decoder = DetailDecoder((1, 16, 16), latents=50, width=2.0)
    for maps, hidden in ((decoder.low_styles, 32), (decoder.middle_styles, 16)):
        assert maps.spread.weight.std().item() == pytest.approx(50**-0.5, rel=0.05)
        assert maps.styles.weight.std().item() == pytest.approx(0.5 * hidden**-0.5, rel=0.05)
        assert maps.spread.bias.abs().max().item() == maps.styles.bias.abs().max().item() == 0
    y, z = torch.rand(2, 1, 16, 16), torch.randn(2, 50)
    assert torch.equal(decoder(y, z), y)
    encoder = DetailEncoder((1, 16, 16), latents=200)
    assert encoder.head.weight.std().item() == pytest.approx(0.3 * 128**-0.5, rel=0.05)
