"""Building blocks of the toys: solids by their everyday measures, paint, and a source of variety."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from unbraid.data.drawn.toys.raycast import Floats, Solid

Point = Sequence[float]
T = TypeVar("T")

PAINTS = (
    *("E4572E", "F3A712", "2E5EAA", "669BBC", "2A9D8F", "8AB17D", "E9C46A", "F08A4B", "C44569"),
    *("7B5EA7", "457B9D", "F28482", "3F8F5B", "B5D33D", "5BC0BE", "D9455F", "9C6644", "F2C6DE"),
)
TYRE, METAL, GLASS, LAMP, REAR_LAMP = "33363D", "B9BEC7", "5D7C99", "FFF1BF", "D7263D"
WHITE, BLACK, WOOD = "F6F3EC", "24262B", "A9744F"


class Dice:
    """Variety that never changes between versions: plain uniform numbers of a fixed bit generator."""

    def __init__(self, *seed: int) -> None:
        self.random = np.random.Generator(np.random.PCG64(seed)).random

    def between(self, low: float, high: float) -> float:
        """A number in [low, high)."""
        return float(low + (high - low) * self.random())

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[int(self.random() * len(options))]

    def chance(self, probability: float) -> bool:
        """True with that probability."""
        return bool(self.random() < probability)

    def paint(self) -> str:
        """A colour of the palette, nudged, so that no two objects are quite alike."""
        channels = rgb(self.pick(PAINTS)) * self.between(0.88, 1.06) + [self.between(-0.04, 0.04) for _ in "rgb"]
        return "".join(f"{round(255 * float(value)):02X}" for value in np.clip(channels, 0, 1))

    def marking(self) -> tuple[str, float, float]:
        """A pattern for a body."""
        return self.pick(
            [
                ("none", 0.0, 0.0),
                ("stripe", 0.0, self.between(0.12, 0.3)),
                ("stripe", 0.35, self.between(0.08, 0.16)),
                ("band", self.between(-0.4, 0.1), -1.0),
                ("band", self.between(0.1, 0.5), 1.0),
                ("hoops", self.between(5, 9), self.between(0, 3)),
                ("spots", self.between(4.5, 6.5), self.between(0, 3)),
            ]
        )


def rgb(colour: str) -> Floats:
    """'F3A712' → three numbers in [0, 1]."""
    return np.array([int(colour[k : k + 2], 16) / 255 for k in (0, 2, 4)], np.float32)


def paint(
    solid: Solid, second: str | None = None, marking: tuple[str, float, float] | None = None, gloss: float = 0.25
) -> Solid:
    """The solid with a marking in a second colour."""
    if second is None or marking is None:
        return replace(solid, gloss=gloss)
    return replace(solid, second=rgb(second), marking=marking, gloss=gloss)


def polyhedron(centre: Point, half: Point, colour: str, planes: Sequence[Point]) -> Solid:
    """A box with half-extents `half`, cut by planes n·p ≤ 1 in its own unit coordinates."""
    faces = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1], *planes]
    frame = np.diag(1 / np.array(half, np.float32)).astype(np.float32)
    return Solid("polyhedron", np.array(centre, np.float32), frame, rgb(colour), planes=np.array(faces, np.float32))


def box(centre: Point, half: Point, colour: str) -> Solid:
    """A box with its half-extents."""
    return polyhedron(centre, half, colour, [])


def trapezoid(
    centre: Point, half: Point, colour: str, front: float = 0.0, back: float = 0.0, sides: float = 0.0
) -> Solid:
    """A box whose front, back and sides lean inwards by these shares of the half-extent at the top."""

    def lean(axis: int, sign: int, share: float) -> list[float]:
        # Through (1, bottom) and (1 − share, top): x + share/2 · z = 1 − share/2, scaled to n·p ≤ 1.
        plane = [0.0, 0.0, share / 2]
        plane[axis] = float(sign)
        return [value / (1 - share / 2) for value in plane]

    leans = [lean(0, 1, front), lean(0, -1, back), lean(1, 1, sides), lean(1, -1, sides)]
    return polyhedron(centre, half, colour, leans)


def ellipsoid(centre: Point, radii: Point, colour: str, pitch: float = 0.0) -> Solid:
    """An ellipsoid, nose up by `pitch`."""
    c, s = np.cos(pitch), np.sin(pitch)
    turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])  # rows: the ellipsoid's own axes
    frame = (turn / np.array(radii)[:, None]).astype(np.float32)
    return Solid("ellipsoid", np.array(centre, np.float32), frame, rgb(colour))


def cone(start: Point, end: Point, first: float, last: float, colour: str) -> Solid:
    """A round solid from `start` to `end` whose radius goes from `first` to `last`."""
    a, b = np.array(start, float), np.array(end, float)
    axis = (b - a) / 2
    length = float(np.linalg.norm(axis))
    z = axis / length
    x = np.cross(z, [0.0, 1.0, 0.0] if abs(z[1]) < 0.9 else [1.0, 0.0, 0.0])
    x /= np.linalg.norm(x)
    widest = max(first, last)
    frame = np.stack([x / widest, np.cross(z, x) / widest, z / length]).astype(np.float32)
    taper = ((first + last) / (2 * widest), (last - first) / (2 * widest))
    return Solid("frustum", ((a + b) / 2).astype(np.float32), frame, rgb(colour), taper=taper)


def rod(start: Point, end: Point, radius: float, colour: str) -> Solid:
    """A cylinder from `start` to `end`."""
    return cone(start, end, radius, radius, colour)


def wheels(x: float, y: float, radius: float, width: float, hub: str, tyre: str = TYRE) -> list[Solid]:
    """A pair of wheels at ±y with painted hubs, standing on the ground."""
    return [
        paint(
            rod((x, side * (y - width), radius), (x, side * (y + width), radius), radius, tyre),
            hub,
            ("hub", 0.5, 0),
            gloss=0.1,
        )
        for side in (-1, 1)
    ]


def pair(make: Solid) -> list[Solid]:
    """The solid and its mirror image across the plane y = 0."""
    flip = np.diag(np.array([1, -1, 1], np.float32))
    return [make, replace(make, centre=make.centre @ flip, to_local=(flip @ make.to_local @ flip).astype(np.float32))]


def standing(solids: list[Solid]) -> tuple[list[Solid], float]:
    """The object set on the ground, centred, at unit radius; and its middle height."""
    corners = np.concatenate([solid.corners for solid in solids])
    low, high = corners.min(0), corners.max(0)
    middle = (low + high) / 2
    scale = 1 / float(np.linalg.norm(corners - middle, axis=1).max())
    shift = np.array([-middle[0], -middle[1], -low[2]], np.float32)
    return [solid.moved(scale, shift) for solid in solids], float((high[2] - low[2]) / 2 * scale)
