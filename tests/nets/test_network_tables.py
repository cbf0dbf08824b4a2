"""Every network against the table of its paper: layers, kernels, strides, normalisation and activations, in order."""

import pytest
import torch
from torch import nn

from unbraid import methods
from unbraid.core import DataSpec
from unbraid.data import Factor
from unbraid.nets.critic import critic

GREY, COLOUR = (1, 64, 64), (3, 64, 64)
FACTORS = (Factor("a", 3, "categorical"), Factor("b", 5, "ordinal"))


def table(network: nn.Module) -> list[str]:
    """Layers in order: `conv 1-32 4/2` is a 4×4 convolution with stride 2 that halves (`up` one that doubles)."""
    rows = []
    for m in network.modules():
        if isinstance(m, nn.Conv2d | nn.ConvTranspose2d | nn.Conv1d | nn.ConvTranspose1d):
            kind = "conv" if isinstance(m, nn.Conv2d | nn.Conv1d) else "up"
            assert set(m.padding) == {(m.kernel_size[0] - 1) // 2}
            assert len(set(m.kernel_size)) == len(set(m.stride)) == 1
            rows.append(f"{kind} {m.in_channels}-{m.out_channels} {m.kernel_size[0]}/{m.stride[0]}")
        elif type(m).__name__ == "Linear":  # torch's, and the flows' own
            rows.append(f"fc {m.in_features}-{m.out_features}")
        elif isinstance(m, nn.BatchNorm1d | nn.BatchNorm2d):
            rows.append(f"norm {m.num_features}")
        elif isinstance(m, nn.LeakyReLU):
            rows.append(f"leaky {m.negative_slope}")
        elif isinstance(m, nn.ReLU | nn.Tanh | nn.Sigmoid):
            rows.append(type(m).__name__.lower())
        else:
            known = (nn.Sequential, nn.ModuleList, nn.Flatten, nn.Unflatten)
            assert isinstance(m, known) or list(m.children()), f"an unexpected layer: {m}"
    return rows


def each(rows: list[str], *between: str) -> list[str]:
    """The same rows, each followed by these; `norm` becomes the norm of what the row gives."""
    result = []
    for row in rows:
        width = row.split()[1].split("-")[1]
        result += [row, *(f"norm {width}" if step == "norm" else step for step in between)]
    return result


def built(config, shape: tuple[int, ...], **more):
    """The method at the paper's width; nothing is computed with it."""
    with torch.device("meta"):
        return config.build(DataSpec(shape, 100, **more))


def labelled(config, shape: tuple[int, ...]):
    ranges, shares, means = ((0, 2), (0, 4)), ((0.5, 0.3, 0.2), (0.2,) * 5), (0.7, 2.0)
    spec = DataSpec(shape, 100, FACTORS, ranges=ranges, labelled=100, shares=shares, means=means)
    return config.build(spec)


DOWN = ["conv 3-32 4/2", "conv 32-32 4/2", "conv 32-64 4/2", "conv 64-64 4/2"]
UP = ["up 64-64 4/2", "up 64-32 4/2", "up 32-32 4/2"]


def test_the_default_is_table_2_of_idvae() -> None:
    method = built(methods.BetaVAE(latents=7), COLOUR)
    assert table(method.encoder) == [*each(DOWN, "relu"), "fc 1024-256", "relu", "fc 256-14"]
    head = each(["fc 7-256", "fc 256-1024"], "relu")
    assert table(method.decoder) == [*head, *each(UP, "relu"), "up 32-3 4/2"]


def test_labels_join_the_last_layer_of_table_2_and_the_prior_is_table_3() -> None:
    method = labelled(methods.IDVAE(latents=7), (3, 16, 16))
    assert table(method.encoder)[-1] == "fc 258-14", "256 + d"
    hidden = ["fc 1000-1000", "leaky 0.2"] * 2
    assert table(method.prior_encoder) == ["fc 2-1000", "leaky 0.2", *hidden, "fc 1000-14"]
    assert table(method.prior_decoder) == ["fc 7-1000", "leaky 0.2", *hidden, "fc 1000-2"]
    one_hot = labelled(methods.IVAE(latents=7, encoding="one-hot"), (3, 16, 16))
    assert table(one_hot.encoder)[-1] == "fc 260-14"
    assert table(one_hot.prior_encoder)[0] == "fc 4-1000"


def test_labels_are_guessed_by_a_network_of_the_same_kind() -> None:
    method = labelled(methods.SSIVAE(latents=7), COLOUR)
    assert table(method.guess) == [*each(DOWN, "relu"), "fc 1024-256", "relu", "fc 256-4"]
    one_hot = labelled(methods.SSIVAE(latents=7, encoding="one-hot"), COLOUR)
    assert table(one_hot.guess)[-1] == "fc 256-5", "three classes, and mean and log-variance of a number"


def test_faces_and_chairs_of_beta_tcvae() -> None:
    """Appendix H.1: batch norm after every layer but the last of each network."""
    method = built(methods.BetaTCVAE(network="conv-bn"), GREY)
    down = ["conv 1-32 4/2", *DOWN[1:]]
    assert table(method.encoder) == [*each([*down, "fc 1024-512"], "norm", "relu"), "fc 512-20"]
    head = ["fc 10-512", "norm 512", "relu", "fc 512-1024", "norm 64", "relu"]
    assert table(method.decoder) == [*head, *each(UP, "norm", "relu"), "up 32-1 4/2"]


def test_celeba_of_beta_tcvae() -> None:
    method = built(methods.BetaTCVAE(network="conv-celeba"), COLOUR)
    down = ["conv 3-64 4/2", "conv 64-128 4/2", "conv 128-128 4/2", "conv 128-256 4/2"]
    assert table(method.encoder) == [*each([*down, "fc 4096-512"], "norm", "relu"), "fc 512-20"]
    head = ["fc 10-512", "norm 512", "relu", "fc 512-4096", "norm 256", "relu"]
    up = ["up 256-128 4/2", "up 128-128 4/2", "up 128-64 4/2"]
    assert table(method.decoder) == [*head, *each(up, "norm", "relu"), "up 64-3 4/2"]


def test_sprites_of_beta_tcvae() -> None:
    method = built(methods.BetaTCVAE(network="mlp"), GREY)
    assert table(method.encoder) == ["fc 4096-1200", "relu", "fc 1200-1200", "relu", "fc 1200-20"]
    assert table(method.decoder) == [*each(["fc 10-1200", "fc 1200-1200", "fc 1200-1200"], "tanh"), "fc 1200-4096"]


def test_traces_have_layers_of_400_units() -> None:
    """MS-VAE, appendix C."""
    method = built(methods.BetaVAE(likelihood="gaussian"), (100,))
    assert table(method.encoder) == ["fc 100-400", "relu", "fc 400-400", "relu", "fc 400-20"]
    assert table(method.decoder) == [*each(["fc 10-400", "fc 400-400", "fc 400-400"], "tanh"), "fc 400-100"]


@pytest.mark.parametrize(
    "config", [methods.JointVAE(latents=6, classes=(3, 2)), methods.HFVAE(groups=(4, 2), classes=(3, 2))]
)
def test_discrete_codes_stand_beside_means_and_log_variances(config) -> None:
    method = built(config, COLOUR)
    assert table(method.encoder)[-1] == "fc 256-17"
    assert table(method.decoder)[0] == "fc 11-256"


def test_digits_of_parted_vae() -> None:
    """Table 3: 32×32 images; attention as long as the features, and heads for c, u and z."""
    config = methods.PartedVAE(network="conv-mnist", classes=(10,), latents=6, class_latents=10)
    method = built(config, (1, 32, 32))
    down = ["conv 1-32 4/2", "conv 32-64 4/2", "conv 64-64 4/2"]
    assert table(method.classifier) == [*each([*down, "fc 1024-256"], "relu"), "fc 256-10"]
    assert table(method.attention) == ["fc 10-256"]
    assert table(method.u_heads) == ["fc 256-20"]
    assert table(method.z_head) == ["fc 256-12"]
    head = each(["fc 16-256", "fc 256-1024"], "relu")
    assert table(method.decoder) == [*head, *each(["up 64-32 4/2", "up 32-32 4/2"], "relu"), "up 32-1 4/2"]


def test_smaller_images_drop_the_first_convolutions_and_larger_ones_repeat_the_last() -> None:
    small, large = (built(methods.BetaVAE(), (1, size, size)) for size in (16, 128))
    assert table(small.encoder)[:4] == ["conv 1-64 4/2", "relu", "conv 64-64 4/2", "relu"]
    assert table(large.encoder)[4:10] == ["conv 32-64 4/2", "relu", *["conv 64-64 4/2", "relu"] * 2]
    assert table(built(methods.BetaVAE(), (1, 7, 7)).encoder)[0] == "fc 49-1200", "too small for convolutions"


def test_signals_are_convolved_along_their_length() -> None:
    method = built(methods.BetaVAE(network="conv1d", likelihood="gaussian"), (100,))
    down = ["conv 1-32 4/2", *DOWN[1:]]
    assert table(method.encoder) == [*each([*down, "fc 384-256"], "relu"), "fc 256-20"]
    head = each(["fc 10-256", "fc 256-384"], "relu")
    assert table(method.decoder) == [*head, *each(UP, "relu"), "up 32-1 4/2"]


def test_the_critic_of_factor_vae() -> None:
    """Kim & Mnih 2018: six layers of 1000 units, LeakyReLU(0.2)."""
    method = built(methods.FactorVAE(), (1, 16, 16))
    hidden = ["fc 1000-1000", "leaky 0.2"] * 5
    expected = ["fc 10-1000", "leaky 0.2", *hidden, "fc 1000-1"]
    assert table(method.critic) == expected
    assert table(critic(10)) == expected


def test_infogan() -> None:
    """Appendix H.1 of β-TCVAE: its stack with LeakyReLU(0.2) in both networks; critic and recognition share all."""
    method = built(methods.InfoGAN(), GREY)
    down = ["conv 1-32 4/2", *DOWN[1:]]
    assert table(method.trunk) == each([*down, "fc 1024-512"], "norm", "leaky 0.2")
    assert table(method.critic) == ["fc 512-1"]
    assert table(method.recognition) == ["fc 512-10"]
    head = ["fc 10-512", "norm 512", "leaky 0.2", "fc 512-1024", "norm 64", "leaky 0.2"]
    assert table(method.generator) == [*head, *each(UP, "norm", "leaky 0.2"), "up 32-1 4/2"]


def test_classifiers_of_supervised_guided_vae() -> None:
    method = labelled(methods.SupervisedGuidedVAE(latents=4), (1, 16, 16))
    hidden = ["leaky 0.2", "fc 32-32", "leaky 0.2"]
    assert table(method.exciting) == ["fc 1-32", *hidden, "fc 32-3", "fc 1-32", *hidden, "fc 32-5"]
    assert table(method.inhibiting) == ["fc 3-32", *hidden, "fc 32-3", "fc 3-32", *hidden, "fc 32-5"]


STAGE_2_DOWN = ["conv 3-64 5/2", "conv 64-128 5/2", "conv 128-256 5/2", "conv 256-512 5/2"]
STAGE_2_UP = ["up 512-256 5/2", "up 256-128 5/2", "up 128-64 5/2", "up 64-3 5/2"]


def test_ms_vae() -> None:
    """5×5 convolutions 64-128-256-512 down, a dense layer, 256-128-64 up, an output; z has seven sites of styles."""
    method = built(methods.MSVAE(latents=5), COLOUR)
    assert table(method.encoder) == [*each(STAGE_2_DOWN, "relu"), "fc 8192-10"]
    styles = ["fc 5-128", f"fc 128-{2 * (64 + 128 + 256 + 512 + 256 + 128 + 64)}"]
    assert table(method.decoder) == [*STAGE_2_DOWN, "fc 8192-8192", *STAGE_2_UP, *styles]
    assert method.decoder.styles.sites == (64, 128, 256, 512, 256, 128, 64)


def test_ms_vae_on_traces() -> None:
    method = built(methods.MSVAE(latents=1, likelihood="gaussian"), (100,))
    assert table(method.encoder) == ["fc 100-400", "relu", "fc 400-400", "relu", "fc 400-2"]
    assert table(method.decoder) == ["fc 100-400", "fc 400-400", "fc 400-400", "fc 400-100", "fc 1-128", "fc 128-2400"]


@pytest.mark.parametrize(("content", "inputs"), [("codes", 6), ("codes+z", 11)])
def test_ms_vae_from_codes(content: str, inputs: int) -> None:
    """Appendix L: the upper half of the decoder; side by side there are no styles."""
    method = built(methods.MSVAE(latents=5, content=content), COLOUR, codes=6)
    styles = ["fc 5-128", "fc 128-896"] if content == "codes" else []
    assert table(method.decoder) == [f"fc {inputs}-8192", "relu", *STAGE_2_UP, *styles]
    end_to_end = built(methods.EndToEnd(latents=6, residual_latents=5), COLOUR)
    assert table(end_to_end.decoder) == ["fc 6-8192", "relu", *STAGE_2_UP, "fc 5-128", "fc 128-896"]
    assert table(end_to_end.encoder) == [*each(STAGE_2_DOWN, "relu"), "fc 8192-22"]


def test_ms_gan_and_cgan_have_dcgans_stacks() -> None:
    """Radford et al. 2016: batch norm but for the critic's first and the generator's last layer; LeakyReLU(0.2)."""
    method = built(methods.CGAN(latents=10), COLOUR, factors=FACTORS, ranges=((0, 2), (0, 4)), labelled=100)
    head = ["fc 14-8192", "norm 512", "relu"]
    up = ["up 512-256 4/2", "up 256-128 4/2", "up 128-64 4/2"]
    assert table(method.generator) == [*head, *each(up, "norm", "relu"), "up 64-3 4/2"]
    rest = ["conv 64-128 4/2", "conv 128-256 4/2", "conv 256-512 4/2"]
    critic = ["leaky 0.2", *each(rest, "norm", "leaky 0.2"), "fc 8192-1"]
    assert table(method.critic) == ["conv 7-64 4/2", *critic], "an image and four planes of factors"
    infogan = built(methods.InfoGAN(codes=2, noise=12, network="dcgan"), COLOUR)
    assert table(infogan.generator) == table(method.generator)
    assert table(infogan.trunk) == ["conv 3-64 4/2", *critic[:-1]], "the image alone; two heads see what comes out"
    assert table(infogan.critic) + table(infogan.recognition) == ["fc 8192-1", "fc 8192-4"]
    half = built(methods.InfoGAN(codes=2, noise=12, network="dcgan", width=0.5), COLOUR)
    assert [table(half.generator)[0], table(half.trunk)[0]] == ["fc 14-4096", "conv 3-32 4/2"]
    ms_gan = built(methods.MSGAN(), COLOUR)
    assert table(ms_gan.critic) == ["conv 6-64 4/2", *critic], "two images"
    assert table(ms_gan.generator) == table(built(methods.MSVAE(latents=10), COLOUR).decoder)


def test_gans_of_traces() -> None:
    infogan = built(methods.InfoGAN(codes=3, noise=0, network="dcgan"), (50,))
    assert table(infogan.generator) == [*each(["fc 3-400", "fc 400-400"], "norm", "relu"), "fc 400-50"]
    assert table(infogan.trunk) == ["fc 50-400", "leaky 0.2", "fc 400-400", "leaky 0.2"]
    method = built(methods.CGAN(latents=3), (50,), factors=FACTORS, ranges=((0, 2), (0, 4)), labelled=100)
    assert table(method.generator) == [*each(["fc 7-400", "fc 400-400"], "norm", "relu"), "fc 400-50"]
    assert table(method.critic) == ["fc 54-400", "leaky 0.2", "fc 400-400", "leaky 0.2", "fc 400-1"]


def test_ms_flow_has_five_affine_couplings_of_alternate_halves() -> None:
    """MS-VAE, appendix D: nets of 1000 units, given y beside one half for scale and shift of the other."""
    method = methods.MSFlow().build(DataSpec((6,), 100))
    assert table(method.flow.transform) == ["fc 9-1000", "relu", "fc 1000-6"] * 5
    masks = [coupling.mask.tolist() for coupling in method.flow.transform.transforms]
    assert masks == [[True, False] * 3, [False, True] * 3] * 2 + [[True, False] * 3]
    assert table(methods.MSFlow(layers=2, transforms=1).build(DataSpec((6,), 100)).flow.transform)[2] == "fc 1000-1000"


def test_width_scales_every_layer_down_to_four_units() -> None:
    method = built(methods.BetaVAE(width=0.1), COLOUR)
    down = ["conv 3-4 4/2", "conv 4-4 4/2", "conv 4-6 4/2", "conv 6-6 4/2"]
    assert table(method.encoder) == [*each(down, "relu"), "fc 96-26", "relu", "fc 26-20"]


def test_generators_and_critics_of_infogan_are_leaky_whatever_they_are_made_from() -> None:
    for shape, network in (((1, 8, 8), "mlp"), ((1, 16, 16), "auto"), ((5,), "auto")):
        method = methods.InfoGAN(width=0.1, network=network).build(DataSpec(shape, 10))
        for part in (method.generator, method.trunk):
            kinds = [type(layer) for layer in part.modules()]
            assert nn.LeakyReLU in kinds
            assert nn.Tanh not in kinds
            assert nn.ReLU not in kinds
        norms = any(isinstance(layer, nn.BatchNorm2d) for layer in method.generator.modules())
        assert norms == (shape == (1, 16, 16))
