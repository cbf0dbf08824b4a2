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
from unbraid.explore.packing import Precision, rounded
from unbraid.runs.chain import Codes, unflat, with_earlier_codes
from unbraid.runs.codes import CodeTable
from unbraid.runs.directory import RunDirectory
from unbraid.util.seeds import mix

ROWS, MOVED = 200, 0.3  # observations that are measured; the share of their codes that is set at random
DECODED = 2 / 255  # what packing may change of an image; of a vector, the same part of its range
ENCODED = 0.02  # what it may change of a code, as a part of its slider's range


def is_faithful(
    run: RunDirectory,
    graphs: Sequence[StageGraphs],
    described: Mapping[str, Any],
    table: CodeTable,
    precision: Precision,
) -> bool:
    """Whether graphs packed this way still encode and decode alike, for observations and for sliders set anyhow."""
    random = np.random.default_rng(mix(run.plan.seed, "packing"))
    chosen = random.permutation(len(table.rows))[:ROWS]
    given = examples(run.chain, run.observations(table.rows[chosen]), None)
    moved = [
        moved_codes(table.arrays[name][chosen], stage["codes"], random)
        for name, stage in zip(code_arrays(run), described["stages"], strict=True)
    ]
    return all(
        encodes_alike(run, graph, example, number, stage["codes"], precision)
        for number, (graph, example, stage) in enumerate(zip(graphs, given, described["stages"], strict=True))
    ) and decodes_alike(run, graphs, given, moved, precision)


def moved_codes(
    codes: NDArray[np.float32], sliders: Sequence[Mapping[str, Any]], random: np.random.Generator
) -> NDArray[np.float32]:
    """Codes of observations with some of them set anywhere in their slider's range."""
    low, high = (np.array([slider[end] for slider in sliders]) for end in ("low", "high"))
    anywhere = low + (high - low) * random.random(codes.shape)
    return np.where(random.random(codes.shape) < MOVED, anywhere, codes).astype(np.float32)


@torch.no_grad()
def encodes_alike(
    run: RunDirectory,
    graph: StageGraphs,
    example: Example,
    number: int,
    sliders: Sequence[Mapping[str, Any]],
    precision: Precision,
) -> bool:
    """Whether the packed encoder of a stage finds the same codes."""
    if graph.encoder is None:
        return True
    exact = Encoder(run.chain.stages[number])(**example.encoder_inputs)[0].cpu().numpy()
    spans = np.array([max(slider["high"] - slider["low"], 1e-6) for slider in sliders])
    return bool((np.abs(packed(graph.encoder, example.encoder_inputs, precision) - exact) <= ENCODED * spans).all())


@torch.no_grad()
def decodes_alike(
    run: RunDirectory,
    graphs: Sequence[StageGraphs],
    given: Sequence[Example],
    moved: Sequence[NDArray[np.float32]],
    precision: Precision,
) -> bool:
    """Whether the packed decoders make the same of the codes, each of what the exact one before it made."""
    y: Tensor | None = None
    earlier: Codes = {}
    for stage, graph, example, codes in zip(run.chain.stages, graphs, given, moved, strict=True):
        own = unflat(torch.from_numpy(codes).to(run.device), example.codes)
        inputs = Example(example.x, y, None, own, with_earlier_codes(stage, own, earlier).get("given")).decoder_inputs
        made = Decoder(stage, own)(**inputs)
        exact = made.cpu().numpy()
        span = 1.0 if run.data.is_image else float(np.ptp(exact))
        if np.abs(packed(graph.decoder, inputs, precision) - exact).max() > DECODED * span:
            return False
        y, earlier = made, own
    return True


def packed(model: Any, inputs: Mapping[str, Tensor], precision: Precision) -> NDArray[np.float32]:
    """The first output of a graph whose weights have been packed and unpacked."""
    ready = session(rounded(model, precision))
    known = {value.name for value in ready.get_inputs()}
    feeds = {name: value.cpu().numpy() for name, value in inputs.items() if name in known}
    output: NDArray[np.float32] = ready.run(None, feeds)[0]
    return output
