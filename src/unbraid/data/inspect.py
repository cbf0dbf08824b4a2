"""What the tool sees in a data set, before an hour is spent on it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from PIL.PngImagePlugin import PngInfo

from unbraid._version import __version__
from unbraid.data import cache
from unbraid.data.drawn import BUILT_IN
from unbraid.data.factor_data import FactorData
from unbraid.data.load import load
from unbraid.data.own.column_kinds import Column
from unbraid.data.own.column_list import column_lines, table_columns
from unbraid.data.published.catalogue import catalogue
from unbraid.errors import InputError
from unbraid.util.files import part_file

LOOKED_AT = 50_000  # rows whose values are read; the rest is taken to be alike, and that is said


@dataclass(frozen=True)
class FactorInfo:
    """One factor: how many values, how they are spread, how many labels are missing."""

    name: str
    kind: str
    size: int
    missing: int
    low: float
    high: float
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class DataInfo:
    """A description of a data set; `data` is there unless it would first have to be downloaded."""

    name: str
    n: int
    shape: tuple[int, ...]  # as networks see it: channel, height, width, or the number of values
    factors: tuple[FactorInfo, ...]
    bytes: int
    looked_at: int = 0  # rows behind the next four
    low: float = float("nan")
    high: float = float("nan")
    mean: float = float("nan")
    duplicates: int = 0
    constant: tuple[int, ...] = ()  # values of a vector that never change
    licence: str = ""
    note: str = ""
    here: bool = True
    data: FactorData | None = field(default=None, repr=False)
    columns: tuple[Column, ...] = ()  # of a table, with what is made of each
    notes: tuple[str, ...] = ()  # what the loader chose by itself

    @property
    def units(self) -> str:
        """What the range is of."""
        standardized = self.data is not None and bool(self.data.preprocessing.mean)
        counts = self.data is not None and self.data.preprocessing.counts
        return "standardised values" if standardized else "counts" if counts else "values"

    @property
    def what(self) -> str:
        """What the observations are."""
        signal = None if self.data is None else self.data.preprocessing.signal
        if signal is not None:
            return f"signals of {signal[0]} channel{'s' * (signal[0] > 1)} and {signal[1]:,} times"
        return f"observations of shape {self.shape}"

    @property
    def mean_text(self) -> str:
        """The mean; what is 0 but for rounding is 0."""
        return "0" if abs(self.mean) < 1e-6 * max(abs(self.low), abs(self.high)) else f"{self.mean:.4g}"

    def lines(self) -> list[str]:
        """The description as text, a fact a line."""
        what = self.what if self.shape else "rows"
        out = [f"{self.name}: {self.n:,} {what}, {cache.readable_size(self.bytes)}"]
        if self.looked_at:
            scope = "" if self.looked_at == self.n else f" (of {self.looked_at:,} rows looked at)"
            out.append(
                f"{self.units} {self.low:g} to {self.high:g}, mean {self.mean_text}; "
                f"{self.duplicates:,} duplicates{scope}"
            )
        out += column_lines(self.columns)
        out += [f"note: {note}" for note in self.notes]
        if self.constant and not self.columns:
            out.append(f"values that never change: {', '.join(map(str, self.constant[:10]))}")
        for factor in self.factors:
            spread = f"{factor.size} values" if factor.size else f"{factor.low:g} to {factor.high:g}"
            missing = f", {factor.missing:,} missing" if factor.missing else ""
            out.append(f"factor {factor.name}: {factor.kind}, {spread}{missing}")
        if not self.factors and self.shape:
            out.append("no factors: metrics that need labels cannot be computed")
        if self.licence:
            out.append(f"licence: {self.licence}")
        if self.note:
            out.append(self.note)
        if not self.here:
            out.append(f"not downloaded; unbraid data get {self.name}")
        return out


def info(source: str | Path | FactorData, **arguments: Any) -> DataInfo:
    """Describe a data set; nothing is downloaded for it.

    Args:
        source: a name, a path or a data set.
        arguments: of `load`.

    Returns:
        What there is to know before training: counts, ranges, factors, duplicates, licence.

    Example:
        >>> info("pendulum", n=4).shape
        (100,)
    """
    key = "" if isinstance(source, FactorData) else str(source)
    known = catalogue().get(key) if key not in BUILT_IN else None
    if known is not None and not known.here and "path" not in arguments:
        height, width, channels = known.shape
        factors = tuple(FactorInfo(f.name, f.kind, f.size, 0, 0.0, f.size - 1.0) for f in known.factors)
        size = known.n * height * width * channels
        shape = (channels, height, width)
        return DataInfo(key, known.n, shape, factors, size, licence=known.licence, note=known.note, here=False)
    table = None if isinstance(source, FactorData) else table_columns(Path(key).expanduser(), arguments)
    try:
        data = source if isinstance(source, FactorData) else load(source, **arguments)
    except InputError as error:
        if table is None:
            raise
        said = (f"fit says: {error}",)
        return DataInfo(key, table.rows, (), (), table.bytes, columns=table.columns, notes=said)
    rows = np.arange(len(data))
    if len(data) > LOOKED_AT:
        rows = np.sort(np.random.default_rng(0).choice(len(data), LOOKED_AT, replace=False))
    low, high, total = np.inf, -np.inf, 0.0
    seen: set[bytes] = set()
    changing = np.zeros(data.observations.shape[1:], bool)
    for start in range(0, len(rows), 1024):
        block = data.observations[rows[start : start + 1024]]
        low, high = min(low, float(block.min())), max(high, float(block.max()))
        total += float(block.mean(dtype=np.float64)) * len(block)
        if not data.is_image:
            changing |= (block != data.observations[rows[0]]).any(0)
        cache.release(data.observations)
        seen.update(hashlib.blake2b(row.tobytes(), digest_size=12).digest() for row in block)
    return DataInfo(
        name=data.name,
        n=len(data),
        shape=data.shape,
        factors=tuple(describe(data, k) for k in range(len(data.factor_info))),
        bytes=data.observations.nbytes,
        looked_at=len(rows),
        low=low,
        high=high,
        mean=total / len(rows),
        duplicates=len(rows) - len(seen),
        constant=() if data.is_image else tuple(int(k) for k in np.flatnonzero(~changing)),
        licence=known.licence if known else "",
        note=known.note if known else "",
        data=data,
        columns=table.columns if table is not None else (),
        notes=data.notes,
    )


def describe(data: FactorData, k: int) -> FactorInfo:
    """One column of the factor table: how many values, how they are spread, how many are missing.

    Args:
        data: the data set.
        k: the column's number.
    """
    factor, column = data.factor_info[k], data.factors[:, k]
    present = column[~np.isnan(column)]
    low, high = (float(present.min()), float(present.max())) if len(present) else (np.nan, np.nan)
    return FactorInfo(factor.name, factor.kind, factor.size, len(column) - len(present), low, high, factor.values)


def contact_sheet(
    data: FactorData, path: str | Path, *, rows: int = 8, columns: int = 12, seed: int = 0, zoom: int | None = None
) -> Path:
    """Write a picture of observations drawn at random: images as they are, vectors as curves.

    Args:
        data: the data set.
        path: of the PNG file.
        rows: of observations, at most.
        columns: of observations.
        seed: of the draw.
        zoom: how many pixels wide each pixel is drawn; chosen so that the picture is some 1200 wide by default.

    Returns:
        The path.
    """
    path = Path(path)
    count = min(rows * columns, len(data))
    rows = -(-count // columns)
    chosen = np.sort(np.random.default_rng(seed).choice(len(data), count, replace=False))
    if data.is_image:
        tiles = np.asarray(data.observations[chosen])
        tiles = np.repeat(tiles, 3, 3) if tiles.shape[3] == 1 else tiles[..., :3]
    else:
        tiles = curves(np.asarray(data.observations[chosen]))
    gap = 2
    height, width = tiles.shape[1] + gap, tiles.shape[2] + gap
    sheet = np.full((rows * height + gap, columns * width + gap, 3), 255, np.uint8)
    for k, tile in enumerate(tiles):
        top, left = (k // columns) * height + gap, (k % columns) * width + gap
        sheet[top : top + height - gap, left : left + width - gap] = tile
    zoom = zoom or max(1, round(1200 / sheet.shape[1]))
    picture = Image.fromarray(sheet)
    try:
        with part_file(path) as partial:
            enlarged = picture.resize((picture.width * zoom, picture.height * zoom), Image.Resampling.NEAREST)
            enlarged.save(partial, format="PNG", pnginfo=made_by_unbraid())
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r} ({error.strerror or error}); choose another place.") from error
    return path


def made_by_unbraid() -> PngInfo:
    """The note in a picture by which a later command knows that it may write over it."""
    note = PngInfo()
    note.add_text("Software", f"unbraid {__version__}")
    return note


def curves(vectors: NDArray[np.float32], side: int = 64) -> NDArray[np.uint8]:
    """Draw each vector as a curve over its values, all on one scale.

    Args:
        vectors: [n, value].
        side: of a picture, in pixels.

    Returns:
        Pictures [n, side, side, 3].

    Example:
        >>> curves(np.zeros((2, 5), np.float32)).shape
        (2, 64, 64, 3)
    """
    low, high = float(vectors.min()), float(vectors.max())
    scale = (side - 5) / (high - low) if high > low else 0.0
    x = np.linspace(2, side - 3, vectors.shape[1])
    tiles = []
    for vector in vectors:
        tile = Image.new("RGB", (side, side), (246, 247, 249))
        y = side - 3 - (vector - low) * scale
        ImageDraw.Draw(tile).line(list(zip(x.tolist(), y.tolist(), strict=True)), fill=(46, 94, 170), width=1)
        tiles.append(np.asarray(tile))
    return np.stack(tiles)
