"""Rows of images for a study's page: the codes of every group's first run, moved one at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from unbraid.api import Run
from unbraid.papers import plots, tables
from unbraid.papers.study import Finished


def traversals(path: Path, finished: Sequence[Finished], *, row: int, codes: int, steps: int = 9) -> None:
    """Draw, for the first run of every group, the codes that tell most of the observation.

    Args:
        path: where the picture goes.
        finished: the runs.
        row: the observation whose codes are moved.
        codes: how many of them.
        steps: values that each takes.
    """
    rows = []
    for group, runs in tables.groups(finished).items():
        run = Run.open(runs[0].folder)
        order = np.argsort(-run.encode(show=False).arrays["information"])[:codes]
        (made,) = run.traverse(np.ascontiguousarray(run.data.observations[[row]]), steps=steps)
        rows += [(f"{group}  z{code + 1}", made[code]) for code in order]
    plots.image_rows(path, rows, size=0.45)
