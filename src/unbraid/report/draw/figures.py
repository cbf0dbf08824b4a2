"""Pictures of images: grids, reconstructions and traversals, for pages and for files."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from unbraid.errors import InputError
from unbraid.metrics import latent_names
from unbraid.report.draw import words
from unbraid.report.draw.order import by_information

Array = NDArray[Any]
INK, FAINT, PAPER = (28, 29, 31), (118, 122, 130), (255, 255, 255)


def grid(
    images: Array, columns: int, pad: int = 2, scale: int = 1, background: tuple[int, int, int] | None = None
) -> Image.Image:
    """Images side by side, in reading order.

    Args:
        images: [n, h, w, c], uint8. Grey images stay grey; of more than four channels the first three are shown.
        columns: images to a row.
        pad: pixels between images.
        scale: how often each pixel is repeated, so that nothing is blurred.
        background: a colour; transparent if left out.

    Returns:
        The picture.

    Example:
        >>> import numpy as np
        >>> grid(np.zeros((6, 8, 8, 3), dtype=np.uint8), columns=3).size
        (28, 18)
    """
    images = np.asarray(images)
    if images.ndim != 4 or images.dtype != np.uint8 or not len(images):
        raise InputError(f"a grid needs uint8 images [n, h, w, c], not {images.dtype} {images.shape}.")
    colour = _rgba(images).repeat(scale, axis=1).repeat(scale, axis=2)
    n, height, width, _ = colour.shape
    columns = max(1, min(columns, n))
    rows = -(-n // columns)
    sheet = np.zeros((rows * (height + pad) - pad, columns * (width + pad) - pad, 4), dtype=np.uint8)
    for i, picture in enumerate(colour):
        top, left = i // columns * (height + pad), i % columns * (width + pad)
        sheet[top : top + height, left : left + width] = picture
    made = Image.fromarray(sheet)
    if background is None:
        return made
    ground = Image.new("RGB", made.size, background)
    ground.paste(made, mask=made.getchannel("A"))
    return ground


def data_uri(picture: Image.Image) -> str:
    """The picture as a PNG inside a `data:` address."""
    buffer = io.BytesIO()
    picture.save(buffer, format="PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")


def reconstruction_picture(
    originals: Array, reconstructions: Sequence[Array], *, columns: int = 8, scale: int = 2, pad: int = 2
) -> Image.Image:
    """Rows x, y, x̂: the originals above what each stage makes of them, labelled.

    Args:
        originals: [n, h, w, c], uint8.
        reconstructions: for each stage the same.
        columns: how many of the images to show.
        scale: how often each pixel is repeated.
        pad: pixels between images, before scaling.

    Returns:
        The picture.

    Example:
        >>> import numpy as np
        >>> images = np.zeros((4, 8, 8, 1), dtype=np.uint8)
        >>> reconstruction_picture(images, [images, images]).height > 3 * 2 * 8
        True
    """
    rows = [originals, *reconstructions]
    labels = ["x", *words.symbols(len(reconstructions))]
    strips = [grid(row[:columns], columns, pad * scale, scale, PAPER) for row in rows]
    return _stack(strips, labels, gaps=[pad * scale] * len(rows), size=13 * scale)


def traversal_picture(
    outputs: Sequence[Array],
    *,
    names: Sequence[str] | None = None,
    information: Array | None = None,
    latents: int | None = None,
    scale: int = 1,
    pad: int = 2,
) -> Image.Image:
    """One strip for each latent, most informative first, with what each stage makes of the move.

    Args:
        outputs: for each stage the images as each latent is moved, [latent, step, h, w, c], uint8.
        names: of the latents; z1, z2, … if left out.
        information: of the latents, mean KL in nats; if left out they keep their order.
        latents: how many of them to show; all if left out.
        scale: how often each pixel is repeated.
        pad: pixels between images, before scaling.

    Returns:
        The picture.

    Example:
        >>> import numpy as np
        >>> moved = np.zeros((5, 7, 8, 8, 1), dtype=np.uint8)
        >>> two, all_of_them = traversal_picture([moved], latents=2), traversal_picture([moved])
        >>> two.height < all_of_them.height
        True
    """
    d = len(outputs[0])
    names = names or latent_names(d)
    strips, labels, gaps = [], [], []
    symbols = words.symbols(len(outputs))
    for j in by_information(information, d)[:latents]:
        for output, symbol in zip(outputs, symbols, strict=True):
            strips.append(grid(output[j], len(output[j]), pad * scale, scale, PAPER))
            labels.append(f"{names[j]}  {symbol}" if output is outputs[0] else symbol)
            gaps.append(pad * scale)
        gaps[-1] = 5 * pad * scale
    return _stack(strips, labels, gaps, size=11 * scale)


def _rgba(images: Array) -> Array:
    channels = images.shape[3]
    if channels == 4:
        return images
    colour = images[..., :3] if channels >= 3 else images[..., :1].repeat(3, axis=3)
    return np.concatenate([colour, np.full((*images.shape[:3], 1), 255, dtype=np.uint8)], axis=3)


@lru_cache
def _font(size: int) -> ImageFont.FreeTypeFont:
    # Deferred: pages need no font. matplotlib brings one that has the combining circumflex; Pillow's own has not.
    import matplotlib

    path = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSerif-Italic.ttf"
    return ImageFont.truetype(str(path), size)


def _stack(strips: Sequence[Image.Image], labels: Sequence[str], gaps: Sequence[int], size: int) -> Image.Image:
    """Strips above each other with their labels, right-aligned, in a column of their own."""
    font = _font(size)
    column = round(max(font.getlength(label) for label in labels) + size * 1.2)
    margin = size // 2
    width = column + strips[0].width + margin
    height = sum(strip.height for strip in strips) + sum(gaps[:-1]) + 2 * margin
    sheet = Image.new("RGB", (width, height), PAPER)
    draw = ImageDraw.Draw(sheet)
    top = margin
    for strip, label, gap in zip(strips, labels, gaps, strict=True):
        sheet.paste(strip, (column, top))
        draw.text((column - size * 0.6, top + strip.height / 2), label, INK, font, anchor="rm")
        top += strip.height + gap
    return sheet
