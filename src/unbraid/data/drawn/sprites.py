"""`sprites`: the images of dSprites, drawn from their geometry instead of downloaded.

A row of 64 pixels is one 64-bit word. Each edge that crosses a scanline flips all pixels from its crossing on,
so a row is the exclusive or of its crossings; everything is integer arithmetic on vertices snapped to 1/256 pixel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data import cache
from unbraid.data.factor_data import Factor, FactorData
from unbraid.errors import InputError, unknown

VERSION = 1
FACTORS = (
    Factor("shape", 3, "categorical"),
    Factor("scale", 6, "ordinal"),
    Factor("orientation", 40, "cyclic"),
    Factor("x", 32, "ordinal"),
    Factor("y", 32, "ordinal"),
)
SCALES = np.linspace(0.5, 1, 6)
ANGLES = np.linspace(0, 2 * np.pi, 40)  # as published: the first and the last are the same angle
CENTRES = 16 + 32 * np.linspace(0, 1, 32)
UNIT = 256  # sub-pixels


def load(size: int = 64, stride: int | Mapping[str, int] = 1) -> FactorData:
    """The images of dSprites.

    Args:
        size: 64, or 32 for the mean of 2×2 pixels.
        stride: a number takes every so many-th value of orientation, x and y; a mapping such as {"scale": 5, "x": 4}
            those of the factors that it names.

    Returns:
        All 737,280 images in the published order, or those of the values that are left.
    """
    if size not in (32, 64):
        raise InputError(f"sprites: size={size} is not available; choose 64, or 32 for the mean of 2×2 pixels.")
    grid = [np.arange(0, factor.size, step) for factor, step in zip(FACTORS, strides(stride), strict=True)]
    counts = [len(values) for values in grid]
    steps = "-".join(map(str, strides(stride)))
    images = cache.cached_array(
        f"sprites/sprites-v{VERSION}-{size}-{steps}.npy",
        (int(np.prod(counts)), size, size, 1),
        np.uint8,
        lambda: drawn(grid, size),
        f"drawing {np.prod(counts):,} sprites",
    )
    table = np.indices(counts, dtype=np.float64).reshape(len(counts), -1).T
    info = tuple(Factor(f.name, n, f.kind) for f, n in zip(FACTORS, counts, strict=True))
    arguments: dict[str, Any] = {} if size == 64 else {"size": size}
    if set(strides(stride)) != {1}:
        arguments["stride"] = stride if isinstance(stride, int) else dict(stride)
    name = f"sprites-v{VERSION}-{size}-{steps}"
    return FactorData("sprites", images, table, info, known_fingerprint=name, arguments=arguments)


def strides(stride: int | Mapping[str, int]) -> tuple[int, ...]:
    """The step of every factor.

    Args:
        stride: as in `load`.

    Returns:
        A step for shape, scale, orientation, x and y.

    Example:
        >>> strides(4), strides({"scale": 5})
        ((1, 1, 4, 4, 4), (1, 5, 1, 1, 1))
    """
    names = [factor.name for factor in FACTORS]
    if isinstance(stride, int):
        stride = dict.fromkeys(names[2:], stride)
    for name, step in stride.items():
        if name not in names:
            raise unknown("factor of sprites", name, names)
        if not isinstance(step, int) or step < 1:
            raise InputError(f"sprites: stride {step!r} of {name!r} must be a whole number of at least 1.")
    return tuple(stride.get(name, 1) for name in names)


def drawn(grid: list[NDArray[np.intp]], size: int) -> Iterator[NDArray[np.uint8]]:
    """Blocks of all positions of one shape, scale and angle, in the published order."""
    shapes, scales, angles, xs, ys = grid
    poses = [(s, SCALES[c], ANGLES[a]) for s in shapes for c in scales for a in angles]
    enlarge = pixels if size == 64 else half_size_pixels
    with ThreadPoolExecutor(min(cache.cores(), 8)) as pool:
        # A few batches at a time, so that finished blocks do not pile up when the disk is slow.
        for start in range(0, len(poses), 16):
            batch = poses[start : start + 16]
            yield from pool.map(lambda pose: enlarge(rows(outline(*pose), CENTRES[xs], CENTRES[ys])), batch)


def outline(shape: int, scale: float, angle: float) -> NDArray[np.float64]:
    """The corners of a sprite about its centre.

    Args:
        shape: 0 square, 1 ellipse, 2 heart.
        scale: 0.5 to 1.
        angle: in radians.

    Returns:
        Corners [corner, (x, y)]; y points down.

    Example:
        >>> outline(0, 1.0, 0.0).shape
        (4, 2)
    """
    if shape == 0:
        corners = 9.6 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    elif shape == 1:
        t = np.linspace(0, 2 * np.pi, 100, endpoint=False)
        corners = np.stack([9.6 * 1.33 * np.cos(t), 9.6 / 1.33 * np.sin(t)], 1)
    else:
        t = np.linspace(0, 2 * np.pi, 150, endpoint=False)
        wave = 13 * np.cos(t) - 5 * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t)
        corners = np.stack([9.6 * np.sin(t) ** 3, -1.44 - 9.6 / 14.5 * wave], 1)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    out: NDArray[np.float64] = scale * (corners @ turn.T)
    return out


def rows(corners: NDArray[np.float64], xs: NDArray[np.float64], ys: NDArray[np.float64]) -> NDArray[np.uint64]:
    """The polygon at all positions as rows of bits, [x, y, 64]; bit j is pixel j."""

    def snapped(centres: NDArray[np.float64], offsets: NDArray[np.float64]) -> NDArray[np.int64]:
        vertices = (centres[:, None] + offsets).astype(np.float32)
        out: NDArray[np.int64] = np.rint(vertices * np.float32(UNIT)).astype(np.int64)
        return out

    x, y = snapped(xs, corners[:, 0]), snapped(ys, corners[:, 1])  # [position, corner]
    x_next, y_next = np.roll(x, -1, 1), np.roll(y, -1, 1)
    middle = UNIT * np.arange(64) + UNIT // 2
    # An edge crosses a scanline if one end is above it and the other on it or below.
    above, above_next = (end[:, None, :] < middle[:, None] for end in (y, y_next))
    at, row, edge = np.nonzero(above != above_next)  # sorted by position, then row
    start, end = y[at, edge], y_next[at, edge]
    rise = (end - start)[:, None]
    run = (x_next - x).T[edge]  # [crossing, x position]
    # Crossing at x + (middle − start)·run/rise; the first pixel whose middle is at or right of it is flipped on.
    numerator = (x.T[edge] - UNIT // 2) * rise + (middle[row] - start)[:, None] * run
    first = -((-numerator) // (UNIT * rise))
    flips = np.left_shift(np.uint64(2**64 - 1), np.clip(first, 0, 63).astype(np.uint64))
    flips[first > 63] = 0
    words = np.zeros((len(xs), len(ys) * 64), np.uint64)
    line = at * 64 + row
    begins = np.flatnonzero(np.diff(line, prepend=-1))
    words[:, line[begins]] = np.bitwise_xor.reduceat(flips, begins, axis=0).T
    return words.reshape(len(xs), len(ys), 64)


def pixels(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Bits to images of 0 and 255, [position, 64, 64, 1]."""
    bits = np.unpackbits(words.astype("<u8").view(np.uint8), axis=-1, bitorder="little")
    np.negative(bits, out=bits)  # 1 → 255
    return bits.reshape(-1, 64, 64, 1)


def half_size_pixels(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Bits to images of 32×32 whose pixels are means of 2×2."""
    octets = words.astype("<u8").view(np.uint8).reshape(-1, 32, 2, 8)
    # Two octets above one another make four pixels: a table of all 65,536 pairs.
    pairs = octets[:, :, 0].astype(np.uint16) | octets[:, :, 1].astype(np.uint16) << 8
    out: NDArray[np.uint8] = FOUR_PIXELS[pairs].view(np.uint8).reshape(-1, 32, 32, 1)
    return out


def four_pixels() -> NDArray[np.uint32]:
    """Every pair of octets to four means of 2×2 pixels, packed into one word."""
    bits = np.unpackbits(np.arange(65536, dtype="<u2").view(np.uint8).reshape(-1, 2), axis=1, bitorder="little")
    on = bits.reshape(-1, 2, 4, 2).sum((1, 3))  # of four
    out: NDArray[np.uint32] = ((on * 255 + 2) // 4).astype(np.uint8).view(np.uint32).ravel()
    return out


FOUR_PIXELS = four_pixels()
