"""`unbraid export RUN --onnx DIR`: the graphs of every stage as files, checked against torch, and model.json."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unbraid.errors import InputError
from unbraid.explore.description import code_table, describe
from unbraid.explore.graphs import Decoder, Encoder, Example, StageGraphs, examples, session, stage_graphs
from unbraid.explore.material import gather_material
from unbraid.runs.directory import RunDirectory
from unbraid.util.files import check_folder, write_bytes, write_json

CHECKED = 100  # observations
TOLERANCE = 1e-4  # between onnxruntime and torch, relative to the largest value where that is more than one


def export_onnx(run: RunDirectory, folder: Path) -> dict[str, Any]:
    """Write `stage-K-encoder.onnx`, `stage-K-decoder.onnx` and model.json; returns what model.json holds."""
    check_folder(folder)
    table = code_table(run)
    material = gather_material(run, table)
    x = material.inputs(run, CHECKED)
    given = examples(run.chain, x, material.label_inputs(run, CHECKED))
    graphs = run_graphs(run, given)
    described = describe(run, graphs, table)
    for number, (graph, example) in enumerate(zip(graphs, given, strict=True), 1):
        stage, entry = run.chain.stages[number - 1], described["stages"][number - 1]
        parts: dict[str, tuple[Any, nn.Module, Mapping[str, Tensor]]] = {
            "encoder": (graph.encoder, Encoder(stage), example.encoder_inputs),
            "decoder": (graph.decoder, Decoder(stage, example.codes), example.decoder_inputs),
        }
        for part, (model, module, inputs) in parts.items():
            if model is None:
                entry[part] = None
                continue
            difference = largest_difference(model, module, inputs)
            what = f"the {part} of stage {number} ({entry['method']})"
            if not difference <= TOLERANCE:
                raise InputError(f"{what} differs by {difference:.1g} as ONNX, more than {TOLERANCE:g}: not exported.")
            entry[part] = f"stage-{number}-{part}.onnx"
            entry[f"{part}_difference"] = difference
            write_bytes(folder / entry[part], model.SerializeToString())
    made = {} if material.is_real else {"made_by_the_model": True}  # no observation was left
    described["checked"] = {"observations": len(x), "tolerance": TOLERANCE} | made
    write_json(folder / "model.json", described)
    return described


def run_graphs(run: RunDirectory, given: list[Example]) -> list[StageGraphs]:
    """The graphs of every stage of a run, traced with these examples."""
    pairs = zip(run.chain.stages, run.plan.stages, given, strict=True)
    return [stage_graphs(stage, example, config.name) for stage, (config, _), example in pairs]


@torch.no_grad()
def largest_difference(model: Any, module: nn.Module, inputs: Mapping[str, Tensor]) -> float:
    """The largest difference between onnxruntime and torch, relative to the largest value where it exceeds one."""
    ready = session(model)
    known = {value.name for value in ready.get_inputs()}
    found = ready.run(None, {name: value.cpu().numpy() for name, value in inputs.items() if name in known})
    made = module(**inputs)
    expected = [value.cpu().numpy() for value in (made if isinstance(made, tuple) else (made,))]
    return max(
        float(np.abs(a - b).max() / max(1.0, float(np.abs(b).max()))) for a, b in zip(found, expected, strict=True)
    )
