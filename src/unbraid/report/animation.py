"""What codes do, as an animation for a talk: every latent moves back and forth, and `save` writes a GIF."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from unbraid.errors import InputError
from unbraid.report.draw import words
from unbraid.report.draw.moving import Cell, frames
from unbraid.util.files import write_bytes

Array = NDArray[Any]
WAY, REST = 1300, 450  # milliseconds from one end to the other, and how long it rests there
MOST = 12  # latents in one animation
COLOURS = 256


@dataclass(frozen=True)
class Traversal(Sequence[Array]):
    """What every stage makes of an observation as each of its codes is moved: arrays [code, step, …], one for a stage.

    Example:
        >>> moved = Traversal((np.zeros((2, 5, 8, 8, 3), dtype=np.uint8),), ("hue", "size"))
        >>> len(moved), moved[0].shape
        (1, (2, 5, 8, 8, 3))
    """

    outputs: tuple[Array, ...]
    names: tuple[str, ...]  # of the codes
    shown: tuple[int, ...] = ()  # the codes that `save` shows, in order; all, if left out
    stages: tuple[tuple[str, str], ...] = ()  # symbol and method of each output
    original: Array | None = field(default=None, repr=False)  # the observation
    columns: tuple[str, ...] = ()  # names of its values, where it is a row of a table

    @overload
    def __getitem__(self, index: int) -> Array: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Array, ...]: ...

    def __getitem__(self, index: int | slice) -> Array | tuple[Array, ...]:
        """The output of a stage."""
        return self.outputs[index]

    def __len__(self) -> int:
        return len(self.outputs)

    def save(self, path: str | Path) -> Path:
        """Write an animated GIF in which the codes move back and forth, for ever.

        Args:
            path: a file that ends in .gif.

        Returns:
            The file.
        """
        path = Path(path)
        if path.suffix.lower() != ".gif":
            raise InputError(f"{str(path)!r}: animations are written as GIF; name a file that ends in .gif.")
        chosen = (self.shown or tuple(range(len(self.names))))[:MOST]
        cells = [Cell(self.names[j], tuple(output[j] for output in self.outputs)) for j in chosen]
        forth = frames(cells, self.caption(len(chosen)), self.original, self.columns)
        return write_bytes(path, animated(forth))

    def caption(self, shown: int) -> str:
        """Which picture is whose, and what is left out."""
        left = len(self.shown or self.names) - shown
        is_image, count = self[0].ndim == 5, len(self.stages)
        if is_image:
            marks = ["left: ", *[""] * (count - 2), "right: "] if count > 1 else [""]
        else:
            marks = [*["grey: "] * (count - 1), "blue: "]
        parts = [f"{mark}{symbol} {method}" for mark, (symbol, method) in zip(marks, self.stages, strict=False)]
        parts += ["pale: the observation"] if self.original is not None and not is_image else []
        return " · ".join([*parts, *([f"{left} more codes are not shown"] if left else [])])


def animated(forth: Sequence[Image.Image]) -> bytes:
    """Frames from one end to the other, and back, as a GIF whose frames share one palette, so that nothing flickers."""
    colours = shared_palette(forth)
    there = [frame.quantize(palette=colours, dither=Image.Dither.FLOYDSTEINBERG) for frame in forth]
    order = [*there, *there[-2:0:-1]]
    step = max(20, round(WAY / max(1, len(there) - 1) / 10) * 10)  # GIF counts hundredths of a second
    times = [REST if k in (0, len(there) - 1) else step for k in range(len(order))]
    buffer = io.BytesIO()
    order[0].save(buffer, "GIF", save_all=True, append_images=order[1:], duration=times, loop=0, optimize=False)
    return buffer.getvalue()


def shared_palette(forth: Sequence[Image.Image]) -> Image.Image:
    """256 colours for all frames, from every third pixel of some of them."""
    some = [forth[k] for k in sorted({0, len(forth) // 4, len(forth) // 2, 3 * len(forth) // 4, len(forth) - 1})]
    pixels = np.concatenate([np.asarray(frame)[::3, ::3].reshape(-1, 3) for frame in some])
    sheet = np.ascontiguousarray(pixels[None])
    return Image.fromarray(sheet).quantize(COLOURS, method=Image.Quantize.MEDIANCUT)


def stage_captions(methods: Sequence[str], first: int) -> tuple[tuple[str, str], ...]:
    """Symbols and methods of the stages from `first` on.

    Example:
        >>> stage_captions(["β-TCVAE", "MS-VAE"], 2)
        (('x̂', 'MS-VAE'),)
    """
    return tuple(zip(words.symbols(len(methods)), methods, strict=True))[first - 1 :]
