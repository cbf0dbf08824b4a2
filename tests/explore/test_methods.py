"""The graphs of every method, as a whole: onnxruntime against torch, and the page's interpreter against both."""

from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from interpreter import run_graphs
from torch import nn

from small_methods import SMALL
from unbraid import methods
from unbraid.core import DataSpec, Method, MethodConfig, build_method
from unbraid.explore.graphs import Decoder, Encoder, Example, StageGraphs, examples, stage_graphs
from unbraid.explore.onnx_files import largest_difference
from unbraid.runs.chain import Chain
from unbraid.training.batches import as_network_input
from unbraid.training.contract import small_images, training_data

IMAGES = small_images(100)
FIRST = methods.BetaTCVAE(width=0.1, latents=3)


class Exported(NamedTuple):
    stage: Method
    example: Example
    graphs: StageGraphs

    def parts(self) -> list[tuple[Any, nn.Module, dict[str, torch.Tensor]]]:
        encoder = (self.graphs.encoder, Encoder(self.stage), self.example.encoder_inputs)
        decoder = (self.graphs.decoder, Decoder(self.stage, self.example.codes), self.example.decoder_inputs)
        return [decoder] if self.graphs.encoder is None else [encoder, decoder]


def untrained(config: MethodConfig) -> Method:
    """The method with weights as a trained one may have: none is zero or one."""
    torch.manual_seed(3)
    stage = build_method(config, training_data(config, IMAGES).spec)
    for part in stage.modules():
        if isinstance(part, nn.BatchNorm1d | nn.BatchNorm2d):
            for name, low in (("running_mean", -0.5), ("running_var", 0.5), ("weight", 0.5), ("bias", -0.5)):
                nn.init.uniform_(getattr(part, name), low, low + 1)
    return stage.eval().requires_grad_(False)


def exported(config: MethodConfig, *, labels: bool) -> Exported:
    x = as_network_input(torch.from_numpy(IMAGES.observations), torch.device("cpu"))
    known = torch.from_numpy(IMAGES.factors.astype(np.float32))
    known[::7, 0] = torch.nan
    stages = [untrained(FIRST), untrained(config)] if config.conditional else [untrained(config)]
    example = examples(Chain(stages), x, known if labels else None)[-1]
    return Exported(stages[-1], example, stage_graphs(stages[-1], example, config.name))


@pytest.fixture(scope="module", params=SMALL, ids=lambda config: config.name)
def without_labels(request: pytest.FixtureRequest) -> Exported:
    """As the page has it: nothing is known of a picture that someone drops in."""
    return exported(request.param, labels=False)


def test_onnx_agrees_with_torch(without_labels: Exported) -> None:
    for model, module, inputs in without_labels.parts():
        assert largest_difference(model, module, inputs) <= 1e-4


def test_page_agrees_with_torch(without_labels: Exported) -> None:
    parts = without_labels.parts()
    few = [{name: value[:4].numpy() for name, value in inputs.items()} for _, _, inputs in parts]
    made = run_graphs([(model, feeds) for (model, _, _), feeds in zip(parts, few, strict=True)])
    *codes, x = (one["outputs"][0] for one in made)
    with torch.no_grad():
        assert np.abs(x - parts[-1][1](**{k: torch.from_numpy(v) for k, v in few[-1].items()}).numpy()).max() <= 2 / 255
    for found in codes:
        want = torch.cat(list(without_labels.example.codes.values()), dim=1)[:4].numpy()
        assert np.abs(found - want).max() <= 0.01 * max(1.0, np.abs(want).max())


@pytest.mark.parametrize(
    "config", [methods.IVAE(width=0.1, encoding="one-hot"), methods.SSIDVAE(width=0.1), methods.CGAN(width=0.1)]
)
def test_an_encoder_that_reads_labels_is_exported_with_them(config: MethodConfig) -> None:
    found = exported(config, labels=True)
    assert "labels" in [value.name for value in found.graphs.encoder.graph.input]
    for model, module, inputs in found.parts():
        assert largest_difference(model, module, inputs) <= 1e-4


def test_vectors_take_other_layers_and_agree_too() -> None:
    """Convolutions along signals, and AdaIN over units."""
    torch.manual_seed(5)
    x = torch.randn(100, 40)
    spec = DataSpec((40,), 100)
    configs = [
        methods.VAE(width=0.1, network="conv1d", likelihood="gaussian"),
        methods.MSVAE(width=0.1, likelihood="gaussian"),
    ]
    stages = [build_method(config, spec).eval().requires_grad_(False) for config in configs]
    for config, stage, example in zip(configs, stages, examples(Chain(stages), x, None), strict=True):
        found = Exported(stage, example, stage_graphs(stage, example, config.name))
        for model, module, inputs in found.parts():
            assert largest_difference(model, module, inputs) <= 1e-4
        few = {name: value[:4].numpy() for name, value in example.decoder_inputs.items()}
        made = run_graphs([(found.graphs.decoder, few)])[0]["outputs"][0]
        with torch.no_grad():
            want = found.parts()[-1][1](**{name: torch.from_numpy(value) for name, value in few.items()}).numpy()
        assert np.abs(made - want).max() <= np.ptp(want) * 2 / 255
