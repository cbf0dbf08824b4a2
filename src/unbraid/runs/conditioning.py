"""What the stages before a stage make of the data: computed once, kept, and shared by every run that reuses them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.core import LaterStage
from unbraid.errors import InputError
from unbraid.runs.directory import RunDirectory
from unbraid.runs.products import checked_array
from unbraid.training import checkpoint
from unbraid.training.batches import as_stored
from unbraid.util.arrays import growing_array
from unbraid.util.files import file_digest, write_json
from unbraid.util.progress import Steps
from unbraid.util.seeds import mix

BATCH = 256
Layout = tuple[tuple[int, ...], np.dtype[Any]]  # shape and type of an array


def stage_inputs(
    run: RunDirectory, number: int, show: bool
) -> tuple[NDArray[np.uint8] | NDArray[np.float32], NDArray[np.float32] | None]:
    """What stage `number` is given: y [draws·n, …] and, where the stage uses them, the codes it came from.

    Both stand in the folder of the stage before, as that stage's product, with their digests in its stage.json.
    """
    config = run.plan.stages[number - 1][0]
    if not isinstance(config, LaterStage):
        raise InputError(f"{config.name} is not made to follow another stage.")
    total = config.draws * len(run.data)
    wanted = {"y": ((total, *run.data.observations.shape[1:]), run.data.observations.dtype)}
    if config.uses_codes:
        wanted["codes"] = (total, run.codes_before(number)), np.dtype(np.float32)
    arrays = {f"{kind}-{config.condition}-{config.draws}.npy": layout for kind, layout in wanted.items()}
    found = kept_inputs(run, number - 1, arrays)
    if found is None:
        _make(run, number, config, arrays, show)
        found = kept_inputs(run, number - 1, arrays)
    if found is None:
        raise InputError(
            f"y was written to {str(run.stage_folder(number - 1))!r} and cannot be read back: check the disk."
        )
    return found[0], found[1] if config.uses_codes else None


def kept_inputs(run: RunDirectory, number: int, arrays: Mapping[str, Layout]) -> list[NDArray[Any]] | None:
    """The arrays of these names in the folder of stage `number`, if all are there, whole, and of its weights."""
    recorded = run.stage_record(number).get("files")
    found: list[NDArray[Any]] = []
    for name, (shape, dtype) in arrays.items():
        facts = (recorded or {}).get(name, {})
        # Stages that were finished before digests were recorded have no such list, and their y is taken as it is.
        if recorded is not None and facts.get("made_from") != run.made_from(number):
            return None
        array = checked_array(run.stage_folder(number) / name, shape, dtype, facts.get("sha256"))
        if array is None:
            return None
        found.append(array)
    return found


def _make(run: RunDirectory, number: int, config: LaterStage, arrays: Mapping[str, Layout], show: bool) -> None:
    earlier, n, folder = run.chain_before(number), len(run.data), run.stage_folder(number - 1)
    total = config.draws * n
    torch.manual_seed(mix(run.plan.seed, "y"))
    with ExitStack() as stack:
        bar = stack.enter_context(Steps(f"y for stage {number}", total, show=show))
        append = [stack.enter_context(growing_array(folder / name, *layout)) for name, layout in arrays.items()]
        for start in range(0, total, BATCH):
            rows = np.arange(start, min(start + BATCH, total)) % n
            y, codes = earlier.condition(run.observations(rows), run.labels(rows, shown=True), config.condition)
            for add, part in zip(append, (as_stored(y), codes.float().cpu().numpy()), strict=False):
                add(part)
            bar.advance(start + len(rows))
    made_from = run.made_from(number - 1)
    facts = {name: {"sha256": file_digest(folder / name), "made_from": made_from} for name in arrays}
    record = run.stage_record(number - 1)
    weights = {checkpoint.WEIGHTS: {"sha256": file_digest(folder / checkpoint.WEIGHTS)}}
    write_json(folder / "stage.json", {**record, "files": {**(record.get("files") or weights), **facts}})
