"""A folder of images to one packed array: decoded once, in parallel, then opened memory-mapped."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data import cache
from unbraid.data.factor_data import FactorData
from unbraid.data.own.columns import factor_table
from unbraid.data.own.image_choices import Choices, choose, wanted_ends
from unbraid.data.own.pixels import decode
from unbraid.data.own.tables import join_labels
from unbraid.data.preprocessing import Preprocessing
from unbraid.errors import InputError
from unbraid.util.files import part_file
from unbraid.util.schema import from_json, to_json

SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm", ".pbm"}


def load_folder(
    path: Path,
    *,
    resize: int | Sequence[int] | None = None,
    crop: str = "centre",
    channels: int | None = None,
    depth: int = 8,
    stretch: str | Sequence[float] = "auto",
    background: str = "white",
    labels: str | Path | None = None,
    extra_labels: str = "refuse",
    kinds: Mapping[str, str] | None = None,
) -> FactorData:
    """The images of a folder and of the folders in it, which then are classes.

    Args:
        path: the folder.
        resize: a side, or height and width, to which images of any size are brought by Pillow's antialiased bilinear
            filter.
        crop: what becomes of other proportions: "centre" cuts off evenly what sticks out, "none" stretches.
        channels: 1 for grey, 3 for colour; as they are by default, and coloured if some are.
        depth: 16 takes the whole range of 16-bit images, from 0 to 65535.
        stretch: what becomes black and white of images with more than 8 bits, as low and high; "auto" takes where
            99.9 % of their values lie.
        background: what transparent parts become, "white" or "black".
        labels: a CSV or Parquet table that is joined by file name.
        extra_labels: "ignore" admits labels of images that are not there.
        kinds: of factors by name, as in `from_arrays`.

    Returns:
        The data set; its images are decoded once and then mapped from the cache.
    """
    files = image_files(path)
    size = wanted_size(resize)
    if crop not in ("centre", "none"):
        raise InputError(f"crop={crop!r} is unknown; choose 'centre' or 'none'.")
    if channels not in (None, 1, 3):
        raise InputError(f"channels={channels!r} is not possible; choose 1 for grey or 3 for colour.")
    if depth not in (8, 16):
        raise InputError(f"depth={depth!r} is not possible; choose 8 or 16 bits.")
    if background not in ("white", "black"):
        raise InputError(f"background={background!r} is unknown; choose 'white' or 'black'.")
    if extra_labels not in ("refuse", "ignore"):
        raise InputError(f"extra_labels={extra_labels!r} is unknown; choose 'refuse' or 'ignore'.")
    columns: dict[str, Any] = folder_classes(path, files)
    if labels is not None:
        names = [file.relative_to(path).as_posix() for file in files]
        columns |= join_labels(Path(labels), names, refuse_extra=extra_labels == "refuse")
    table, info = factor_table(columns, len(files), kinds)
    ends = wanted_ends(stretch)
    asked = Preprocessing(resize=size, crop=crop, channels=channels, depth=depth, stretch=ends, background=background)
    images, content, chosen = pack_images(path, files, asked)
    digest = hashlib.blake2b(content.encode() + table.tobytes() + repr(info).encode(), digest_size=16)
    return FactorData(
        str(path),
        images,
        table,
        info,
        known_fingerprint=digest.hexdigest(),
        preprocessing=chosen.how,
        notes=chosen.notes,
    )


def image_files(path: Path) -> list[Path]:
    """The image files under a folder, sorted by name; hidden ones are left out."""
    try:
        found = sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
        if not found:
            next(path.iterdir(), None)  # a folder without permission looks empty to rglob
    except PermissionError as error:
        raise InputError(f"no permission to read {str(path)!r}; change its permissions.") from error
    found = [file for file in found if not any(part.startswith(".") for part in file.relative_to(path).parts)]
    if not found:
        raise InputError(f"the folder {str(path)!r} holds no images ({', '.join(sorted(SUFFIXES))}).")
    return found


def wanted_size(resize: int | Sequence[int] | None) -> tuple[int, int] | None:
    """The size that images are brought to.

    Args:
        resize: a side, a height and a width, or None to take images as they are.

    Returns:
        (height, width) or None.

    Example:
        >>> wanted_size(64), wanted_size([48, 64])
        ((64, 64), (48, 64))
    """
    if resize is None:
        return None
    sides = (resize, resize) if isinstance(resize, int) else tuple(resize)
    if len(sides) != 2 or not all(isinstance(side, int) and side > 0 for side in sides):
        given = ",".join(map(str, sides)) if not isinstance(resize, int) else resize
        raise InputError(f"resize={given} must be a side in pixels, or a height and a width, as in 64 or 48,64.")
    return sides[0], sides[1]


def folder_classes(path: Path, files: list[Path]) -> dict[str, list[str | None]]:
    """The folder of each file as its class.

    Args:
        path: the folder of the data set.
        files: the images in it.

    Returns:
        A column `class`, None for files that lie in no folder of their own; nothing if all lie in one folder.

    Example:
        >>> folder_classes(Path("pets"), [Path("pets/cat/1.png"), Path("pets/dog/1.png")])
        {'class': ['cat', 'dog']}
    """
    folders = [file.parent.relative_to(path).as_posix() for file in files]
    if len(set(folders)) < 2:
        return {}
    return {"class": [None if folder == "." else folder for folder in folders]}


def pack_images(path: Path, files: list[Path], asked: Preprocessing) -> tuple[NDArray[np.uint8], str, Choices]:
    """The decoded images, a digest of their content, and what was chosen; from the cache where files are unchanged."""
    stats = [(file.relative_to(path).as_posix(), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    key = hashlib.blake2b(repr((stats, asked)).encode(), digest_size=8).hexdigest()
    stem = f"packed/{path.resolve().name}-{key}"
    note = cache.place(f"{stem}.json")
    kept = read_note(note)
    chosen = choose(files, asked) if kept is None else kept[1]
    first = decode(files[0], chosen.how)
    content: list[str] = []

    def blocks() -> Iterator[NDArray[np.uint8]]:
        digest = hashlib.sha256()
        with ThreadPoolExecutor(min(cache.cores(), 8)) as pool:
            for start in range(0, len(files), 256):
                batch = files[start : start + 256]
                decoded = list(pool.map(lambda file: decode(file, chosen.how), batch))
                for file, image in zip(batch, decoded, strict=True):
                    check_same_shape(files[0], first, file, image)
                block = np.stack(decoded)
                digest.update(block.data)
                yield block
        content.append(digest.hexdigest())

    label = f"packing {len(files):,} images"
    images = cache.cached_array(f"{stem}.npy", (len(files), *first.shape), np.uint8, blocks, label)
    if content or kept is None:
        known = content[-1] if content else digest_of(images)
        write_note(note, known, chosen)
        return images, known, chosen
    return images, kept[0], chosen


def read_note(note: Path) -> tuple[str, Choices] | None:
    """The digest of packed images and what was chosen for them; None if the note is not there or damaged."""
    try:
        known = json.loads(note.read_text())
        return str(known["content"]), Choices(from_json(Preprocessing, known["how"]), tuple(known["notes"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_note(note: Path, content: str, chosen: Choices) -> None:
    """Keep the digest beside the packed images; the folder may not be writable, and then that was said."""
    with contextlib.suppress(OSError), part_file(note) as partial:
        partial.write_text(json.dumps({"content": content, "how": to_json(chosen.how), "notes": list(chosen.notes)}))


def digest_of(images: NDArray[np.uint8]) -> str:
    """The digest of packed images."""
    digest = hashlib.sha256()
    for start in range(0, len(images), 256):
        digest.update(np.ascontiguousarray(images[start : start + 256]).data)
    return digest.hexdigest()


def check_same_shape(first: Path, reference: NDArray[Any], file: Path, image: NDArray[Any]) -> None:
    """Refuse an image whose size or number of channels differs from the first one's.

    Args:
        first: the first image's file, for the message.
        reference: the first image.
        file: the other image's file.
        image: the other image.
    """
    if image.shape == reference.shape:
        return
    if image.shape[:2] != reference.shape[:2]:
        (h1, w1), (h2, w2) = reference.shape[:2], image.shape[:2]
        raise InputError(
            f"{str(first)!r} is {w1}×{h1} and {str(file)!r} is {w2}×{h2} pixels; "
            "pass resize=64 (--data.resize 64) to bring all images to one size."
        )
    kind = {1: "grey", 3: "colour"}
    raise InputError(
        f"{str(first)!r} is {kind[reference.shape[2]]} and {str(file)!r} is {kind[image.shape[2]]}; "
        "pass channels=1 or channels=3 (--data.channels 3) to make them alike."
    )
