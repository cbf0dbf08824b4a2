"""Pictures of a run as files, for pages and talks."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image

from unbraid.errors import InputError
from unbraid.report.draw.figures import reconstruction_picture, traversal_picture
from unbraid.report.read.content import RunFiles
from unbraid.report.read.directory import read_run
from unbraid.report.sections.heat import meanings
from unbraid.report.sections.pictures import given_names
from unbraid.util.files import write_bytes


def write_figures(run_directory: Path, out: Path | None = None, latents: int = 6) -> list[Path]:
    """Write `reconstructions.png` and `traversals.png` of a run of images.

    Args:
        run_directory: what `fit` wrote, with pictures.npz.
        out: the folder to write to; `figures` in the run directory if left out.
        latents: how many latents to show, most informative first; they are called by what they know.

    Returns:
        The files written.
    """
    run = read_run(run_directory)
    if run.pictures is None or not run.pictures.are_images:
        raise InputError(f"'{run_directory}' holds no pictures of images; figures need pictures.npz of an image run.")
    home = out or run.directory / "figures"
    pictures = {"reconstructions.png": _reconstructions(run), "traversals.png": _traversals(run, latents)}
    written = []
    for name, picture in pictures.items():
        if picture is not None:
            buffer = io.BytesIO()
            picture.save(buffer, format="PNG", optimize=True)
            written.append(write_bytes(home / name, buffer.getvalue()))
    return written


def _reconstructions(run: RunFiles) -> Image.Image | None:
    assert run.pictures is not None
    originals, made = run.pictures.originals, list(run.pictures.reconstructions.values())
    if originals is None or not made:
        return None
    return reconstruction_picture(originals, made, scale=max(1, 128 // originals.shape[1]))


def _traversals(run: RunFiles, latents: int) -> Image.Image | None:
    assert run.pictures is not None
    outputs = [array for (moved, _), array in run.pictures.traversals.items() if moved == 1]
    if not outputs:
        return None
    known, told = run.tables.get(1), meanings(run) | given_names(run, 1)
    return traversal_picture(
        outputs,
        names=None if known is None else [told.get(column, column) for column in known.columns],
        information=known.information if known else None,
        latents=latents,
        scale=max(1, 128 // outputs[0].shape[2]),
    )
