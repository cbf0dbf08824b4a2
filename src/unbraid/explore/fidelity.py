"""What packing weights more tightly costs: measured before a page is written that way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid.explore.content import code_arrays
from unbraid.explore.graphs import Decoder, Encoder, Example, StageGraphs, examples, session
from unbraid.explore.packing import PRECISIONS, Precision, rounded
from unbraid.runs.chain import Codes, unflat, with_earlier_codes
from unbraid.runs.codes import CodeTable
from unbraid.runs.directory import RunDirectory
from unbraid.util.seeds import mix

ROWS, MOVED = 200, 0.3  # observations that are measured; the share of their codes that is set at random
DECODED = 2 / 255  # what packing may change of an image; of a vector, the same part of its range
ENCODED = 0.02  # what it may change of a code, as a part of its slider's range


def choose_precisions(
    run: RunDirectory, graphs: Sequence[StageGraphs], described: Mapping[str, Any], table: CodeTable
) -> list[dict[str, Precision]]:
    """The tightest packing of each stage's `encoder` and `decoder` that still encodes and decodes alike.

    Alike for observations, and for sliders set anyhow.
    """
    random = np.random.default_rng(mix(run.plan.seed, "packing"))
    chosen = random.permutation(len(table.rows))[:ROWS]
    given = examples(run.chain, run.observations(table.rows[chosen]), None)
    stages = described["stages"]
    moved = [
        moved_codes(table.arrays[name][chosen], stage["codes"], random)
        for name, stage in zip(code_arrays(run), stages, strict=True)
    ]
    encoders = [
        choose_encoder(run, graph, example, number, stage["codes"])
        for number, (graph, example, stage) in enumerate(zip(graphs, given, stages, strict=True))
    ]
    pairs = zip(encoders, choose_decoders(run, graphs, given, moved), strict=True)
    return [{"encoder": encoder, "decoder": decoder} for encoder, decoder in pairs]


def moved_codes(
    codes: NDArray[np.float32], sliders: Sequence[Mapping[str, Any]], random: np.random.Generator
) -> NDArray[np.float32]:
    """Codes of observations with some of them set anywhere in their slider's range."""
    low, high = (np.array([slider[end] for slider in sliders]) for end in ("low", "high"))
    anywhere = low + (high - low) * random.random(codes.shape)
    return np.where(random.random(codes.shape) < MOVED, anywhere, codes).astype(np.float32)


@torch.no_grad()
def choose_encoder(
    run: RunDirectory, graph: StageGraphs, example: Example, number: int, sliders: Sequence[Mapping[str, Any]]
) -> Precision:
    """The tightest packing with which the encoder of a stage finds the same codes."""
    if graph.encoder is None:
        return "half"
    exact = Encoder(run.chain.stages[number])(**example.encoder_inputs)[0].cpu().numpy()
    spans = np.array([max(slider["high"] - slider["low"], 1e-6) for slider in sliders])
    for precision in reversed(PRECISIONS[1:]):
        found = packed(graph.encoder, example.encoder_inputs, precision)
        if (np.abs(found - exact) <= ENCODED * spans).all():
            return precision
    return "half"


@torch.no_grad()
def choose_decoders(
    run: RunDirectory, graphs: Sequence[StageGraphs], given: Sequence[Example], moved: Sequence[NDArray[np.float32]]
) -> list[Precision]:
    """The tightest packing of each decoder; errors of earlier stages go on into later ones, and count there."""
    chosen: list[Precision] = []
    y: Tensor | None = None
    packed_y: Tensor | None = None
    earlier: Codes = {}
    for number, (stage, graph, example, codes) in enumerate(
        zip(run.chain.stages, graphs, given, moved, strict=True), 1
    ):
        own = unflat(torch.from_numpy(codes).to(run.device), example.codes)
        before = with_earlier_codes(stage, own, earlier).get("given")
        y = Decoder(stage, own)(**Example(example.x, y, None, own, before).decoder_inputs)
        exact = y.cpu().numpy()
        span = 1.0 if run.data.is_image else float(np.ptp(exact))
        allowed = DECODED * span * number / len(graphs)  # something is left for the stages to come
        inputs = Example(example.x, packed_y, None, own, before).decoder_inputs
        for precision in reversed(PRECISIONS):
            made = packed(graph.decoder, inputs, precision)
            if precision == "half" or np.abs(made - exact).max() <= allowed:
                chosen.append(precision)
                break
        packed_y, earlier = torch.from_numpy(made), own
    return chosen


def packed(model: Any, inputs: Mapping[str, Tensor], precision: Precision) -> NDArray[np.float32]:
    """The first output of a graph whose weights have been packed and unpacked."""
    ready = session(rounded(model, precision))
    known = {value.name for value in ready.get_inputs()}
    feeds = {name: value.cpu().numpy() for name, value in inputs.items() if name in known}
    output: NDArray[np.float32] = ready.run(None, feeds)[0]
    return output
