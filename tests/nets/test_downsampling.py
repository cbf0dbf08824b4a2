"""The encoders' own downsampling is PyTorch's convolution: values, gradients, half precision, exports."""

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from unbraid.nets.downsampling import Downsampling

# Channels of the larger maps: the gradient of each is computed in another way, the last in PyTorch's own.
FEW, SEVERAL, MORE, MANY = 1, 3, 9, 17


def plain_twin(layer: Downsampling) -> nn.Conv2d:
    """PyTorch's layer with the same weights."""
    kernel = layer.kernel_size[0]
    twin = nn.Conv2d(layer.in_channels, layer.out_channels, kernel, 2, (kernel - 1) // 2)
    twin.load_state_dict(layer.state_dict())
    return twin.to(layer.weight.dtype)


@pytest.mark.parametrize("channels", [FEW, SEVERAL, MORE, MANY])
@pytest.mark.parametrize("kernel", [4, 5])
@pytest.mark.parametrize("size", [(8, 6), (9, 6), (8, 7), (7, 9)])
@pytest.mark.parametrize("stored", [torch.contiguous_format, torch.channels_last])
def test_values_and_gradients_are_pytorchs(
    channels: int, kernel: int, size: tuple[int, int], stored: torch.memory_format
) -> None:
    torch.manual_seed(0)
    layer = Downsampling(channels, 5, kernel).double().to(memory_format=stored)
    twin = plain_twin(layer)
    x = torch.randn(3, channels, *size, dtype=torch.float64).to(memory_format=stored).requires_grad_()
    ours, theirs = layer(x), twin(x)
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)
    weights = torch.randn_like(theirs)
    found = torch.autograd.grad((ours * weights).sum(), (x, layer.weight, layer.bias))
    wanted = torch.autograd.grad((theirs * weights).sum(), (x, twin.weight, twin.bias))
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("channels", [FEW, MORE, MANY])
def test_gradients_have_gradients(channels: int) -> None:
    layer = Downsampling(channels, 2, 4).double()
    inputs = (torch.randn(2, channels, 4, 6, dtype=torch.float64, requires_grad=True), layer.weight, layer.bias)

    def values(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return functional_call(layer, {"weight": weight, "bias": bias}, (x,))

    assert torch.autograd.gradcheck(values, inputs, fast_mode=True)
    assert torch.autograd.gradgradcheck(values, inputs, fast_mode=True)


def test_seeds_can_be_stacked() -> None:
    layers = [Downsampling(2, 3, 4) for _ in range(3)]
    x = torch.randn(4, 2, 6, 6)
    stacked = torch.stack([layer.weight.detach() for layer in layers])

    def loss(weight: Tensor) -> Tensor:
        return functional_call(layers[0], {"weight": weight, "bias": torch.zeros(3)}, (x,)).square().sum()

    found = vmap(grad(loss))(stacked)
    for number, layer in enumerate(layers):
        made = nn.functional.conv2d(x, layer.weight, None, 2, 1).square().sum()
        torch.testing.assert_close(found[number], torch.autograd.grad(made, layer.weight)[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("channels", [FEW, MORE, MANY])
def test_half_precision_is_as_near_as_pytorchs(channels: int) -> None:
    torch.manual_seed(0)
    layer = Downsampling(channels, 16, 4)
    twin = plain_twin(layer)
    x = torch.randn(8, channels, 16, 16, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        ours, theirs = layer(x), twin(x)
    assert ours.dtype == theirs.dtype == torch.bfloat16
    torch.testing.assert_close(ours, theirs)
    gradients = torch.autograd.grad(ours.float().square().sum(), (x, layer.weight, layer.bias))
    wanted = torch.autograd.grad(theirs.float().square().sum(), (x, twin.weight, twin.bias))
    for found, value in zip(gradients, wanted, strict=True):
        assert found.dtype == torch.float32
        torch.testing.assert_close(found, value, rtol=0.05, atol=0.02 * value.abs().max().item())


def test_only_what_is_asked_for_has_a_gradient() -> None:
    layer = Downsampling(2, 1, 4).requires_grad_(False)
    layer.bias.requires_grad_(True)  # type: ignore[union-attr]
    layer(torch.randn(1, 2, 6, 6)).sum().backward()
    assert layer.weight.grad is None
    assert layer.bias.grad.item() == 9  # type: ignore[union-attr]


def test_parameters_and_their_start_are_those_of_pytorchs_layer() -> None:
    torch.manual_seed(0)
    layer = Downsampling(6, 2, 4)
    torch.manual_seed(0)
    plain = nn.Conv2d(6, 2, 4, stride=2, padding=1)
    torch.testing.assert_close(dict(layer.state_dict()), dict(plain.state_dict()), rtol=0, atol=0)


def test_an_exported_graph_has_the_ordinary_layer() -> None:
    exported = torch.export.export(Downsampling(3, 1, 4).eval(), (torch.randn(2, 3, 4, 4),))
    names = [str(node.target) for node in exported.graph.nodes if node.op == "call_function"]
    assert names == ["aten.conv2d.default"]


def test_other_devices_have_the_ordinary_layer() -> None:
    with torch.device("meta"):
        assert Downsampling(3, 1, 4)(torch.empty(2, 3, 8, 8)).shape == (2, 1, 4, 4)
