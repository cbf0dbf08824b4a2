"""One picture to bytes: turned upright, made grey or coloured, deeper values stretched, cropped and resized."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from unbraid.data.preprocessing import Preprocessing
from unbraid.errors import InputError

DEEP = {"I;16", "I;16B", "I;16L", "I;16N", "I", "F"}
GREY = {"1", "L", "LA", "La", *DEEP}
WITH_ALPHA = {"LA", "La", "RGBA", "RGBa", "PA"}
FULL_DEPTH = (0.0, 65535.0)
UNREADABLE = (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError)


def decode(file: Path, how: Preprocessing) -> NDArray[np.uint8]:
    """One image file as bytes [h, w, c].

    Args:
        file: the image.
        how: size, crop, channels, stretch and background.
    """
    try:
        if file.stat().st_size == 0:
            raise InputError(f"{str(file)!r} is empty (0 bytes); remove it or copy it again.")
        with Image.open(file) as opened:
            if how.resize is not None:
                side = 2 * max(how.resize)
                opened.draft(None, (side, side))  # JPEG: decode no larger than needed
            return as_pixels(opened, str(file), how)
    except PermissionError as error:
        raise InputError(f"no permission to read {str(file)!r}; change its permissions.") from error
    except UNREADABLE as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{str(file)!r} cannot be read as an image; remove it or copy it again.") from error


def as_pixels(opened: Image.Image, name: str, how: Preprocessing) -> NDArray[np.uint8]:
    """One picture as bytes [h, w, c]; `name` is for messages."""
    picture = to_grey_or_rgb(opened, name, how)
    if how.channels is not None:
        picture = picture.convert("L" if how.channels == 1 else "RGB")
    if how.resize is not None and picture.size != (how.resize[1], how.resize[0]):
        picture = resize_picture(picture, how.resize, how.crop)
    pixels: NDArray[np.uint8] = np.asarray(picture, np.uint8)
    return pixels.reshape(*pixels.shape[:2], -1)


def to_grey_or_rgb(opened: Image.Image, name: str = "the image", how: Preprocessing | None = None) -> Image.Image:
    """The picture turned as the camera was held, in 8-bit grey or RGB, transparent parts on the background."""
    how = how or Preprocessing()
    picture = ImageOps.exif_transpose(opened)
    if picture.mode in DEEP:
        ends = how.stretch or (FULL_DEPTH if how.depth == 16 else None)
        if ends is None:
            raise InputError(f"{name!r} has more than 8 bits, and the data set's images have 8: convert it.")
        return Image.fromarray(stretched(np.asarray(picture), ends))
    grey = picture.mode in GREY
    if picture.mode in WITH_ALPHA or "transparency" in picture.info:
        coloured = picture.convert("RGBA")
        ground = Image.new("RGBA", coloured.size, how.background)
        picture = Image.alpha_composite(ground, coloured)
    return picture.convert("L" if grey else "RGB")


def stretched(values: NDArray[np.generic], ends: tuple[float, float]) -> NDArray[np.uint8]:
    """Values as bytes: the ends become 0 and 255, what lies beyond them is clipped.

    Example:
        >>> stretched(np.array([100, 600, 1100, 5000]), (100.0, 1100.0)).tolist()
        [0, 128, 255, 255]
    """
    black, white = ends
    share = (values.astype(np.float64) - black) / (white - black if white > black else 1.0)
    made: NDArray[np.uint8] = np.rint(255 * np.clip(share, 0, 1)).astype(np.uint8)
    return made


def resize_picture(picture: Image.Image, size: tuple[int, int], crop: str) -> Image.Image:
    """The picture at (height, width) by the antialiased bilinear filter."""
    height, width = size
    box = (0.0, 0.0, float(picture.width), float(picture.height))
    if crop == "centre":
        scale = min(picture.width / width, picture.height / height)
        left, top = (picture.width - width * scale) / 2, (picture.height - height * scale) / 2
        box = (left, top, left + width * scale, top + height * scale)
    return picture.resize((width, height), Image.Resampling.BILINEAR, box=box)
