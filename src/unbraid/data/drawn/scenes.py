"""`scenes`: a toy on a coloured floor before a coloured sky with a sun. Five factors; which toy it is, is the detail.

Designed so that its factors can be found: colours lie on a line and not on a circle, no two factors change the picture
by the same amount, and the toy stands out from floor and sky. Toys are ray-cast once; all else is put together from
three kinds of layers, each drawn once: a background for sky, floor and sun; a toy for place and distance; its shadow.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from unbraid.data import cache
from unbraid.data.drawn.scenes_layers import Backgrounds, ToyLayers
from unbraid.data.drawn.toys import cabinet as toys
from unbraid.data.drawn.toys.raycast import SIDE, Floats
from unbraid.data.factor_data import Factor, FactorData
from unbraid.errors import InputError

VERSION = 1  # raise it when a pixel changes: caches and fingerprints follow
N, TOYS = 20_000, 60
FACTORS = (
    Factor("sky", 10),
    Factor("floor", 10),
    Factor("place", 11),
    Factor("distance", 7),
    Factor("sun", 8),
)
AZIMUTH = Factor("azimuth", 9)
BLOCK = 250  # images put together at a time: what fits the processor's cache is faster


def load(
    n: int = N, size: int = SIDE, seed: int = 0, toys: int = TOYS, azimuth: bool = False, grid: bool = False
) -> FactorData:
    """`n` scenes with every factor drawn uniformly, or with `grid` one scene for each of the 61,600 combinations.

    Args:
        n: number of scenes; a grid has its own.
        size: height and width in pixels, a multiple of 8 from 16 to 64.
        seed: of the draw of factors and toys.
        toys: how many toys there are to draw from; with one, a scene is a function of its factors.
        azimuth: let toys turn by up to 60° to both sides, as a sixth factor.
        grid: all combinations of the factors, the last fastest; toys are drawn at random.
    """
    check(n, size, seed, toys, grid)
    info = (*FACTORS, AZIMUTH) if azimuth else FACTORS
    factors, toy = drawn_factors(n, seed, toys, info, grid)
    stem = f"scenes-v{VERSION}-{'grid' if grid else n}-{size}px-{seed}-{toys}" + ("-turned" if azimuth else "")
    images = cache.cached_array(
        f"scenes/{stem}.npy",
        (len(factors), size, size, 3),
        np.uint8,
        lambda: drawn(factors, toy, size),
        f"drawing {len(factors):,} scenes",
    )
    defaults = {"n": (n, N), "size": (size, SIDE), "seed": (seed, 0), "toys": (toys, TOYS)}
    switches = {"azimuth": (azimuth, False), "grid": (grid, False)}
    return FactorData(
        "scenes",
        images,
        factors.astype(np.float64),
        info,
        known_fingerprint=stem,
        arguments={name: value for name, (value, default) in (defaults | switches).items() if value != default},
        targets={"toy": lambda: np.eye(toys, dtype=np.float32)[toy]},
    )


def identity(data: FactorData) -> NDArray[np.int64]:
    """Which toy each scene shows, [n]: the detail, which no factor tells."""
    out: NDArray[np.int64] = data.targets["toy"]().argmax(1)
    return out


def check(n: int, size: int, seed: int, count: int, grid: bool) -> None:
    """Refuse what cannot be drawn."""
    if n < 1:
        raise InputError(f"scenes: n={n} must be at least 1.")
    if grid and n != N:
        raise InputError(f"scenes: n={n} and grid=True contradict each other; a grid has all combinations.")
    if not 16 <= size <= SIDE or size % 8:
        raise InputError(f"scenes: size={size} is not available; choose a multiple of 8 from 16 to {SIDE}.")
    if seed < 0:
        raise InputError(f"scenes: seed={seed} must be at least 0.")
    if not 1 <= count <= toys.OBJECTS:
        raise InputError(f"scenes: toys={count} is out of range; there are 1 to {toys.OBJECTS}.")


def drawn_factors(
    n: int, seed: int, count: int, info: tuple[Factor, ...], grid: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The table of factors [n, factor] and the toy of each row [n]; columns do not depend on the options of others."""

    def column(number: int, values: int, rows: int) -> NDArray[np.int64]:
        # Plain uniform numbers of a fixed bit generator never change between versions.
        uniform = np.random.Generator(np.random.PCG64((seed, number))).random(rows)
        return (uniform * values).astype(np.int64)

    if grid:
        sizes = [factor.size for factor in info]
        table = np.indices(sizes).reshape(len(sizes), -1).T.astype(np.int64)
    else:
        table = np.stack([column(k + 1, factor.size, n) for k, factor in enumerate(info)], 1)
    return table, column(0, count, len(table))


def drawn(factors: NDArray[np.int64], toy: NDArray[np.int64], size: int) -> Iterator[NDArray[np.uint8]]:
    """The pictures of these rows, block by block."""
    sky, floor, place, distance, sun = factors.T[:5]
    turn = factors[:, 5] if factors.shape[1] > 5 else np.full(len(factors), AZIMUTH.size // 2)
    backgrounds, layers = Backgrounds(size), ToyLayers(size)
    for start in range(0, len(factors), BLOCK):
        rows = slice(start, start + BLOCK)
        picture: Floats = backgrounds.picture(sky[rows], floor[rows], sun[rows])
        toy_layer = layers.layers(toy[rows], turn[rows], place[rows], distance[rows])
        colour, clear, light = toy_layer[..., :3], 1 - toy_layer[..., 3:4], 1 - toy_layer[..., 4:5]
        picture = picture * (light * clear) + colour
        yield (np.clip(picture, 0, 1) * 255 + np.float32(0.5)).astype(np.uint8)
