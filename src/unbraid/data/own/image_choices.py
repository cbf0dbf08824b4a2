"""What a folder of images leaves open is chosen here and said: channels where they differ, ends of deeper values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from unbraid.data import cache
from unbraid.data.own.blocks import row_blocks
from unbraid.data.own.pixels import DEEP, GREY, UNREADABLE, WITH_ALPHA
from unbraid.data.preprocessing import Preprocessing
from unbraid.errors import InputError
from unbraid.util.lists import split_list

BEYOND = 0.0005  # of all pixels at either end: what may be clipped so that a hot pixel does not darken the rest
DARK = 64  # images whose values stay below it are hardly meant to go from 0 to 255
MOST_VALUES, LEAST_PER_IMAGE = 1 << 22, 256  # values that are looked at, in all and of one image


@dataclass(frozen=True)
class Choices:
    """How the images of a folder are treated, and what is said of that."""

    how: Preprocessing
    notes: tuple[str, ...] = ()


def choose(files: Sequence[Path], how: Preprocessing) -> Choices:
    """Settle what was not asked for by looking at the images.

    Args:
        files: the images of a folder.
        how: what was asked for.

    Returns:
        Channels if some images are grey and others coloured; a stretch if there are images with more than 8 bits.
    """
    kinds = image_kinds(files)
    clipped = sum(kind in ("RGB;16", "RGBA;16") for kind, _ in kinds)
    grey = sum(kind in GREY for kind, _ in kinds)
    clear, deep = (
        sum(alpha for _, alpha in kinds),
        [f for f, (kind, _) in zip(files, kinds, strict=True) if kind in DEEP],
    )
    notes = []
    if how.channels is None and 0 < grey < len(files):
        how = replace(how, channels=3)
        notes.append(
            f"{grey:,} of {len(files):,} images are grey, the others coloured: all become coloured "
            "(--data.channels 1 makes them grey)"
        )
    if clear:
        other = "black" if how.background == "white" else "white"
        notes.append(
            f"{clear:,} of {len(files):,} images may be transparent in parts, which become {how.background} "
            f"(--data.background {other})"
        )
    if clipped:
        notes.append(f"{clipped:,} coloured images have 16 bits a channel, of which the upper 8 are read")
    if deep and how.stretch is None and how.depth != 16:
        how = replace(how, stretch=value_ends(deep_values(file, per_image(len(deep))) for file in deep))
        notes.append(stretch_note(f"{len(deep):,} images have more than 8 bits", how.stretch))
    return Choices(how, tuple(notes))


def wanted_ends(stretch: str | Sequence[float]) -> tuple[float, float] | None:
    """What becomes black and white, as it was asked for; None if that is to be chosen.

    Example:
        >>> wanted_ends([0, 4095]), wanted_ends("auto")
        ((0.0, 4095.0), None)
    """
    if stretch == "auto":
        return None
    ends = split_list(stretch) if isinstance(stretch, str) else list(stretch)
    try:
        low, high = (float(end) for end in ends)
    except ValueError:
        raise InputError(f"stretch={stretch!r} must be 'auto' or what becomes black and white, as in 0,4095.") from None
    if low >= high:
        raise InputError(f"stretch={stretch!r}: black must be less than white.")
    return low, high


def stretch_note(what: str, ends: tuple[float, float] | None) -> str:
    """What is said of a stretch that was chosen."""
    black, white = ends or (0.0, 0.0)
    return (
        f"{what}: {black:,.6g} becomes black and {white:,.6g} white, {1 - 2 * BEYOND:.1%} of the values lie between "
        "(--data.stretch 0,65535 sets other ends)"
    )


def dark_note(images: NDArray[np.uint8]) -> list[str]:
    """One line on images that use a small part of the range from 0 to 255, which somebody may not have meant."""
    high = int(images[:: max(1, len(images) // 256)].max())  # of a few: whoever has a million images need not wait
    if not 0 < high <= DARK:
        return []
    return [f"values reach {high} of 255, so that images are dark; --data.value-range 0,{high} makes that white"]


def image_kinds(files: Sequence[Path]) -> list[tuple[str, bool]]:
    """The mode of every image and whether it has an alpha channel, from its header; all that have none are named."""
    with ThreadPoolExecutor(min(cache.cores(), 8)) as pool:
        found = list(pool.map(image_kind, files))
    broken = [file for file, kind in zip(files, found, strict=True) if kind is None]
    if broken:
        more = len(broken) - 1
        others = f" ({more:,} more like it)" if more else ""
        which = "them" if more else "it"
        empty = broken[0].stat().st_size == 0
        what = "is empty (0 bytes)" if empty else "cannot be read as an image"
        raise InputError(f"{str(broken[0])!r} {what}{others}; remove {which} or copy {which} again.")
    return [kind for kind in found if kind is not None]


def image_kind(file: Path) -> tuple[str, bool] | None:
    """The mode of an image and whether it has an alpha channel; None if it is no image."""
    try:
        with Image.open(file) as opened:
            coded = str(opened.tile[0][3]) if opened.tile and opened.mode in ("RGB", "RGBA") else ""
            mode = f"{opened.mode};16" if ";16" in coded else opened.mode  # Pillow gives their upper bytes
            return mode, opened.mode in WITH_ALPHA or "transparency" in opened.info
    except PermissionError as error:
        raise InputError(f"no permission to read {str(file)!r}; change its permissions.") from error
    except UNREADABLE:
        return None


def deep_values(file: Path, most: int) -> NDArray[np.generic]:
    """Values of a deeper image, evenly chosen if there are more than `most`."""
    try:
        with Image.open(file) as opened:
            values = np.asarray(opened).ravel()
    except UNREADABLE as error:
        raise InputError(f"{str(file)!r} cannot be read as an image; remove it or copy it again.") from error
    return some(values, most)


def some(values: NDArray[np.generic], most: int) -> NDArray[np.generic]:
    """At most about so many of the values, evenly chosen."""
    return values[:: max(1, len(values) // most)]


def per_image(count: int) -> int:
    """How many values of each of so many images are looked at."""
    return max(LEAST_PER_IMAGE, MOST_VALUES // max(1, count))


def value_ends(parts: Iterable[NDArray[np.generic]]) -> tuple[float, float]:
    """What becomes black and white: all values but the least and the greatest few lie between.

    Example:
        >>> value_ends([np.arange(10_000), np.array([60_000])])
        (5.0, 9995.0)
    """
    values = np.concatenate([part.astype(np.float64) for part in parts])
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = (float(end) for end in np.quantile(values, [BEYOND, 1 - BEYOND], method="nearest"))
    return (low, high) if high > low else (low, low + 1)


def dark_end(x: NDArray[Any]) -> float | None:
    """What becomes white in an array of images that are no bytes and end far below 255; None for any other.

    Example:
        >>> dark_end(np.array([0.0, 16.0])), dark_end(np.array([0, 16], np.uint8)), dark_end(np.array([0.0, 1.0]))
        (16.0, None, None)
    """
    if x.dtype.kind not in "iuf" or x.dtype == np.uint8 or not x.size:
        return None
    high = -np.inf
    for _, block in row_blocks(x):
        if not (block.min() >= 0 and block.max() <= DARK):
            return None
        high = max(high, float(block.max()))
    return high if high > 1 else None


def dark_end_note(white: float) -> str:
    """What is said of that."""
    return f"values reach {white:g}, which becomes white (--data.value-range 0,255 leaves the images dark)"


def array_ends(x: NDArray[Any]) -> tuple[float, float] | None:
    """What becomes black and white in an array of images of 16 bits or more; None for any other."""
    if x.dtype.kind not in "iu" or x.dtype.itemsize < 2 or not x.size:
        return None
    if all(block.min() >= 0 and block.max() <= 255 for _, block in row_blocks(x)):
        return None
    return value_ends(some(np.asarray(image).ravel(), per_image(len(x))) for image in x)
