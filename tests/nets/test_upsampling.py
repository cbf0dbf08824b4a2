"""The decoders' own upsampling is PyTorch's transposed convolution: values, gradients, half precision, exports."""

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional as F

from unbraid.nets.layers import upsampling
from unbraid.nets.upsampling import Upsampling

# Channels: each of the four is computed in another way, the last in PyTorch's own.
FEW, SEVERAL, MORE, MANY = 1, 3, 9, 17


def plain_twin(layer: Upsampling) -> nn.ConvTranspose2d:
    """PyTorch's layer with the same weights."""
    before, after, kernel = layer.in_channels, layer.out_channels, layer.kernel_size[0]
    extra = (layer.output_padding[0], layer.output_padding[1])
    twin = nn.ConvTranspose2d(before, after, kernel, 2, (kernel - 1) // 2, output_padding=extra)
    twin.load_state_dict(layer.state_dict())
    return twin.to(layer.weight.dtype)


@pytest.mark.parametrize("channels", [FEW, SEVERAL, MORE, MANY])
@pytest.mark.parametrize(("kernel", "extra"), [(4, (0, 0)), (4, (1, 0)), (5, (0, 0)), (5, (1, 1))])
@pytest.mark.parametrize("stored", [torch.contiguous_format, torch.channels_last])
def test_values_and_gradients_are_pytorchs(
    channels: int, kernel: int, extra: tuple[int, int], stored: torch.memory_format
) -> None:
    torch.manual_seed(0)
    layer = Upsampling(5, channels, kernel, extra).double().to(memory_format=stored)
    twin = plain_twin(layer)
    x = torch.randn(3, 5, 4, 6, dtype=torch.float64).to(memory_format=stored).requires_grad_()
    ours, theirs = layer(x), twin(x)
    torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)
    weights = torch.randn_like(theirs)
    found = torch.autograd.grad((ours * weights).sum(), (x, layer.weight, layer.bias))
    wanted = torch.autograd.grad((theirs * weights).sum(), (x, twin.weight, twin.bias))
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("channels", [FEW, MORE, MANY])
def test_gradients_have_gradients(channels: int) -> None:
    layer = Upsampling(2, channels, 4).double()
    inputs = (torch.randn(2, 2, 2, 3, dtype=torch.float64, requires_grad=True), layer.weight, layer.bias)

    def values(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return functional_call(layer, {"weight": weight, "bias": bias}, (x,))

    assert torch.autograd.gradcheck(values, inputs)
    assert torch.autograd.gradgradcheck(values, inputs)


def test_seeds_can_be_stacked() -> None:
    layers = [Upsampling(2, 1, 4) for _ in range(3)]
    x = torch.randn(4, 2, 3, 3)
    stacked = {name: torch.stack([dict(layer.named_parameters())[name] for layer in layers]) for name in WEIGHTS}

    def loss(weights: dict[str, Tensor]) -> Tensor:
        return functional_call(layers[0], weights, (x,)).square().sum()

    found = vmap(grad(loss))({name: values.detach() for name, values in stacked.items()})
    for number, layer in enumerate(layers):
        wanted = torch.autograd.grad(plain_twin_loss(layer, x), tuple(layer.parameters()))
        for name, value in zip(WEIGHTS, wanted, strict=True):
            torch.testing.assert_close(found[name][number], value, rtol=1e-4, atol=1e-4)


WEIGHTS = ("weight", "bias")


def plain_twin_loss(layer: Upsampling, x: Tensor) -> Tensor:
    return F.conv_transpose2d(x, layer.weight, layer.bias, 2, 1).square().sum()


@pytest.mark.parametrize("channels", [FEW, MORE, MANY])
def test_half_precision_is_as_near_as_pytorchs(channels: int) -> None:
    torch.manual_seed(0)
    layer = Upsampling(16, channels, 4)
    twin = plain_twin(layer)
    x = torch.randn(8, 16, 8, 8, requires_grad=True)
    exact = twin(x)
    with torch.autocast("cpu", torch.bfloat16):
        ours, theirs = layer(x), twin(x)
    assert ours.dtype == theirs.dtype == torch.bfloat16
    assert (ours - exact).abs().mean() < 1.2 * (theirs - exact).abs().mean()
    gradients = torch.autograd.grad(ours.float().square().sum(), (x, layer.weight, layer.bias))
    wanted = torch.autograd.grad(theirs.float().square().sum(), (x, twin.weight, twin.bias))
    for found, value in zip(gradients, wanted, strict=True):
        assert found.dtype == torch.float32
        torch.testing.assert_close(found, value, rtol=0.05, atol=0.02 * value.abs().max().item())


def test_only_what_is_asked_for_has_a_gradient() -> None:
    layer = Upsampling(2, 1, 4).requires_grad_(False)
    layer.bias.requires_grad_(True)  # type: ignore[union-attr]
    layer(torch.randn(1, 2, 3, 3)).sum().backward()
    assert layer.weight.grad is None
    assert layer.bias.grad.item() == 36  # type: ignore[union-attr]


def test_values_without_gradients_are_the_same_bits() -> None:
    layer, x = Upsampling(4, 9, 4), torch.randn(2, 4, 3, 5)
    with torch.no_grad():
        assert torch.equal(layer(x), layer(x.requires_grad_()))


def test_parameters_are_those_of_pytorchs_layer() -> None:
    layer = upsampling(6, 2, (4, 4), (8, 8), kernel=4)
    plain = nn.ConvTranspose2d(6, 2, 4, stride=2, padding=1)
    assert {n: p.shape for n, p in layer.named_parameters()} == {n: p.shape for n, p in plain.named_parameters()}


def test_an_exported_graph_has_the_ordinary_layer() -> None:
    exported = torch.export.export(Upsampling(3, 1, 4).eval(), (torch.randn(2, 3, 4, 4),))
    names = [str(node.target) for node in exported.graph.nodes if node.op == "call_function"]
    assert names == ["aten.conv_transpose2d.input"]


def test_other_devices_have_the_ordinary_layer() -> None:
    with torch.device("meta"):
        assert Upsampling(3, 1, 4)(torch.empty(2, 3, 4, 4)).shape == (2, 1, 8, 8)
