"""Networks that are no plain sequence of layers, computed by hand: where z and codes enter, and what is normalised."""

import numpy as np
import pytest
import torch
from torch import nn

from unbraid import methods
from unbraid.core import DataSpec
from unbraid.data import Factor
from unbraid.errors import InputError

EPSILON = 1e-5  # added to variances
RANDOM = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def _double():
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def weights(network: nn.Module) -> dict[str, np.ndarray]:
    return {name: parameter.detach().numpy() for name, parameter in network.named_parameters()}


def relu(a: np.ndarray) -> np.ndarray:
    return np.maximum(a, 0)


def dense(w: dict[str, np.ndarray], name: str, a: np.ndarray) -> np.ndarray:
    return a @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def convolved(w: dict[str, np.ndarray], name: str, x: np.ndarray) -> np.ndarray:
    """5×5, stride 2, two pixels of zeros around."""
    kernel, bias = w[f"{name}.weight"], w[f"{name}.bias"]
    n, _, height, width = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (2, 2), (2, 2)))
    made = np.empty((n, len(kernel), (height + 1) // 2, (width + 1) // 2))
    for i in range(made.shape[2]):
        for j in range(made.shape[3]):
            patch = padded[:, :, 2 * i : 2 * i + 5, 2 * j : 2 * j + 5]
            made[:, :, i, j] = np.einsum("ncij,ocij->no", patch, kernel) + bias
    return made


def spread(w: dict[str, np.ndarray], name: str, x: np.ndarray, height: int, width: int) -> np.ndarray:
    """The transpose: every pixel of x paints a 5×5 kernel at twice its place; two pixels are cut off around."""
    kernel, bias = w[f"{name}.weight"], w[f"{name}.bias"]
    made = np.zeros((len(x), kernel.shape[1], 2 * x.shape[2] + 5, 2 * x.shape[3] + 5))
    for i in range(x.shape[2]):
        for j in range(x.shape[3]):
            made[:, :, 2 * i : 2 * i + 5, 2 * j : 2 * j + 5] += np.einsum("nc,coij->noij", x[:, :, i, j], kernel)
    return made[:, :, 2 : 2 + height, 2 : 2 + width] + bias[:, None, None]


def styled(a: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Each channel of each image to mean 0 and variance 1 over its places; vectors over their units; then z's style."""
    axes = (2, 3) if a.ndim == 4 else (1,)
    mean, variance = a.mean(axes, keepdims=True), a.var(axes, keepdims=True)
    normal = (a - mean) / np.sqrt(variance + EPSILON)
    if a.ndim == 4 and scale.ndim == 2:
        scale, shift = scale[:, :, None, None], shift[:, :, None, None]
    return scale * normal + shift


def channel_styles(w: dict[str, np.ndarray], z: np.ndarray, sites: list[int]) -> list[tuple[np.ndarray, np.ndarray]]:
    """A hidden layer, then scales (one is added) of all sites, then shifts of all sites."""
    values = dense(w, "styles.styles", relu(dense(w, "styles.hidden", z)))
    total, start, pairs = sum(sites), 0, []
    for size in sites:
        pairs.append((1 + values[:, start : start + size], values[:, total + start : total + start + size]))
        start += size
    return pairs


def place_styles(w: dict[str, np.ndarray], z: np.ndarray, sites: list[tuple[int, ...]]) -> list[tuple[np.ndarray, ...]]:
    """A linear layer for each site, its positive part; scales first."""
    pairs = []
    for number, site in enumerate(sites):
        values = relu(dense(w, f"styles.layers.{number}", z)).reshape(len(z), 2, *site)
        pairs.append((values[:, 0], values[:, 1]))
    return pairs


@pytest.mark.parametrize("styles", ["channels", "places"])
def test_ms_vaes_decoder_takes_y_by_its_layers_and_z_by_adain_at_every_map(styles: str) -> None:
    """9×9 images: 5×5 and 3×3 maps on the way down, and back; the dense layer between and the output have no style."""
    method = methods.MSVAE(latents=2, width=0.08, styles=styles).build(DataSpec((2, 9, 9), 10))
    w = weights(method.decoder)
    y, z = RANDOM.normal(size=(3, 2, 9, 9)), RANDOM.normal(size=(3, 2))
    widths = [len(w[f"down.{step}.bias"]) for step in range(3)]
    assert widths == [5, 10, 20]
    sizes = [5, 3, 2]
    if styles == "channels":
        pairs = channel_styles(w, z, [5, 10, 20, 10, 5])
    else:
        pairs = place_styles(w, z, [(5, 5, 5), (10, 3, 3), (20, 2, 2), (10, 3, 3), (5, 5, 5)])
    h = y
    for step in range(3):
        h = relu(styled(convolved(w, f"down.{step}", h), *pairs[step]))
        assert h.shape[2] == sizes[step]
    h = relu(dense(w, "mix", h.reshape(3, -1))).reshape(3, 20, 2, 2)
    for step, size in enumerate((3, 5)):
        h = relu(styled(spread(w, f"up.{step}", h, size, size), *pairs[3 + step]))
    expected = spread(w, "out", h, 9, 9)
    found = method.decoder(torch.from_numpy(y), torch.from_numpy(z)).detach().numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def test_ms_vaes_decoder_of_traces_styles_every_hidden_layer() -> None:
    method = methods.MSVAE(latents=2, likelihood="gaussian", width=0.02).build(DataSpec((5,), 10))
    w, y, z = weights(method.decoder), RANDOM.normal(size=(3, 5)), RANDOM.normal(size=(3, 2))
    pairs, h = channel_styles(w, z, [8, 8, 8]), y
    for step in range(3):
        h = relu(styled(dense(w, f"layers.{step}", h), *pairs[step]))
    found = method.decoder(torch.from_numpy(y), torch.from_numpy(z)).detach().numpy()
    np.testing.assert_allclose(found, dense(w, "out", h), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("content", ["codes", "codes+z"])
def test_a_decoder_from_codes_has_z_in_styles_or_beside_them(content: str) -> None:
    method = methods.MSVAE(latents=2, width=0.08, content=content).build(DataSpec((2, 9, 9), 10, codes=3))
    w, c, z = weights(method.decoder), RANDOM.normal(size=(3, 3)), RANDOM.normal(size=(3, 2))
    beside = content == "codes+z"
    pairs = [] if beside else channel_styles(w, z, [10, 5])
    h = relu(dense(w, "start.0", np.concatenate((c, z), axis=1) if beside else c)).reshape(3, 20, 2, 2)
    for step, size in enumerate((3, 5)):
        h = spread(w, f"up.{step}", h, size, size)
        h = relu(h if beside else styled(h, *pairs[step]))
    found = method.decoder(torch.from_numpy(c), torch.from_numpy(z)).detach().numpy()
    np.testing.assert_allclose(found, spread(w, "out", h, 9, 9), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("content", ["codes", "codes+z"])
def test_a_decoder_of_traces_from_codes(content: str) -> None:
    config = methods.MSVAE(latents=2, width=0.02, content=content, likelihood="gaussian")
    method = config.build(DataSpec((5,), 10, codes=3))
    w, c, z = weights(method.decoder), RANDOM.normal(size=(3, 3)), RANDOM.normal(size=(3, 2))
    beside = content == "codes+z"
    pairs = [] if beside else channel_styles(w, z, [8, 8])
    h = relu(dense(w, "start.0", np.concatenate((c, z), axis=1) if beside else c))
    for step in range(2):
        h = dense(w, f"up.{step}", h)
        h = relu(h if beside else styled(h, *pairs[step]))
    found = method.decoder(torch.from_numpy(c), torch.from_numpy(z)).detach().numpy()
    np.testing.assert_allclose(found, dense(w, "out", h), rtol=1e-8, atol=1e-10)


def test_given_factors_enter_a_later_stage_as_styles() -> None:
    factors = (Factor("a", 3, "categorical"), Factor("b", 5, "ordinal"))
    config = methods.MSControls(likelihood="gaussian", width=0.02)
    method = config.build(DataSpec((5,), 10, factors, ((0, 2), (0, 4)), labelled=10))
    w, y = weights(method.decoder), RANDOM.normal(size=(2, 5))
    features = np.array([[0, 1, 0, 1.0], [1, 0, 0, -0.5]])
    pairs, h = channel_styles(w, features, [8, 8, 8]), y
    for step in range(3):
        h = relu(styled(dense(w, f"layers.{step}", h), *pairs[step]))
    codes = torch.tensor([[1.0, 4.0], [0.0, 1.0]])
    found = method.decode({"c": codes}, torch.from_numpy(y)).detach().numpy()
    np.testing.assert_allclose(found, dense(w, "out", h), rtol=1e-8, atol=1e-10)


def test_a_critic_of_images_sees_factors_as_planes_after_the_image() -> None:
    method = methods.CGAN(latents=2, width=0.01).build(
        DataSpec((2, 8, 8), 10, (Factor("a", 3, "categorical"),), ((0, 2),), labelled=10)
    )
    x, c = RANDOM.normal(size=(3, 2, 8, 8)), np.eye(3)
    pair = np.concatenate((x, np.broadcast_to(c[:, :, None, None], (3, 3, 8, 8))), axis=1)
    found = method.critic(torch.from_numpy(x), torch.from_numpy(c))
    expected = method.critic.layers(torch.from_numpy(pair))[:, 0]
    torch.testing.assert_close(found, expected)
    assert found.shape == (3,)


def test_styles_start_with_variance_one_in_ms_gan() -> None:
    """Weights of the hidden layer N(0, 2/inputs), of the last one N(0, 1/units)."""
    generator = methods.MSGAN(latents=50).build(DataSpec((400,), 10)).generator
    assert generator.styles.hidden.weight.std().item() == pytest.approx(np.sqrt(2 / 50), rel=0.05)
    assert generator.styles.styles.weight.std().item() == pytest.approx(np.sqrt(1 / 128), rel=0.05)
    placed = methods.MSGAN(latents=50, styles="places", width=0.1).build(DataSpec((1, 9, 9), 10)).generator
    assert placed.styles.layers[0].weight.std().item() == pytest.approx(np.sqrt(1 / 50), rel=0.05)


@pytest.mark.parametrize("shape", [(2, 33, 50), (1, 50, 33), (3, 8, 9)])
def test_stage_2_and_gans_make_images_of_any_height_and_width(shape: tuple[int, ...]) -> None:
    x, z, small = torch.rand(2, *shape), torch.zeros(2, 2), {"latents": 2, "width": 0.02}
    factors = (Factor("a", 3, "categorical"),)
    for config in (
        methods.MSVAE(**small),
        methods.MSVAE(**small, styles="places"),
        methods.MSVAE(**small, content="codes"),
        methods.MSVAE(**small, content="codes+z"),
        methods.MSGAN(**small),
    ):
        method = config.build(DataSpec(shape, 10, codes=3))
        assert method.decode({"z": z, "given": torch.zeros(2, 3)}, x).shape == x.shape
        if isinstance(config, methods.MSVAE):
            assert method.encode(x, x)["z"].mean.shape == (2, 2)
        else:
            assert method.critic(x, x).shape == (2,)
    cgan = methods.CGAN(**small).build(DataSpec(shape, 10, factors, ((0, 2),), labelled=10))
    assert cgan.decode({"c": torch.zeros(2, 1), "z": z}).shape == x.shape
    assert cgan.critic(x, torch.zeros(2, 3)).shape == (2,)


def test_the_smallest_image_for_a_second_stage_is_3_by_3() -> None:
    config = methods.MSVAE(latents=2, width=0.02)
    x = torch.rand(2, 1, 3, 3)
    assert config.build(DataSpec((1, 3, 3), 10)).decode({"z": torch.zeros(2, 2)}, x).shape == x.shape
    with pytest.raises(InputError, match="images of 2×4 are too small for a later stage: it needs 3×3 or more"):
        config.build(DataSpec((1, 2, 4), 10))


def test_styles_of_places_need_places() -> None:
    with pytest.raises(InputError, match="--styles places is for images"):
        methods.MSVAE(styles="places").check(DataSpec((5,), 10))
    for config, shape in (
        (methods.MSVAE(), (5,)),
        (methods.MSVAE(styles="places"), (1, 9, 9)),
        (methods.MSGAN(), (5,)),
    ):
        config.check(DataSpec(shape, 10))


@pytest.mark.parametrize(("content", "size"), [("codes", 4), ("codes+z", 2)])
def test_an_image_without_a_place_for_z_is_refused(content: str, size: int) -> None:
    config = methods.MSVAE(content=content, width=0.01)
    with pytest.raises(InputError, match=f"images of {size}×{size} are too small for a decoder that starts from codes"):
        config.build(DataSpec((1, size, size), 10, codes=3))
    assert config.build(DataSpec((1, size + 1, size + 1), 10, codes=3))
