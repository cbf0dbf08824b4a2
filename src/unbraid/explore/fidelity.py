"""What packing weights more tightly costs: measured before a page is written that way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import ceil
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid.explore.content import code_arrays
from unbraid.explore.graphs import Decoder, Encoder, Example, StageGraphs, examples, session
from unbraid.explore.material import Material
from unbraid.explore.packing import FINEST, Levels, large_tensors, rounded
from unbraid.runs.chain import Codes, unflat, with_earlier_codes
from unbraid.runs.codes import CodeTable
from unbraid.runs.directory import RunDirectory
from unbraid.util.seeds import mix

MOVED = 0.3  # the share of the codes that is set at random
DECODED = (
    1.8 / 255
)  # what packing may change of an image, so that others stay within 2; of a vector, as much of its range
ENCODED = 0.02  # what it may change of a code, as a part of its slider's range
COARSEST = 7  # whole numbers from −7 to 7 at least
FIRST_TRY, NEXT_TRY, LAST_TRY = 2.0, 0.85, 0.1  # parts of the bound that levels are first reckoned for, and then


def choose_levels(
    run: RunDirectory,
    graphs: Sequence[StageGraphs],
    described: Mapping[str, Any],
    table: CodeTable,
    material: Material,
) -> list[dict[str, Levels]]:
    """The tightest packing of each stage's `encoder` and `decoder` that still encodes and decodes alike.

    Alike for observations, and for sliders set anyhow.
    """
    random = np.random.default_rng(mix(run.plan.seed, "packing"))
    given = examples(run.chain, material.inputs(run), None)
    stages = described["stages"]
    moved = [
        moved_codes(table.arrays[name][material.places], stage["codes"], random)
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
) -> Levels:
    """The tightest packing with which the encoder of a stage finds the same codes."""
    if graph.encoder is None:
        return {}
    encoder, inputs = graph.encoder, example.encoder_inputs
    exact = Encoder(run.chain.stages[number])(**inputs)[0].cpu().numpy()
    spans = np.array([max(slider["high"] - slider["low"], 1e-6) for slider in sliders])
    return tightest(encoder, lambda levels: change(packed(encoder, inputs, levels) / spans, exact / spans), ENCODED)


@torch.no_grad()
def choose_decoders(
    run: RunDirectory, graphs: Sequence[StageGraphs], given: Sequence[Example], moved: Sequence[NDArray[np.float32]]
) -> list[Levels]:
    """The tightest packing of each decoder; errors of earlier stages go on into later ones, and count there."""
    chosen: list[Levels] = []
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
        span = 1.0 if run.is_image else float(np.ptp(exact))
        allowed = DECODED * span * number / len(graphs)  # something is left for the stages to come
        make = partial(packed, graph.decoder, Example(example.x, packed_y, None, own, before).decoder_inputs)
        chosen.append(tightest(graph.decoder, partial(change_of, make, exact), allowed))
        packed_y, earlier = torch.from_numpy(make(chosen[-1])), own
    return chosen


def tightest(model: Any, error: Callable[[Levels], float], allowed: float) -> Levels:
    """How coarse each large tensor may be for the fewest bytes in all.

    An error falls as the number of levels rises, e = a / levels, and errors of tensors add up as their squares do. The
    fewest bits, Σ n log levels, under a bound on Σ e² give each tensor a part of it in proportion to its number of
    values n. So every a is measured once, the bound is spent that way, and lowered until what is measured keeps to it.

    Args:
        model: the graph.
        error: the largest change of its output with these levels.
        allowed: of that change.
    """
    sizes = large_tensors(model)
    whole = sum(sizes.values())
    slopes = {name: FINEST * error({name: FINEST}) for name in sizes}
    spent = FIRST_TRY * allowed
    while spent > LAST_TRY * allowed:
        wanted = {name: slopes[name] / spent * (whole / size) ** 0.5 for name, size in sizes.items()}
        levels = {name: max(COARSEST, ceil(most)) for name, most in wanted.items() if most <= FINEST}
        if error(levels) <= allowed:
            return levels
        spent *= NEXT_TRY
    return {}


def change_of(make: Callable[[Levels], NDArray[Any]], exact: NDArray[Any], levels: Levels) -> float:
    """How far what is made with these levels is from the exact output, at most."""
    return change(make(levels), exact)


def change(made: NDArray[Any], exact: NDArray[Any]) -> float:
    """The largest difference between two arrays."""
    return float(np.abs(made - exact).max())


def packed(model: Any, inputs: Mapping[str, Tensor], levels: Levels) -> NDArray[np.float32]:
    """The first output of a graph whose weights have been packed and unpacked."""
    ready = session(rounded(model, levels))
    known = {value.name for value in ready.get_inputs()}
    feeds = {name: value.cpu().numpy() for name, value in inputs.items() if name in known}
    output: NDArray[np.float32] = ready.run(None, feeds)[0]
    return output
