"""Encoders and decoders fit observations of any shape, and the papers' at theirs."""

import pytest
import torch

from unbraid.errors import InputError
from unbraid.nets.stacks import Encoder, decoder


@pytest.mark.parametrize("network", ["conv", "conv-bn", "conv-celeba", "conv-mnist", "broadcast", "mlp"])
@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 64, 64), (3, 32, 32), (3, 109, 89), (1, 8, 11)])
def test_images_come_back_in_their_shape(network: str, shape: tuple[int, ...]) -> None:
    x = torch.rand(2, *shape)
    codes = Encoder(shape, 6, network=network, width=0.1)(x)  # type: ignore[arg-type]
    assert codes.shape == (2, 6)
    assert decoder(6, shape, network=network, width=0.1)(codes).shape == x.shape  # type: ignore[arg-type]


@pytest.mark.parametrize("network", ["mlp", "mlp-pca", "conv1d"])
@pytest.mark.parametrize("values", [8, 9, 31, 100, 257])
def test_signals_come_back_in_their_length(network: str, values: int) -> None:
    x = torch.rand(2, values)
    codes = Encoder((values,), 3, network=network, width=0.1)(x)  # type: ignore[arg-type]
    assert decoder(3, (values,), network=network, width=0.1)(codes).shape == x.shape  # type: ignore[arg-type]


def test_the_default_stack_is_table_2_of_idvae() -> None:
    kinds = (torch.nn.Conv2d, torch.nn.ConvTranspose2d, torch.nn.Linear)
    layers = [m for m in Encoder((3, 64, 64), 20).modules() if isinstance(m, kinds)]
    assert [tuple(m.weight.shape) for m in layers] == [
        (32, 3, 4, 4),
        (32, 32, 4, 4),
        (64, 32, 4, 4),
        (64, 64, 4, 4),
        (256, 1024),
        (20, 256),
    ]
    layers = [m for m in decoder(10, (3, 64, 64)).modules() if isinstance(m, kinds)]
    assert [tuple(m.weight.shape) for m in layers] == [
        (256, 10),
        (1024, 256),
        (64, 64, 4, 4),
        (64, 32, 4, 4),
        (32, 32, 4, 4),
        (32, 3, 4, 4),
    ]


@pytest.mark.parametrize(
    ("network", "shape"), [("conv", (100,)), ("conv1d", (3, 64, 64)), ("conv1d", (5,)), ("conv", (1, 6, 6))]
)
def test_a_network_that_does_not_fit_the_data_is_refused(network: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="these observations have shape"):
        Encoder(shape, 4, network=network)  # type: ignore[arg-type]
