"""LPIPS of a run, by a network that the user gives: its weights cannot be had everywhere, so it is optional."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid import metrics
from unbraid.errors import InputError
from unbraid.evaluation.measure import LEAST_FOR_AVERAGES, Measure, MeasureOptions
from unbraid.evaluation.parts import chosen_rows
from unbraid.evaluation.reconstruction import outputs, stage_key
from unbraid.metrics import Score
from unbraid.runs.directory import RunDirectory

BATCH = 32


def compute(run: RunDirectory, names: Sequence[str], options: MeasureOptions, labels: bool) -> dict[str, Score]:
    """Mean distance between observations and reconstructions, of the final output and of every stage before it."""
    network = load_network(options.lpips)
    rows = chosen_rows(run, options, options.images)
    stages = outputs(run, rows, options.show, labels=labels)
    return {
        stage_key("lpips", number, len(stages)): metrics.lpips(
            checked_distances(network, run.data.observations[rows], stage, options.lpips), seed=run.plan.seed
        )
        for number, stage in enumerate(stages, 1)
    }


def refusal(run: RunDirectory, name: str) -> str | None:
    """Only images have a perceptual distance."""
    return None if run.is_image else "lpips compares images; this run's observations are vectors."


def load_network(file: Path | None) -> Any:
    """The perceptual network in a TorchScript file."""
    if file is None or not file.is_file():
        raise InputError(
            "lpips needs its network: give a TorchScript file that maps two batches of images in [−1, 1] to a distance "
            "for each pair with --lpips FILE (torch.jit.trace of the lpips package's network is one)."
        )
    try:
        return torch.jit.load(file, map_location="cpu").eval()
    except (RuntimeError, ValueError, OSError) as error:
        raise InputError(f"{str(file)!r} is not a TorchScript file ({str(error).splitlines()[0]}).") from error


def checked_distances(network: Any, a: NDArray[Any], b: NDArray[Any], file: Path | None) -> NDArray[np.float64]:
    """The network's distances, or a sentence if it is not one that compares two batches of images."""
    try:
        found = distances(network, a, b)
    except Exception as error:  # whatever a foreign network raises
        why = (str(error).strip() or type(error).__name__).splitlines()[-1]
        raise InputError(
            f"{str(file)!r} does not compare two batches of images ({why}): give another --lpips."
        ) from error
    if found.shape != (len(a),) or not np.isfinite(found).all():
        raise InputError(f"{str(file)!r} does not give one finite distance for each pair: give another --lpips.")
    return found


@torch.inference_mode()
def distances(network: Any, a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.float64]:
    """The network's distance of each pair of uint8 images, [n]; grey ones are given three equal channels."""
    parts = []
    for start in range(0, len(a), BATCH):
        pair = [torch.from_numpy(np.ascontiguousarray(x[start : start + BATCH])) for x in (a, b)]
        left, right = (x.permute(0, 3, 1, 2).float().div(127.5).sub(1).expand(-1, 3, -1, -1) for x in pair)
        parts.append(network(left, right).flatten().double().numpy())
    return np.concatenate(parts)


MEASURE = Measure(
    ("lpips",),
    compute,
    refusal,
    needs_file=lambda options: options.lpips is None,
    least_rows=LEAST_FOR_AVERAGES,
)
