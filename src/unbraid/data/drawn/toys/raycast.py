"""A small ray caster: convex solids, many camera poses at once, in array programs.

Along a row of pixels a ray's direction is linear in the column, so every linear form of it is an outer sum of a
column and a row vector per pose. Each solid is cast only inside its own window of the picture.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Along = Callable[[Floats], Floats]  # a linear form of the ray's direction, over a window

SIDE = 64
SAMPLES = 2  # per pixel and axis
FIELD = 0.207  # half the picture's width at unit distance
DISTANCE = 5.2
KEY_LIGHT = (-0.45, 0.72, 0.60)  # right, up, towards the viewer: the lamp moves with the camera
CUBE = (np.indices((2, 2, 2)).reshape(3, 8).T * 2 - 1).astype(np.float32)


@dataclass(frozen=True)
class Solid:
    """A convex solid: where `to_local @ (p − centre)` lies inside the unit shape of its `kind`.

    `ellipsoid`: the unit ball. `frustum`: |z| ≤ 1 and x² + y² ≤ (a + b z)² for `taper` = (a, b).
    `polyhedron`: n·p ≤ 1 for each row n of `planes`, within |x|, |y|, |z| ≤ 1.
    """

    kind: str
    centre: Floats
    to_local: Floats
    colour: Floats
    taper: tuple[float, float] = (1.0, 0.0)
    planes: Floats | None = None
    second: Floats | None = None
    marking: tuple[str, float, float] = ("none", 0.0, 0.0)
    gloss: float = 0.25

    def moved(self, scale: float, shift: Floats) -> Solid:
        """The solid after p → scale · (p + shift)."""
        centre = (self.centre + shift) * np.float32(scale)
        return replace(self, centre=centre, to_local=self.to_local / np.float32(scale))

    @cached_property
    def to_world(self) -> Floats:
        """The inverse of `to_local`."""
        return np.linalg.inv(self.to_local).astype(np.float32)

    @cached_property
    def corners(self) -> Floats:
        """The corners of a box around the solid, [8, 3]."""
        out: Floats = self.centre + CUBE @ self.to_world.T
        return out


@dataclass(frozen=True)
class Cameras:
    """Several poses that look at one point: eyes, frames, the lamp and its mirror direction; each [pose, 3]."""

    eye: Floats
    forward: Floats
    right: Floats
    up: Floats
    light: Floats
    half: Floats


def cameras(azimuth: NDArray[np.float64], elevation: float, target: float) -> Cameras:
    """Cameras around the vertical axis; azimuth 0 looks an object in the face, which points along +x."""
    level, height = np.cos(elevation), np.full_like(azimuth, np.sin(elevation))
    out = np.stack([level * np.cos(azimuth), level * np.sin(azimuth), height], 1)
    right = np.stack([-np.sin(azimuth), np.cos(azimuth), 0 * azimuth], 1)
    up = np.cross(out, right)
    eye = DISTANCE * out + np.array([0, 0, target])
    lamp = np.array(KEY_LIGHT) / np.linalg.norm(KEY_LIGHT)
    light = lamp[0] * right + lamp[1] * up + lamp[2] * out
    half = (light + out) / np.linalg.norm(light + out, axis=1, keepdims=True)
    return Cameras(*(part.astype(np.float32) for part in (eye, -out, right, up, light, half)))


def render(solids: list[Solid], view: Cameras, ground: Floats) -> NDArray[np.uint8]:
    """Pictures of the solids before the `ground` [3, pose, SIDE, SIDE]; bytes [pose, SIDE, SIDE, 3]."""
    poses, side = len(view.eye), SIDE * SAMPLES
    depth = np.full(poses * side * side, np.inf, np.float32)
    owner = np.full(depth.size, -1, np.int16)
    face = np.zeros(depth.size, np.int8)
    for index, solid in enumerate(solids):
        cast(solid, index, view, side, depth, owner, face)

    # Only what is seen is shaded, solid by solid.
    colour = np.zeros((4, depth.size), np.float32)
    seen = np.flatnonzero(owner >= 0)
    seen = seen[np.argsort(owner[seen], kind="stable")]
    ends = np.searchsorted(owner[seen], np.arange(len(solids) + 1))
    for solid, start, end in zip(solids, ends[:-1], ends[1:], strict=True):
        place = seen[start:end]
        colour[:3, place] = shade(solid, view, side, place, depth[place], face[place])
    colour[3, seen] = 1

    picture = shrink(colour.reshape(4, poses, side, side))
    picture = picture[:3] + (1 - picture[3]) * ground
    return np.ascontiguousarray(np.moveaxis((np.clip(picture, 0, 1) * 255 + 0.5).astype(np.uint8), 0, -1))


def cast(
    solid: Solid,
    index: int,
    view: Cameras,
    side: int,
    depth: Floats,
    owner: NDArray[np.int16],
    face: NDArray[np.int8],
) -> None:
    """Enter one solid into the buffers of all poses: how far, whose, which face."""
    # The window: the projected corners, the same size for all poses and at a place of its own in each.
    rays = solid.corners[None] - view.eye[:, None]
    ahead = np.einsum("pkc,pc->pk", rays, view.forward)
    columns = (np.einsum("pkc,pc->pk", rays, view.right) / ahead / FIELD + 1) * (side / 2)
    rows = (1 - np.einsum("pkc,pc->pk", rays, view.up) / ahead / FIELD) * (side / 2)
    left, top = np.floor(columns.min(1)).astype(int), np.floor(rows.min(1)).astype(int)
    width = min(side, int((np.ceil(columns.max(1)) - left).max()))
    height = min(side, int((np.ceil(rows.max(1)) - top).max()))
    left, top = np.clip(left, 0, side - width), np.clip(top, 0, side - height)
    column = left[:, None] + np.arange(width)
    row = top[:, None] + np.arange(height)
    u, v = screen(column, side), -screen(row, side)

    local = solid.to_local.T
    origin = ((view.eye - solid.centre) @ local).astype(np.float32)
    forward, right, up = view.forward @ local, view.right @ local, view.up @ local

    def along(weights: Floats) -> Floats:
        """weights · direction over the window, [pose, height, width]; weights [3] or [pose, 3]."""
        base, across, rise = ((axis * weights).sum(-1)[:, None] for axis in (forward, right, up))
        out: Floats = (base + across * u)[:, None, :] + (rise * v)[:, :, None]
        return out

    with np.errstate(divide="ignore", invalid="ignore"):
        distance, side_hit = HIT[solid.kind](solid, origin, along)
    buffer_row = np.arange(len(row))[:, None] * side + row
    places = (buffer_row * side)[:, :, None] + column[:, None, :]
    hits = np.flatnonzero(distance < depth[places])
    place = places.ravel()[hits]
    depth[place] = distance.ravel()[hits]
    owner[place] = index
    face[place] = side_hit.ravel()[hits]


def screen(index: NDArray[Any], side: int) -> Floats:
    """From a sample's row or column to its place on the screen at unit distance."""
    out: Floats = ((index + np.float32(0.5)) * (2 / side) - 1).astype(np.float32) * np.float32(FIELD)
    return out


def hit_ellipsoid(solid: Solid, origin: Floats, along: Along) -> tuple[Floats, NDArray[np.int8]]:
    """|o + t d|² = 1, the nearer root."""
    x, y, z = (along(axis) for axis in np.eye(3, dtype=np.float32))
    a = x * x + y * y + z * z
    b = along(origin)
    c = ((origin * origin).sum(1) - 1)[:, None, None]
    root = b * b - a * c
    t = np.where(root > 0, (-b - np.sqrt(root)) / a, np.float32(np.inf))
    return t, np.zeros(t.shape, np.int8)


def hit_frustum(solid: Solid, origin: Floats, along: Along) -> tuple[Floats, NDArray[np.int8]]:
    """The side of a cone or cylinder between its ends, or the end that faces the eye."""
    k, m = (np.float32(value) for value in solid.taper)
    ox, oy, oz = (origin[:, axis, None, None] for axis in range(3))
    x, y, z = (along(axis) for axis in np.eye(3, dtype=np.float32))
    radius = k + m * oz
    a = x * x + y * y - (m * m) * (z * z)
    b = ox * x + oy * y - (m * radius) * z
    c = ox * ox + oy * oy - radius * radius
    root = np.sqrt(b * b - a * c)  # NaN where the ray misses: every comparison below is then false
    best = np.full(a.shape, np.inf, np.float32)
    face = np.zeros(a.shape, np.int8)
    for t in ((-b - root) / a, (-b + root) / a):
        good = (np.abs(oz + t * z) <= 1) & (t > 0) & (t < best)
        best = np.where(good, t, best)
    end = -np.sign(z)
    t = (end - oz) / z
    px, py = ox + t * x, oy + t * y
    good = (px * px + py * py <= (k + m * end) ** 2) & (t > 0) & (t < best)
    return np.where(good, t, best), np.where(good, end, face).astype(np.int8)


def hit_polyhedron(solid: Solid, origin: Floats, along: Along) -> tuple[Floats, NDArray[np.int8]]:
    """The last plane to be entered, if that is before the first one to be left."""
    assert solid.planes is not None
    shape = along(solid.planes[0]).shape
    near, far = np.zeros(shape, np.float32), np.full(shape, np.inf, np.float32)
    face = np.zeros(shape, np.int8)
    for index, plane in enumerate(solid.planes):
        slope = along(plane)
        t = (1 - origin @ plane)[:, None, None] / slope
        entering = slope < 0
        later = entering & (t > near)
        near[later] = t[later]
        face[later] = index
        np.minimum(far, t, out=far, where=~entering)
    return np.where(near < far, near, np.float32(np.inf)), face


def normal_ellipsoid(solid: Solid, point: Floats, face: NDArray[np.int8]) -> Floats:
    """Outward, in local coordinates, [3, n]."""
    return point


def normal_frustum(solid: Solid, point: Floats, face: NDArray[np.int8]) -> Floats:
    """Outward, in local coordinates: the side's, or the axis at an end."""
    k, m = (np.float32(value) for value in solid.taper)
    end = face != 0
    x, y, z = point
    return np.stack([np.where(end, 0, x), np.where(end, 0, y), np.where(end, face, -m * (k + m * z))])


def normal_polyhedron(solid: Solid, point: Floats, face: NDArray[np.int8]) -> Floats:
    """Outward, in local coordinates."""
    assert solid.planes is not None
    out: Floats = solid.planes.T[:, face]
    return out


HIT = {"ellipsoid": hit_ellipsoid, "frustum": hit_frustum, "polyhedron": hit_polyhedron}
NORMAL = {"ellipsoid": normal_ellipsoid, "frustum": normal_frustum, "polyhedron": normal_polyhedron}


def shade(solid: Solid, view: Cameras, side: int, place: NDArray[np.intp], t: Floats, face: NDArray[np.int8]) -> Floats:
    """Lambert from the key light, sky light from above that fades near the ground, and a highlight; [3, n]."""
    pose, inside = np.divmod(place, side * side)
    row, column = np.divmod(inside, side)
    u, v = screen(column, side), -screen(row, side)
    direction = view.forward.T[:, pose] + u * view.right.T[:, pose] + v * view.up.T[:, pose]
    point = view.eye.T[:, pose] + t * direction
    local = solid.to_local @ (point - solid.centre[:, None])
    normal = solid.to_local.T @ NORMAL[solid.kind](solid, local, face)
    normal /= np.sqrt(dot(normal, normal))

    paint = solid.colour[:, None]
    if solid.second is not None:
        paint = np.where(marked(solid.marking, local), solid.second[:, None], paint)
    near_ground = np.clip(0.55 + 1.1 * point[2], 0.55, 1)  # the ground hides part of the sky
    sky = (0.44 + 0.16 * normal[2]) * near_ground
    shine = np.maximum(dot(normal, view.half.T[:, pose]), 0)
    for _ in range(5):
        shine = shine * shine
    brightness = sky + 0.58 * np.maximum(dot(normal, view.light.T[:, pose]), 0)
    out: Floats = paint * brightness + np.float32(solid.gloss) * shine
    return np.minimum(out, 1)


def dot(a: Floats, b: Floats) -> Floats:
    """Column by column."""
    out: Floats = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return out


def marked(marking: tuple[str, float, float], point: Floats) -> Any:
    """Where a solid wears its second colour, from local coordinates."""
    kind, a, b = marking
    x, y, z = point
    if kind == "stripe":  # along the body
        return np.abs(np.abs(y) - a) < b
    if kind == "band":  # below or above a height
        return z < a if b < 0 else z > a
    if kind == "hoops":  # around the body
        return np.sin(a * x + b) > 0.2
    if kind == "rings":  # around a cylinder's axis
        return np.sin(a * z + b) > 0.2
    if kind == "spots":
        return np.sin(a * x + b) * np.sin(a * y + 2 * b) + np.sin(a * z - b) * np.cos(a * x) > 0.55
    if kind == "hub":  # the middle of a wheel
        return x * x + y * y < a * a
    return np.zeros(len(x), bool)


def shrink(picture: Floats) -> Floats:
    """From samples to pixels with a filter [1 3 3 1]/8 along each axis: smoother edges than the plain mean."""
    picture = np.pad(picture, [(0, 0), (0, 0), (1, 1), (1, 1)], mode="edge")
    outer, inner = np.float32(0.125), np.float32(0.375)
    p = picture
    p = (p[:, :, 0:-2:2] + p[:, :, 3::2]) * outer + (p[:, :, 1:-1:2] + p[:, :, 2::2]) * inner
    return (p[..., 0:-2:2] + p[..., 3::2]) * outer + (p[..., 1:-1:2] + p[..., 2::2]) * inner
