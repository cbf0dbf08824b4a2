"""Our Inception network against its description, and against the published one where that file is at hand."""

import json

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from unbraid.data import cache
from unbraid.evaluation.inception import features
from unbraid.nets.inception import POOL_FEATURES, Inception


def test_images_of_any_size_and_colour_become_pool_features() -> None:
    torch.manual_seed(0)
    network = Inception().eval()
    grey = np.random.default_rng(0).integers(0, 256, (2, 20, 20, 1), dtype=np.uint8)
    made = features(network, grey, "", show=False)
    assert made.shape == (2, POOL_FEATURES)
    np.testing.assert_allclose(made, features(network, grey.repeat(3, axis=3), "", show=False), atol=1e-9)


def test_it_is_the_published_network() -> None:
    folder = cache.folder() / "inception"
    script, names = folder / "inception-2015-12-05.pt", folder / "names.json"
    if not (script.is_file() and names.is_file()):
        pytest.skip("put inception-2015-12-05.pt and names.json into the data folder (UNBRAID_DATA) to compare")
    published = torch.jit.load(script, map_location="cpu").eval()
    ours = Inception().eval()
    weights = published.state_dict()
    state = ours.state_dict()
    for name, theirs in json.loads(names.read_text()).items():
        assert state[name].shape == weights[theirs].shape
        state[name] = weights[theirs]
    ours.load_state_dict(state)
    x = torch.rand(2, 3, 299, 299, generator=torch.Generator().manual_seed(0)) * 2 - 1
    with torch.no_grad():
        torch.testing.assert_close(ours(x), published(x), atol=1e-5, rtol=1e-4)


class ByHand:
    """Szegedy et al. 2016 as in the network of 2015-12-05: averages without the border, maxima in the last block."""

    def __init__(self, weights: dict[str, Tensor]) -> None:
        self.weights = weights

    def layer(self, name: str, x: Tensor, stride: int = 1, padding: tuple[int, int] = (0, 0)) -> Tensor:
        w = self.weights
        y = F.conv2d(x, w[f"{name}.conv.weight"], stride=stride, padding=padding)
        mean, variance = w[f"{name}.bn.running_mean"], w[f"{name}.bn.running_var"]
        scale, shift = w[f"{name}.bn.weight"], w[f"{name}.bn.bias"]
        standard = (y - mean[:, None, None]) / (variance[:, None, None] + 0.001).sqrt()
        return torch.clamp(scale[:, None, None] * standard + shift[:, None, None], min=0)

    def chain(self, block: str, x: Tensor, *steps: tuple[str, tuple[int, int], int]) -> Tensor:
        """Layers in a row, each with the padding that keeps the size unless its stride is 2."""
        for name, (high, wide), stride in steps:
            padding = (high // 2, wide // 2) if stride == 1 else (0, 0)
            x = self.layer(f"{block}.{name}", x, stride, padding)
        return x

    def average(self, x: Tensor) -> Tensor:
        ones = torch.ones(1, 1, *x.shape[2:], dtype=x.dtype)
        kernel = torch.ones(1, 1, 3, 3, dtype=x.dtype)
        count = F.conv2d(ones, kernel, padding=1)
        sums = F.conv2d(x.flatten(0, 1)[:, None], kernel, padding=1).unflatten(0, x.shape[:2])[:, :, 0]
        return sums / count[0, 0]

    def block(self, name: str, x: Tensor) -> Tensor:
        one, three, five, row, column = (1, 1), (3, 3), (5, 5), (1, 7), (7, 1)
        run = lambda *steps: self.chain(name, x, *steps)  # noqa: E731
        pooled = F.max_pool2d(x, 3, stride=1, padding=1) if name == "Mixed_7c" else self.average(x)
        if name in ("Mixed_5b", "Mixed_5c", "Mixed_5d"):
            parts = [
                run(("branch1x1", one, 1)),
                run(("branch5x5_1", one, 1), ("branch5x5_2", five, 1)),
                run(("branch3x3dbl_1", one, 1), ("branch3x3dbl_2", three, 1), ("branch3x3dbl_3", three, 1)),
                self.chain(name, pooled, ("branch_pool", one, 1)),
            ]
        elif name == "Mixed_6a":
            parts = [
                run(("branch3x3", three, 2)),
                run(("branch3x3dbl_1", one, 1), ("branch3x3dbl_2", three, 1), ("branch3x3dbl_3", three, 2)),
                F.max_pool2d(x, 3, stride=2),
            ]
        elif name.startswith("Mixed_6"):
            double = [("branch7x7dbl_1", one), *((f"branch7x7dbl_{i}", (column, row)[i % 2]) for i in range(2, 6))]
            parts = [
                run(("branch1x1", one, 1)),
                run(("branch7x7_1", one, 1), ("branch7x7_2", row, 1), ("branch7x7_3", column, 1)),
                run(*((layer, size, 1) for layer, size in double)),
                self.chain(name, pooled, ("branch_pool", one, 1)),
            ]
        elif name == "Mixed_7a":
            parts = [
                run(("branch3x3_1", one, 1), ("branch3x3_2", three, 2)),
                run(
                    ("branch7x7x3_1", one, 1), ("branch7x7x3_2", row, 1), ("branch7x7x3_3", column, 1),
                    ("branch7x7x3_4", three, 2),
                ),
                F.max_pool2d(x, 3, stride=2),
            ]  # fmt: skip
        else:
            short = run(("branch3x3_1", one, 1))
            long = run(("branch3x3dbl_1", one, 1), ("branch3x3dbl_2", three, 1))
            sides = (("a", (1, 3)), ("b", (3, 1)))
            parts = [
                run(("branch1x1", one, 1)),
                *(self.chain(name, short, (f"branch3x3_2{side}", size, 1)) for side, size in sides),
                *(self.chain(name, long, (f"branch3x3dbl_3{side}", size, 1)) for side, size in sides),
                self.chain(name, pooled, ("branch_pool", one, 1)),
            ]  # fmt: skip
        return torch.cat(parts, dim=1)

    def __call__(self, x: Tensor) -> Tensor:
        x = self.layer("Conv2d_2a_3x3", self.layer("Conv2d_1a_3x3", x, stride=2))
        x = F.max_pool2d(self.layer("Conv2d_2b_3x3", x, padding=(1, 1)), 3, stride=2)
        x = F.max_pool2d(self.layer("Conv2d_4a_3x3", self.layer("Conv2d_3b_1x1", x)), 3, stride=2)
        for name in ("5b", "5c", "5d", "6a", "6b", "6c", "6d", "6e", "7a", "7b", "7c"):
            x = self.block(f"Mixed_{name}", x)
        return x.flatten(2).mean(2)


def test_every_layer_is_as_described() -> None:
    torch.manual_seed(0)
    ours = Inception().eval()
    with torch.no_grad():
        for name, value in ours.state_dict().items():
            if name.endswith("running_var"):
                value.uniform_(1e-3, 2e-3)  # so small that what is added to it counts
            elif name.endswith(("running_mean", "bn.bias")):
                value.normal_(std=0.1)
            elif name.endswith("bn.weight"):
                value.uniform_(0.02, 0.06)
        x = 2 * torch.rand(1, 3, 107, 91) - 1
        made = ours(x)
        torch.testing.assert_close(made, ByHand(ours.state_dict())(x), rtol=1e-3, atol=1e-5)
    assert made.std() > 1e-3
