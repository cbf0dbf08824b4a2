"""What the report shows of a model, as arrays on disk: the report itself never loads a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unbraid.core import Decodes, HasClasses
from unbraid.evaluation.class_priors import class_pictures
from unbraid.evaluation.evaluate import works_without_labels
from unbraid.metrics import stage_prefix
from unbraid.runs.chain import Chain, Codes, drawn_codes, flat, has_learned_prior, means, unflat
from unbraid.runs.codes import CodeTable
from unbraid.runs.directory import RunDirectory
from unbraid.runs.products import kept_arrays
from unbraid.training.batches import as_stored
from unbraid.util.files import write_arrays
from unbraid.util.seeds import mix, stream

ORIGINALS, STEPS = 10, 9
# Codes that hardly vary are moved this far to both sides, so that they are seen to do nothing; all others where the
# data lie, because a decoder has never seen anything beyond.
LEAST_RANGE, UNUSED = 2.0, 0.1
# A flow has as many codes as an observation has values, and a fast second stage 192; nobody looks at so many rows.
MOST_CODES, MOST_LATER_CODES = 64, 12


def write_pictures(run: RunDirectory) -> Path:
    """Reconstructions by every stage, traversals of every code, and classes, in pictures.npz; kept if already there."""
    path = run.folder / "pictures.npz"
    kept = kept_arrays(path, run.is_current)
    shown = shown_rows(int(run.plan.data["n"]))
    hides = run.plan.held_out is not None and run.plan.held_out.count >= ORIGINALS  # then these are shown
    if (
        kept is not None
        and "originals" in kept
        and not lacks_classes(run, kept)
        and ("held_out" in kept if hides else np.array_equal(kept.get("rows", ()), shown))
    ):
        return path
    # As for new observations: without labels, unless codes are labels.
    reads = run.chain.needs_labels and not works_without_labels(run)
    table = run.codes(labels=reads, show=False)
    if hides:
        shown = run.held_out_rows[shown_rows(len(run.held_out_rows))]
    originals = np.ascontiguousarray(run.data.observations[shown])
    arrays: dict[str, NDArray[Any]] = {"originals": originals, "rows": shown, "key": np.array(run.key)}
    arrays |= {"held_out": np.array(True)} if hides else {}
    x, labels = next(run.batches(shown, "", labels=reads, show=False))
    torch.manual_seed(mix(run.plan.seed, "pictures"))
    if not isinstance(run.chain.stages[-1], Decodes):  # a method that only encodes has codes to show, no pictures
        write_arrays(path, arrays)
        return path
    outputs = [as_stored(y) for y in run.chain.reconstruct(x, labels)]
    arrays |= {f"reconstruction/{number}": output for number, output in enumerate(outputs, 1)}
    if has_learned_prior(run.chain.stages[-1]):
        arrays["drawn"] = as_stored(drawn_detail(run.chain, x, labels))
    base = [means(q) for q in run.chain.encode(x[:1], labels[:1])]
    for stage in range(1, len(run.plan.stages) + 1):
        which = shown_codes(table, stage)
        values = code_ranges(table, stage, STEPS)[which]
        moved = traversal(run.chain, base, stage, values, which)
        if stage < len(run.plan.stages) and run.chain.stages[-1].config.replaces_codes:
            moved = moved[:-1]  # a student that has relearned the codes does not heed its teacher's
        arrays |= {f"traversal/{stage}/values": values, f"traversal/{stage}/codes": which}
        arrays |= {f"traversal/{stage}/{number}": output for number, output in enumerate(moved, stage)}
    write_arrays(path, arrays | class_pictures(run))
    return path


def shown_rows(n: int) -> NDArray[np.int64]:
    """The observations that are shown: the same for every run of a data set, so that runs can be set side by side."""
    return np.sort(stream(0, "pictures").permutation(n)[:ORIGINALS])


def lacks_classes(run: RunDirectory, arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Whether these pictures were made before runs with classes showed them."""
    return isinstance(run.stage(1), HasClasses) and "classes/1/code" not in arrays


@torch.inference_mode()
def drawn_detail(chain: Chain, x: Tensor, labels: Tensor) -> Tensor:
    """What the last stage makes of its y with z drawn from the p(z | y) that it has learned."""
    codes = [means(q) for q in chain.encode(x, labels)]
    y = chain.decode(codes)[-2]
    return chain.decode([*codes[:-1], drawn_codes(chain.stages[-1], len(x), y)])[-1]


def shown_codes(table: CodeTable, stage: int) -> NDArray[np.int64]:
    """The codes of a stage that are shown, by their places: all, or the most informative where there are many."""
    most = MOST_CODES if stage == 1 else MOST_LATER_CODES
    own = table.table(stage)
    count = own.codes.shape[1]
    if count <= most or own.information is None:
        return np.arange(min(count, most))
    return np.sort(np.argsort(-own.information)[:most])


def code_ranges(table: CodeTable, stage: int, steps: int) -> NDArray[np.float32]:
    """The values that each code of a stage takes in its traversal, [code, step]: where 98 % of the data lie."""
    prefix = stage_prefix(stage)
    codes = table.arrays[f"{prefix}codes"]
    low, high = np.quantile(codes, [0.01, 0.99], axis=0)
    still = codes.std(axis=0) < UNUSED
    low, high = (
        np.where(still, np.minimum(low, -LEAST_RANGE), low),
        np.where(still, np.maximum(high, LEAST_RANGE), high),
    )
    if f"{prefix}bounds" in table.arrays:  # older tables have none
        low, high = np.clip([low, high], *table.arrays[f"{prefix}bounds"].T)
    return np.linspace(low, high, steps, axis=1).astype(np.float32)


def traversal(
    chain: Chain,
    base: Sequence[Codes],
    stage: int,
    values: NDArray[np.float32],
    codes: NDArray[np.int64] | None = None,
) -> list[NDArray[Any]]:
    """What every stage from `stage` on makes of codes of that stage as each takes its values, [code, step, …].

    Args:
        chain: the trained stages.
        base: the codes of one observation in every stage; all but the moved one stay as they are.
        stage: whose codes are moved, from 1.
        values: [code, step].
        codes: which codes these are, by their places; the first ones if left out.
    """
    count, steps = values.shape
    places = torch.arange(count) if codes is None else torch.from_numpy(codes)
    moved = flat(base[stage - 1]).repeat(count * steps, 1)  # [code·step, code]
    which = places.repeat_interleave(steps)
    moved[torch.arange(count * steps), which] = torch.from_numpy(values.ravel()).to(moved.device)
    pieces: list[list[NDArray[Any]]] = []
    for part in moved.split(256):
        all_codes = [{key: value.expand(len(part), -1) for key, value in group.items()} for group in base]
        all_codes[stage - 1] = unflat(part, base[stage - 1])
        pieces.append([as_stored(output) for output in chain.decode(all_codes)[stage - 1 :]])
    return [
        np.concatenate(outputs).reshape(count, steps, *outputs[0].shape[1:]) for outputs in zip(*pieces, strict=True)
    ]
