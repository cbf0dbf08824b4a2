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
from PIL import Image, ImageOps, UnidentifiedImageError

from unbraid.data import cache
from unbraid.data.factor_data import FactorData
from unbraid.data.own.columns import factor_table
from unbraid.data.own.tables import join_labels
from unbraid.data.preprocessing import Preprocessing
from unbraid.errors import InputError
from unbraid.util.files import part_file

SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm", ".pbm"}
DEEP = {"I;16", "I;16B", "I;16L", "I;16N", "I"}


def load_folder(
    path: Path,
    *,
    resize: int | Sequence[int] | None = None,
    crop: str = "centre",
    channels: int | None = None,
    depth: int = 8,
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
        channels: 1 for grey, 3 for colour; as they are by default. Transparent parts become white.
        depth: 16 admits 16-bit images and rescales them to 8 bits.
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
    if extra_labels not in ("refuse", "ignore"):
        raise InputError(f"extra_labels={extra_labels!r} is unknown; choose 'refuse' or 'ignore'.")
    columns: dict[str, Any] = folder_classes(path, files)
    if labels is not None:
        names = [file.relative_to(path).as_posix() for file in files]
        columns |= join_labels(Path(labels), names, refuse_extra=extra_labels == "refuse")
    table, info = factor_table(columns, len(files), kinds)
    images, content = pack_images(path, files, size, crop, channels, depth)
    digest = hashlib.blake2b(content.encode() + table.tobytes() + repr(info).encode(), digest_size=16)
    how = Preprocessing(resize=size, crop=crop, channels=channels, depth=depth)
    return FactorData(str(path), images, table, info, known_fingerprint=digest.hexdigest(), preprocessing=how)


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
        raise InputError(f"resize={resize!r} must be a side in pixels, or a height and a width.")
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


def pack_images(
    path: Path, files: list[Path], size: tuple[int, int] | None, crop: str, channels: int | None, depth: int
) -> tuple[NDArray[np.uint8], str]:
    """The decoded images and a digest of their content, from the cache where the files are unchanged."""
    first = decode(files[0], size, crop, channels, depth)
    stats = [(file.relative_to(path).as_posix(), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    key = hashlib.blake2b(repr((stats, size, crop, first.shape[2], depth)).encode(), digest_size=8).hexdigest()
    content: list[str] = []

    def blocks() -> Iterator[NDArray[np.uint8]]:
        digest = hashlib.sha256()
        with ThreadPoolExecutor(min(cache.cores(), 8)) as pool:
            for start in range(0, len(files), 256):
                batch = files[start : start + 256]
                decoded = list(pool.map(lambda file: decode(file, size, crop, channels, depth), batch))
                for file, image in zip(batch, decoded, strict=True):
                    check_same_shape(files[0], first, file, image)
                block = np.stack(decoded)
                digest.update(block.data)
                yield block
        content.append(digest.hexdigest())

    stem = f"packed/{path.resolve().name}-{key}"
    images = cache.cached_array(
        f"{stem}.npy", (len(files), *first.shape), np.uint8, blocks, f"packing {len(files):,} images"
    )
    return images, content_digest(images, cache.folder() / f"{stem}.json", content[-1] if content else None)


def content_digest(images: NDArray[np.uint8], note: Path, known: str | None) -> str:
    """The digest of packed images, kept in a note beside them."""
    if known is None:
        try:
            return str(json.loads(note.read_text())["content"])
        except (OSError, ValueError, KeyError):
            digest = hashlib.sha256()
            for start in range(0, len(images), 256):
                digest.update(np.ascontiguousarray(images[start : start + 256]).data)
            known = digest.hexdigest()
    # The folder may not be writable: then the array is in memory only, and that was said.
    with contextlib.suppress(OSError), part_file(note) as partial:
        partial.write_text(json.dumps({"content": known}))
    return known


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


def decode(file: Path, size: tuple[int, int] | None, crop: str, channels: int | None, depth: int) -> NDArray[np.uint8]:
    """One image file as bytes [h, w, c]."""
    try:
        if file.stat().st_size == 0:
            raise InputError(f"{str(file)!r} is empty (0 bytes); remove it or copy it again.")
        with Image.open(file) as opened:
            if size is not None:
                opened.draft(None, (2 * max(size), 2 * max(size)))  # JPEG: decode no larger than needed
            return as_pixels(opened, str(file), size, crop, channels, depth)
    except PermissionError as error:
        raise InputError(f"no permission to read {str(file)!r}; change its permissions.") from error
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{str(file)!r} cannot be read as an image; remove it or copy it again.") from error


def as_pixels(
    opened: Image.Image, name: str, size: tuple[int, int] | None, crop: str, channels: int | None, depth: int
) -> NDArray[np.uint8]:
    """One picture as bytes [h, w, c]; `name` is for messages."""
    if opened.mode == "F":
        raise InputError(f"{name!r} holds floating-point values; convert the images to an .npy array.")
    if opened.mode in DEEP and depth != 16:
        raise InputError(
            f"{name!r} is 16-bit; images must be 8-bit. Convert it, or pass depth=16 (--data.depth 16) to rescale."
        )
    picture = to_grey_or_rgb(opened)
    if channels is not None:
        picture = picture.convert("L" if channels == 1 else "RGB")
    if size is not None and picture.size != (size[1], size[0]):
        picture = resize_picture(picture, size, crop)
    pixels: NDArray[np.uint8] = np.asarray(picture, np.uint8)
    return pixels.reshape(*pixels.shape[:2], -1)


def to_grey_or_rgb(opened: Image.Image) -> Image.Image:
    """The picture turned as the camera was held, in 8-bit grey or RGB, transparent parts on white."""
    picture = ImageOps.exif_transpose(opened)
    if picture.mode in DEEP:
        return Image.fromarray(np.clip(np.asarray(picture, np.float64) / 257, 0, 255).round().astype(np.uint8))
    grey = picture.mode in ("1", "L", "LA", "La")
    if picture.mode in ("LA", "La", "RGBA", "RGBa", "PA") or "transparency" in picture.info:
        coloured = picture.convert("RGBA")
        white = Image.new("RGBA", coloured.size, "white")
        picture = Image.alpha_composite(white, coloured)
    return picture.convert("L" if grey else "RGB")


def resize_picture(picture: Image.Image, size: tuple[int, int], crop: str) -> Image.Image:
    """The picture at (height, width) by the antialiased bilinear filter."""
    height, width = size
    box = (0.0, 0.0, float(picture.width), float(picture.height))
    if crop == "centre":
        scale = min(picture.width / width, picture.height / height)
        left, top = (picture.width - width * scale) / 2, (picture.height - height * scale) / 2
        box = (left, top, left + width * scale, top + height * scale)
    return picture.resize((width, height), Image.Resampling.BILINEAR, box=box)
