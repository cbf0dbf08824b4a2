"""Options reach the networks that they are about: width, kind and likelihood, of every method in every part."""

import dataclasses
import math
from typing import Any

import pytest
import torch
from torch import nn

from unbraid import methods
from unbraid.core import Batch, DataSpec
from unbraid.data import Factor
from unbraid.errors import InputError

FACTORS = (Factor("a", 3, "categorical"), Factor("b", 2, "categorical"))
ABOUT = {
    "ranges": ((0.0, 2.0), (0.0, 1.0)),
    "codes": 3,
    "labelled": 20,
    "shares": ((0.5, 0.3, 0.2), (0.4, 0.6)),
    "means": (0.7, 0.6),
}
IMAGES, VECTORS = DataSpec((1, 16, 16), 40, FACTORS, **ABOUT), DataSpec((12,), 40, FACTORS, **ABOUT)
# Parts whose size is that of their codes, classes or features: nothing there is wide or narrow.
OF_CODES = {"modes", "flow", "guide", "exciting", "inhibiting", "critic", "recognition"}


def having(option: str) -> list[type]:
    return [m for m in methods.METHODS if option in {field.name for field in dataclasses.fields(m)}]


def built(config: type, data: DataSpec = IMAGES, **options: object) -> nn.Module:
    torch.manual_seed(0)
    return config(**options).build(data)


def parts(method: nn.Module) -> dict[str, list[tuple[int, ...]]]:
    """The shapes of the weights of each part that is trained."""
    names = {name.split(".")[0] for update in method.updates() for name in update.trains}
    found = {name: getattr(method, name) for name in sorted(names)}
    return {
        name: [tuple(weight.shape) for weight in part.parameters()]
        for name, part in found.items()
        if isinstance(part, nn.Module)
    }


@pytest.mark.parametrize("config", having("width"), ids=lambda config: config.name)
def test_width_reaches_every_network(config) -> None:
    narrow, wide = parts(built(config, width=0.1)), parts(built(config, width=0.3))
    assert narrow.keys() == wide.keys()
    for name in narrow.keys() - (OF_CODES if config.name != "factor-vae" else set()):
        hidden = [(a, b) for a, b in zip(narrow[name], wide[name], strict=True) if a != b]
        assert hidden, f"{name} is as wide as before"
        kept = [a for a, b in zip(narrow[name], wide[name], strict=True) if a == b]
        assert all(len(shape) < 2 for shape in kept), f"{name} has a layer that knows no width: {kept}"


@pytest.mark.parametrize("config", having("network"), ids=lambda config: config.name)
def test_the_kind_of_network_reaches_both_sides(config) -> None:
    if config.name in ("ms-vae", "infogan"):  # theirs are other kinds
        return
    method = built(config, network="mlp", width=0.1)
    sides = [part for name in ("encoder", "decoder", "classifier") if (part := getattr(method, name, None)) is not None]
    assert len(sides) == (1 if config.name == "controls" else 2)
    assert not any(isinstance(layer, nn.Conv2d | nn.ConvTranspose2d) for part in sides for layer in part.modules())
    plain = built(config, network="conv", width=0.1)
    sides = [part for name in ("encoder", "decoder", "classifier") if (part := getattr(plain, name, None)) is not None]
    for part in sides:
        assert any(isinstance(layer, nn.Conv2d | nn.ConvTranspose2d) for layer in part.modules())


@pytest.mark.parametrize("config", having("likelihood"), ids=lambda config: config.name)
def test_bernoulli_values_are_those_of_images(config) -> None:
    with pytest.raises(InputError, match="bernoulli"):
        built(config, VECTORS, likelihood="bernoulli", width=0.1)


@pytest.mark.parametrize("config", having("latents"), ids=lambda config: config.name)
def test_there_are_as_many_latents_as_asked_for(config) -> None:
    method = built(config, latents=7, **({"width": 0.1} if config in having("width") else {}))
    if hasattr(method, "prior"):
        assert (4, 7) in [tuple(group.mean.shape) for group in method.prior(4).values()]


def test_what_is_known_of_controls_is_not_written_with_the_weights() -> None:
    method = built(methods.Controls, width=0.1)
    assert all(name.startswith("decoder.") for name in method.state_dict())


def test_judges_of_latents_are_two_leaky_layers() -> None:
    method = built(methods.SupervisedGuidedVAE, width=0.1, latents=5)
    for nets, inputs in ((method.exciting, 1), (method.inhibiting, 4)):
        for net, classes in zip(nets, (3, 2), strict=True):
            kinds = [type(layer) for layer in net]
            assert kinds == [nn.Linear, nn.LeakyReLU, nn.Linear, nn.LeakyReLU, nn.Linear]
            sizes = [(layer.in_features, layer.out_features) for layer in net if isinstance(layer, nn.Linear)]
            assert sizes == [(inputs, 32), (32, 32), (32, classes)]
            assert {layer.negative_slope for layer in net if isinstance(layer, nn.LeakyReLU)} == {0.2}


def test_both_kinds_of_codes_of_the_end_to_end_model_have_their_own_number() -> None:
    method = built(methods.EndToEnd, width=0.05, latents=3, residual_latents=4)
    sizes = {"c": (2, 3), "z": (2, 4)}
    x = torch.rand(2, 1, 16, 16)
    for groups in (method.encode(x), method.prior(2)):
        assert {key: tuple(group.mean.shape) for key, group in groups.items()} == sizes
        assert method.decode({key: group.mean for key, group in groups.items()}).shape == x.shape


def test_ms_vae_is_built_as_asked_for() -> None:
    for content, joined in (("codes", False), ("codes+z", True)):
        assert built(methods.MSVAE, width=0.05, content=content).decoder.concatenate is joined
    for normalize in (False, True):
        assert (
            built(
                methods.MSVAE, width=0.05, network="fast", likelihood="laplace", normalize=normalize
            ).decoder.normalize
            is normalize
        )
    assert built(methods.MSVAE, width=0.05, z_prior="learned").prior_rows == 40
    assert built(methods.MSVAE, width=0.05).prior_rows == 0


def test_a_flow_starts_from_the_values_as_they_are() -> None:
    flow = built(methods.MSFlow, width=0.02, transforms=1)
    assert not flow.centre.any()
    assert (flow.spread == 1).all()
    assert flow.centre.shape == flow.spread.shape == (256,)


@pytest.mark.parametrize("config", having("critic_width"), ids=lambda config: config.name)
def test_a_critic_is_as_wide_as_the_rest_unless_it_is_told(config) -> None:
    def size(**options: float) -> int:
        critic: Any = built(config, **options).critic
        return sum(weight.numel() for weight in critic.parameters())

    assert size(width=0.1) == size(width=0.3, critic_width=0.1)
    assert size(width=0.1, critic_width=0.3) == size(width=0.3)
    assert size(width=0.3) > size(width=0.1)


def test_each_class_has_as_many_codes_as_asked_for() -> None:
    method = built(methods.PartedVAE, width=0.05, class_latents=3, latents=4)
    x = torch.rand(2, 1, 16, 16)
    sizes = {"u": (2, 2 * 3), "z": (2, 4)}
    for groups in (method.encode(x), method.prior(2)):
        assert {key: tuple(group.mean.shape) for key, group in groups.items()} == sizes
    assert method.decode({key: group.mean for key, group in groups.items()}).shape == x.shape
    assert [modes.mean.shape for modes in (method.class_modes(0), method.class_modes(1))] == [(3, 3), (2, 3)]


@pytest.mark.parametrize("config", [methods.BetaVAE, methods.Autoencoder], ids=lambda config: config.name)
def test_a_broadcast_decoder_starts_at_the_colour_of_the_data(config) -> None:
    method = built(config, DataSpec((2, 16, 16), 40), network="broadcast", width=0.1)
    colour = torch.tensor([0.2, 0.7])
    first, second = colour[:, None, None] * torch.ones(3, 2, 16, 16), torch.zeros(3, 2, 16, 16)
    method.prepare(iter([first, second]))
    last = [layer for layer in method.decoder if isinstance(layer, nn.Conv2d)][-1]
    torch.testing.assert_close(last.bias, colour.logit().repeat_interleave(16))


def test_an_autoencoder_of_small_images_counts_them_as_whole_ones() -> None:
    method = built(methods.Autoencoder, width=0.1, latents=2, resolution=8, likelihood="gaussian", scale=0.5)
    x, z = torch.rand(3, 1, 16, 16), torch.randn(3, 2)
    small = x.reshape(3, 1, 8, 2, 8, 2).mean(dim=(3, 5))
    error = (method.decoder(z).sigmoid() - small).square() / (2 * 0.25)
    expected = (error + math.log(0.5 * math.sqrt(2 * math.pi))).sum((1, 2, 3))
    torch.testing.assert_close(method.reconstruction_rows(z, x), 4 * expected)


def test_levels_are_not_written_with_the_weights() -> None:
    assert not [name for name in built(methods.FSQ, width=0.1).state_dict() if "levels" in name]


def test_only_some_networks_take_and_make_counts() -> None:
    not_counted = {m.name for m in having("likelihood") if not m.models_counts}
    wanted = {"ms-vae", "end-to-end", "controls", "ms-controls", "guided-vae", "guided-beta-tcvae", "tripod"}
    assert wanted <= not_counted
    assert not {"vae", "beta-vae", "beta-tcvae", "ivae", "parted-vae"} & not_counted
    assert methods.VAE(likelihood="poisson").count_layers(VECTORS) is None, "nothing is known of their counts"
    assert methods.VAE(likelihood="gaussian").count_layers(VECTORS) is None


def reconstruction(config: type, likelihood: str, scale: float) -> float:
    """−log p(x | …) of vectors, as the loss has it, at the same weights and draws whatever the scale is."""
    method: Any = built(config, VECTORS, likelihood=likelihood, scale=scale, width=0.05)
    random = torch.Generator().manual_seed(1)
    x, y, pair = (torch.randn(6, 12, generator=random) for _ in range(3))
    labels = torch.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], *[[torch.nan] * 2] * 3])
    update = next(update for update in method.updates() if update.name not in ("labelled", "prior"))
    codes = torch.randn(6, 3, generator=random) if config().uses_codes else None
    later = {"y": y, "codes": codes} if config.conditional else {}
    torch.manual_seed(2)
    terms = update.loss(Batch(x, torch.arange(6), labels, **later, pair=pair), 0)
    return float(terms.values()["reconstruction"])


@pytest.mark.parametrize("config", having("scale"), ids=lambda config: config.name)
def test_the_scale_of_the_observation_model_is_that_of_the_loss(config) -> None:
    """Twelve values: E/2s² + 12·(log s + ½ log 2π) of a normal error, A/s + 12·log 2s of a Laplace one."""
    plain, narrow = (reconstruction(config, "gaussian", scale) for scale in (1.0, 0.5))
    constant = 6 * math.log(2 * math.pi)
    assert narrow == pytest.approx(4 * (plain - constant) + constant - 12 * math.log(2), rel=1e-4)
    plain, narrow = (reconstruction(config, "laplace", scale) for scale in (1.0, 0.5))
    assert narrow == pytest.approx(2 * (plain - 12 * math.log(2)), rel=1e-4)
