"""LPIPS of a run, by a network that the user gives: its weights cannot be had everywhere, so it is optional."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid import metrics
from unbraid.errors import InputError
from unbraid.evaluation.evaluate import outputs, stage_name
from unbraid.metrics.score import Score
from unbraid.runs.codes import choose_rows

if TYPE_CHECKING:
    from unbraid.runs.directory import Run

BATCH = 32


def perceptual_scores(run: Run, file: Path | None, images: int, show: bool, *, labels: bool = True) -> dict[str, Score]:
    """Mean distance between observations and reconstructions, of the final output and of every stage before it."""
    if file is None or not file.is_file():
        raise InputError(
            "lpips needs its network: give a TorchScript file that maps two batches of images in [−1, 1] to a distance "
            "for each pair with --lpips FILE (torch.jit.trace of the lpips package's network is one)."
        )
    if not run.data.is_image:
        raise InputError("lpips compares images; this run's observations are vectors.")
    try:
        network = torch.jit.load(file, map_location="cpu").eval()
    except RuntimeError as error:
        raise InputError(f"{str(file)!r} is not a TorchScript file ({str(error).splitlines()[0]}).") from error
    rows = choose_rows(len(run.data), images, run.plan.seed)
    stages = outputs(run, rows, show, labels=labels)
    return {
        stage_name("lpips", number, len(stages)): metrics.lpips(
            distances(network, run.data.observations[rows], stage), seed=run.plan.seed
        )
        for number, stage in enumerate(stages, 1)
    }


@torch.inference_mode()
def distances(network: Any, a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.float64]:
    """The network's distance of each pair of uint8 images, [n]; grey ones are given three equal channels."""
    parts = []
    for start in range(0, len(a), BATCH):
        pair = [torch.from_numpy(np.ascontiguousarray(x[start : start + BATCH])) for x in (a, b)]
        left, right = (x.permute(0, 3, 1, 2).float().div(127.5).sub(1).expand(-1, 3, -1, -1) for x in pair)
        parts.append(network(left, right).flatten().double().numpy())
    return np.concatenate(parts)
