"""What `scenes` are put together from: skies with a sun over floors, and toys with their shadows at places."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from unbraid.data.drawn.toys import backdrop, raycast
from unbraid.data.drawn.toys import cabinet as toys
from unbraid.data.drawn.toys.raycast import SIDE, Floats
from unbraid.data.drawn.toys.solids import Dice, standing

# Places are measured in half pictures from the middle, to the right and down.
HORIZON = 0.06
SKY = ((0.16, 0.42, 0.82), (0.95, 0.86, 0.70))  # blue to cream
FLOOR = ((0.30, 0.62, 0.26), (0.92, 0.56, 0.42))  # green to brick
SUN_COLOUR = (1.0, 0.76, 0.16)
SUN_ACROSS, SUN_RADIUS, SUN_HEIGHTS = 0.0, 0.23, (-0.75, -0.03)
GLOW, GLOW_WIDTH = 0.24, 0.20
PLACES = (-0.64, 0.64)
WINDOWS = (0.38, 0.92)  # half the width of a toy's window, far and near
FEET = (0.20, 0.88)  # where a toy stands, far and near
TURNS = np.deg2rad(np.linspace(-60, 60, 9) - 50)  # seen from before and a little from the side
ELEVATION = np.deg2rad(15.0)
SHADOW = 1.9


def steps(ends: tuple[float, float] | tuple[tuple[float, ...], tuple[float, ...]], count: int) -> Floats:
    """Equal steps from one end to the other."""
    first, last = (np.asarray(end, np.float64) for end in ends)
    return np.linspace(first, last, count).astype(np.float32)


def middles(size: int) -> Floats:
    """Where the pixels of a row lie, in half pictures from the middle."""
    return ((np.arange(size) + 0.5) * (2 / size) - 1).astype(np.float32)


class Backgrounds:
    """Sky, sun and floor; each drawn once for each of its colours and heights."""

    def __init__(self, size: int) -> None:
        down, across = middles(size)[:, None], middles(size)[None, :]
        pixel = 2 / size
        ramp = (down[:, :, None] + 1) / (HORIZON + 1)  # 0 at the top, 1 at the horizon
        haze = np.float32(0.10) * np.clip(ramp, 0, 1) ** 2  # skies are lighter above the horizon
        pale = np.ones(3, np.float32)
        self.skies = np.stack([colour * (1.03 - 0.10 * ramp) * (1 - haze) + pale * haze for colour in steps(SKY, 10)])
        depth = np.clip((down[:, :, None] - HORIZON) / (1 - HORIZON), 0, 1)
        self.floors = np.stack([colour * (0.88 + 0.20 * depth) for colour in steps(FLOOR, 10)])
        self.is_floor = np.clip((down[:, :, None] - HORIZON) / pixel + 0.5, 0, 1) + np.zeros((size, size, 1))
        self.discs, self.glows = [], []
        for height in steps(SUN_HEIGHTS, 8):
            far = np.sqrt((across - SUN_ACROSS) ** 2 + (down - height) ** 2)[:, :, None]
            self.discs.append(np.clip((SUN_RADIUS - far) / pixel + 0.5, 0, 1))
            self.glows.append(GLOW * np.exp(-np.maximum(far - SUN_RADIUS, 0) / GLOW_WIDTH))
        self.colour = np.array(SUN_COLOUR, np.float32)
        self.drawn: dict[tuple[int, int, int], Floats] = {}

    def picture(self, sky: NDArray[np.int64], floor: NDArray[np.int64], sun: NDArray[np.int64]) -> Floats:
        """Backgrounds of these indices, [n, size, size, 3]."""
        return np.stack([self.one(*key) for key in zip(sky.tolist(), floor.tolist(), sun.tolist(), strict=True)])

    def one(self, sky: int, floor: int, sun: int) -> Floats:
        """One background, kept."""
        key = (sky, floor, sun)
        if key not in self.drawn:
            lit = np.maximum(self.discs[sun], self.glows[sun])
            above = self.skies[sky] * (1 - lit) + self.colour * lit
            self.drawn[key] = (above * (1 - self.is_floor) + self.floors[floor] * self.is_floor).astype(np.float32)
        return self.drawn[key]


class ToyLayers:
    """Toys with their shadows where they stand: colour times cover, cover and shadow, [size, size, 5]."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.below = np.clip((middles(size) - HORIZON) * (size / 2) + 0.5, 0, 1)[:, None]  # shadows are on the floor
        self.places, self.halves, self.feet = (
            steps(ends, count).tolist() for ends, count in ((PLACES, 11), (WINDOWS, 7), (FEET, 7))
        )
        self.cast: dict[tuple[int, int], tuple[Floats, float]] = {}
        self.drawn: dict[tuple[int, ...], Floats] = {}

    def layers(
        self, toy: NDArray[np.int64], turn: NDArray[np.int64], place: NDArray[np.int64], distance: NDArray[np.int64]
    ) -> Floats:
        """The layers of these indices, [n, size, size, 5]."""
        keys = zip(toy.tolist(), turn.tolist(), place.tolist(), distance.tolist(), strict=True)
        return np.stack([self.one(*key) for key in keys])

    def one(self, toy: int, turn: int, place: int, distance: int) -> Floats:
        """One toy where it stands; its rows are kept, because eleven places share them."""
        if (toy, turn) not in self.cast:
            self.cast[toy, turn] = cast_toy(toy, TURNS[turn])
        window, foot = self.cast[toy, turn]
        half = self.halves[distance]
        if (toy, turn, distance) not in self.drawn:
            down = resampling(self.size, self.feet[distance] - foot * half, half)
            rows = (down @ window.reshape(SIDE, -1)).reshape(self.size, SIDE, 5)
            rows[..., 4] *= self.below
            self.drawn[toy, turn, distance] = rows
        out: Floats = resampling(self.size, self.places[place], half) @ self.drawn[toy, turn, distance]
        return out


@cache
def resampling(size: int, at: float, half: float) -> Floats:
    """The matrix [size, SIDE] that draws SIDE samples over at ± half (in half pictures) into `size` pixels.

    Each pixel is a mean of samples, weighed by a triangle of the pixel's width or the sample's, whichever is wider:
    nothing flickers when a toy moves or shrinks by parts of a pixel. Beyond the window there are samples of nothing.
    """
    apart = 2 * half / SIDE
    reach = max(2 / size, apart)
    beyond = int(np.ceil(4 / apart))  # enough for every pixel of the picture
    sample = at + apart * (np.arange(-beyond, SIDE + beyond) - (SIDE - 1) / 2)
    weights = np.clip(1 - np.abs(middles(size)[:, None] - sample) / reach, 0, None)
    weights /= weights.sum(1, keepdims=True)
    return weights[:, beyond : beyond + SIDE].astype(np.float32)


def cast_toy(index: int, azimuth: float) -> tuple[Floats, float]:
    """A toy ray-cast on nothing, [SIDE, SIDE, 5], and how far below the middle its foot is, in half windows."""
    solids, middle = standing(toys.FAMILIES[index % len(toys.FAMILIES)](Dice(toys.SEED, index)))
    view = raycast.cameras(np.array([azimuth]), ELEVATION, middle)
    on_black, on_white = (
        raycast.render(solids, view, np.full((3, 1, 1, 1), shade, np.float32))[0].astype(np.float32) / 255
        for shade in (0, 1)
    )
    cover = 1 - (on_white - on_black).mean(-1, keepdims=True)
    # The same ground with and without the shadow: their ratio is what the shadow leaves of the light.
    lit, shaded = (
        backdrop.ground_picture(shadow, view)[0, 0]
        for shadow in (np.zeros((48, 48), np.float32), backdrop.shadow_map(solids))
    )
    shadow = np.clip(SHADOW * (1 - shaded / lit), 0, 0.85)[:, :, None]
    foot = middle * np.cos(ELEVATION) / (raycast.DISTANCE + middle * np.sin(ELEVATION)) / raycast.FIELD
    return np.concatenate([on_black, cover, shadow], -1).astype(np.float32), float(foot)
