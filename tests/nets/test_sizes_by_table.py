"""Networks by what their papers and this library's pages say of them: sizes, numbers of weights, starts."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from unbraid.core import DataSpec
from unbraid.data import Factor
from unbraid.data.counts import Counts
from unbraid.nets import nearest_codes
from unbraid.nets.additive import Additive
from unbraid.nets.attention import MixtureModes
from unbraid.nets.broadcast import broadcast_decoder
from unbraid.nets.counts import CountOutput
from unbraid.nets.factorial_flow import FactorialFlow
from unbraid.nets.guide import Guide
from unbraid.nets.inception import Block, Inception
from unbraid.nets.nearest_codes import NearestCodes
from unbraid.nets.observed import ObservedLabels
from unbraid.nets.signals import signal_decoder
from unbraid.nets.stacks import Encoder, decoder

# Szegedy et al. 2016, table 1, with the blocks' names of the published file: channels and side of what each gives.
INCEPTION = {
    "Conv2d_1a_3x3": (32, 149),
    "Conv2d_2a_3x3": (32, 147),
    "Conv2d_2b_3x3": (64, 147),
    "Conv2d_3b_1x1": (80, 73),
    "Conv2d_4a_3x3": (192, 71),
    "Mixed_5b": (256, 35),
    "Mixed_5c": (288, 35),
    "Mixed_5d": (288, 35),
    "Mixed_6a": (768, 17),
    "Mixed_6b": (768, 17),
    "Mixed_6c": (768, 17),
    "Mixed_6d": (768, 17),
    "Mixed_6e": (768, 17),
    "Mixed_7a": (1280, 8),
    "Mixed_7b": (2048, 8),
    "Mixed_7c": (2048, 8),
}


def test_inception_has_the_published_sizes_and_weights() -> None:
    """23,834,568 weights of Inception v3 without its auxiliary head, less the 2048·1000 + 1000 of its classifier."""
    with torch.device("meta"):
        network = Inception().eval()
    assert sum(weight.numel() for weight in network.parameters()) == 23_834_568 - 2_049_000
    found: dict[str, tuple[int, ...]] = {}
    for name in INCEPTION:

        def seen(module: nn.Module, given: object, made: Tensor, name: str = name) -> None:
            found[name] = tuple(made.shape[1:])

        network.get_submodule(name).register_forward_hook(seen)
    assert network(torch.zeros(1, 3, 299, 299, device="meta")).shape == (1, 2048)
    assert found == {name: (channels, side, side) for name, (channels, side) in INCEPTION.items()}


def test_an_additive_decoder_is_the_sum_of_its_parts() -> None:
    torch.manual_seed(0)
    add = Additive(5, 2, lambda codes: nn.Linear(codes, 3))
    codes = torch.randn(4, 5)
    parts: Any = add.parts
    weights = torch.cat([part.weight for part in parts], dim=1)
    biases = torch.stack([part.bias for part in parts]).sum(0)
    torch.testing.assert_close(add(codes), codes @ weights.T + biases)
    assert add.sizes == [2, 2, 1]


def test_the_broadcast_decoder_is_a_grid_of_a_quarter_and_three_convolutions() -> None:
    decoder = broadcast_decoder(3, (2, 16, 24), 8)
    assert decoder[1].places.shape == (1, 2, 4, 6)
    assert decoder[1].project.bias is None
    convolutions = [layer for layer in decoder if isinstance(layer, nn.Conv2d)]
    assert [(c.in_channels, c.out_channels, c.kernel_size, c.padding) for c in convolutions] == [
        (8, 8, (3, 3), (1, 1)),
        (8, 8, (3, 3), (1, 1)),
        (8, 32, (3, 3), (1, 1)),
    ]
    assert sum(isinstance(layer, nn.ReLU) for layer in decoder) == 3
    assert "places" not in "".join(decoder.state_dict())


def test_a_guide_starts_with_small_moves() -> None:
    guide = Guide(6, (1, 8, 8), deformation=2)
    assert guide.gain.tolist() == pytest.approx([0.1] * 4)
    assert (guide.basis.in_features, guide.basis.out_features) == (4, 64)


def test_codes_before_and_after_the_first_row() -> None:
    assert nearest_codes.NEIGHBOURS == 8
    torch.manual_seed(0)
    prior = NearestCodes((2,), 3, rows=5)
    drawn = prior(torch.zeros(4000, 2))
    torch.testing.assert_close(drawn.std(0), torch.ones(3), atol=0.05, rtol=0)
    torch.testing.assert_close(drawn.mean(0), torch.zeros(3), atol=0.06, rtol=0)
    prior.learn([(torch.zeros(1, 2), torch.full((1, 3), 70.0), torch.full((1, 3), 0.25).log())])
    drawn = prior(torch.zeros(4000, 2))
    torch.testing.assert_close(drawn.mean(0), torch.full((3,), 70.0), atol=0.05, rtol=0)
    torch.testing.assert_close(drawn.std(0), torch.full((3,), 0.5), atol=0.03, rtol=0)


def test_counted_labels_are_scaled_by_their_number_and_measured_ones_by_their_range() -> None:
    factors = (Factor("step", 5, "ordinal"), Factor("mass", 0, "continuous"))
    data = DataSpec((4,), 10, factors, ranges=((1.0, 3.0), (2.0, 6.0)), labelled=9, shares=((), ()), means=(2.0, 3.0))
    u = ObservedLabels(data)(torch.tensor([[4.0, 6.0], [1.0, 3.0], [float("nan"), float("nan")]]))
    torch.testing.assert_close(u, torch.tensor([[1.0, 1.0], [0.25, 0.25], [0.5, 0.25]]))


def test_decoders_of_several_channels_start_without_offsets() -> None:
    torch.manual_seed(0)
    decoder = signal_decoder(3, 32, 64, (8, 8, 8, 8, 8), outputs=2)
    made = [layer for layer in decoder if isinstance(layer, nn.Linear | nn.ConvTranspose1d)]
    assert len(made) > 2
    assert all(layer.bias is not None and not layer.bias.any() for layer in made)


def test_the_last_block_of_inception_looks_three_by_three() -> None:
    block = Block(1, [[("branch_pool", 2, 1, 1)]], "max")
    point = torch.zeros(1, 1, 7, 7)
    point[0, 0, 3, 3] = 1.0
    expected = torch.zeros(7, 7)
    expected[2:5, 2:5] = 1.0
    assert torch.equal(block._pooled(point)[0, 0], expected)


def test_a_flow_starts_with_bends_of_about_one_width_at_places_of_their_own() -> None:
    """Widths of e^±0.1 and shifts of N(0, 1), of strength 0."""
    torch.manual_seed(0)
    flow = FactorialFlow(50, 40)
    assert flow.log_width.std().item() == pytest.approx(0.1, rel=0.05)
    assert flow.shift.std().item() == pytest.approx(1.0, rel=0.05)
    assert not flow.strength.any()


def test_what_is_beside_pca_has_two_hidden_layers_of_hyperbolic_tangents() -> None:
    first, rest = decoder(3, (7,), network="mlp-pca", width=0.02)
    assert (first.in_features, first.out_features) == (3, 8 + 7)
    assert [type(layer) for layer in rest.layers] == [nn.Tanh, nn.Linear, nn.Tanh, nn.Linear]  # type: ignore[union-attr]


@pytest.mark.parametrize(("network", "codes", "units"), [("additive", 4, 200), ("additive-2", 5, 231)])
def test_decoders_that_add_up_are_narrower_by_the_root_of_their_number(network: Any, codes: int, units: int) -> None:
    (sums,) = decoder(codes, (7,), network=network)
    assert {part[0].out_features for part in sums.parts} == {units}  # type: ignore[union-attr,index]


def test_other_values_join_the_encoders_features_behind_them() -> None:
    torch.manual_seed(0)
    encoder = Encoder((4,), 3, width=0.02, extra=2)
    x, u = torch.randn(5, 4), torch.randn(5, 2)
    both = torch.cat((encoder.trunk(x), u), dim=1)
    torch.testing.assert_close(encoder(x, u), both @ encoder.head.weight.T + encoder.head.bias)


def test_modes_start_at_standard_normal_means_and_rates_at_no_less_than_a_little() -> None:
    torch.manual_seed(0)
    means = MixtureModes(500, 4).mean
    assert (means.mean().item(), means.std().item()) == pytest.approx((0.0, 1.0), abs=0.05)
    never = CountOutput(Counts((0.0, 2.0), library=2.0), False, False)
    torch.testing.assert_close(never.log_rate, torch.tensor([1e-4, 2.0]).log())
