"""What the stages before a stage make of the data: computed once, kept, and shared by every run that reuses them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.core import LaterStage
from unbraid.errors import InputError
from unbraid.runs.directory import RunDirectory
from unbraid.training.batches import as_stored
from unbraid.util.files import complete_file
from unbraid.util.progress import Steps
from unbraid.util.seeds import mix

BATCH = 256


def stage_inputs(
    run: RunDirectory, number: int, show: bool
) -> tuple[NDArray[np.uint8] | NDArray[np.float32], NDArray[np.float32] | None]:
    """What stage `number` is given: y [draws·n, …] and, where the stage uses them, the codes it came from.

    Both stand in the folder of the stage before, as that stage's product.
    """
    config = run.plan.stages[number - 1][0]
    if not isinstance(config, LaterStage):
        raise InputError(f"{config.name} is not made to follow another stage.")
    name = f"{config.condition}-{config.draws}.npy"
    kinds = ("y", "codes") if config.uses_codes else ("y",)
    paths = [run.stage_folder(number - 1) / f"{kind}-{name}" for kind in kinds]
    if not all(path.is_file() for path in paths):
        _make(run, number, config, paths, show)
    arrays = [np.load(path, mmap_mode="c") for path in paths]
    return arrays[0], arrays[1] if config.uses_codes else None


def _make(run: RunDirectory, number: int, config: LaterStage, paths: Sequence[Path], show: bool) -> None:
    earlier, n = run.chain_before(number), len(run.data)
    total = config.draws * n
    shapes = [run.data.observations.shape[1:], (run.codes_before(number) if config.uses_codes else 0,)]
    types = [run.data.observations.dtype, np.dtype(np.float32)]
    torch.manual_seed(mix(run.plan.seed, "y"))
    with ExitStack() as stack:
        bar = stack.enter_context(Steps(f"y for stage {number}", total, show=show))
        places = [stack.enter_context(complete_file(path)) for path in paths]
        files = [
            np.lib.format.open_memmap(place, "w+", dtype, (total, *shape))
            for place, dtype, shape in zip(places, types, shapes, strict=False)
        ]
        for start in range(0, total, BATCH):
            rows = np.arange(start, min(start + BATCH, total)) % n
            y, codes = earlier.condition(run.observations(rows), run.labels(rows, shown=True), config.condition)
            for file, part in zip(files, (as_stored(y), codes.float().cpu().numpy()), strict=False):
                file[start : start + len(rows)] = part
            bar.advance(start + len(rows))
        for file in files:
            file.flush()
