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
from scipy import ndimage

Floats = NDArray[np.float32]
Along = Callable[[Floats], Floats]  # a linear form of the ray's direction, over a window

SIDE = 64
SAMPLES = 2  # per pixel and axis
FIELD = 0.207  # half the picture's width at unit distance
DISTANCE = 5.2
KEY_LIGHT = (-0.45, 0.72, 0.60)  # right, up, towards the viewer: the lamp moves with the camera
REACH = 1.8  # the ground that can be in shadow
BACKGROUND = ((0.965, 0.970, 0.978), (0.905, 0.912, 0.925))  # top and bottom of the picture
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
    """Eyes and frames of several poses, looking at one point: each [pose, 3]."""

    eye: Floats
    forward: Floats
    right: Floats
    up: Floats


def cameras(azimuth: NDArray[np.float64], elevation: float, target: float) -> Cameras:
    """Cameras around the vertical axis; azimuth 0 looks an object in the face, which points along +x."""
    level, height = np.cos(elevation), np.full_like(azimuth, np.sin(elevation))
    out = np.stack([level * np.cos(azimuth), level * np.sin(azimuth), height], 1)
    right = np.stack([-np.sin(azimuth), np.cos(azimuth), 0 * azimuth], 1)
    up = np.cross(out, right)
    eye = DISTANCE * out + np.array([0, 0, target])
    return Cameras(*(part.astype(np.float32) for part in (eye, -out, right, up)))


def render(solids: list[Solid], view: Cameras, shadow: Floats) -> NDArray[np.uint8]:
    """Pictures of the solids standing on the ground z = 0 with their `shadow_map`, [pose, SIDE, SIDE, 3]."""
    poses, side = len(view.eye), SIDE * SAMPLES
    depth = np.full(poses * side * side, np.inf, np.float32)
    colour = np.zeros((poses * side * side, 4), np.float32)
    lamp = np.array(KEY_LIGHT) / np.linalg.norm(KEY_LIGHT)
    light = lamp[0] * view.right + lamp[1] * view.up - lamp[2] * view.forward
    half = light - view.forward
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    for solid in solids:
        cast(solid, view, side, depth, colour, light.astype(np.float32), half.astype(np.float32))
    picture = shrink(colour.reshape(poses, side, side, 4))
    ground = ground_picture(shadow, view)
    picture = picture[..., :3] + (1 - picture[..., 3:]) * ground
    return (np.clip(picture, 0, 1) * 255 + 0.5).astype(np.uint8)


def cast(solid: Solid, view: Cameras, side: int, depth: Floats, colour: Floats, light: Floats, half: Floats) -> None:
    """Draw one solid into the depth and colour buffers of all poses."""
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
    u: Floats = ((column + 0.5) * (2 / side) - 1).astype(np.float32) * np.float32(FIELD)
    v: Floats = (1 - (row + 0.5) * (2 / side)).astype(np.float32) * np.float32(FIELD)

    local = solid.to_local.T
    origin = (view.eye - solid.centre) @ local
    forward, right, up = view.forward @ local, view.right @ local, view.up @ local

    def along(weights: Floats) -> Floats:
        """weights · direction over the window, [pose, height, width]; weights [3] or [pose, 3]."""
        base, across, rise = ((axis * weights).sum(-1)[:, None] for axis in (forward, right, up))
        out: Floats = (base + across * u)[:, None, :] + (rise * v)[:, :, None]
        return out

    with np.errstate(divide="ignore", invalid="ignore"):
        distance, face = HIT[solid.kind](solid, origin, along)
    buffer_row = np.arange(len(row))[:, None] * side + row
    places = (buffer_row * side)[:, :, None] + column[:, None, :]
    hits = np.flatnonzero(distance < depth[places])
    place, t = places.ravel()[hits], distance.ravel()[hits]
    depth[place] = t

    pose, inside = np.divmod(hits, height * width)
    i, j = np.divmod(inside, width)
    direction = forward[pose] + u[pose, j][:, None] * right[pose] + v[pose, i][:, None] * up[pose]
    point = origin[pose] + t[:, None] * direction
    normal = NORMAL[solid.kind](solid, point, face.ravel()[hits]) @ solid.to_local
    normal /= np.sqrt(dot(normal, normal))[:, None]
    colour[place, :3] = shade(solid, point, normal, dot(normal, light[pose]), dot(normal, half[pose]))
    colour[place, 3] = 1


def dot(a: Floats, b: Floats) -> Floats:
    """Row by row."""
    out: Floats = np.einsum("ij,ij->i", a, b)
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
    """Outward, in local coordinates."""
    return point


def normal_frustum(solid: Solid, point: Floats, face: NDArray[np.int8]) -> Floats:
    """Outward, in local coordinates: the side's, or the axis at an end."""
    k, m = solid.taper
    side = point.copy()
    side[:, 2] = -m * (k + m * point[:, 2])
    cap = np.zeros_like(point)
    cap[:, 2] = face
    return np.where(face[:, None] != 0, cap, side)


def normal_polyhedron(solid: Solid, point: Floats, face: NDArray[np.int8]) -> Floats:
    """Outward, in local coordinates."""
    assert solid.planes is not None
    return solid.planes[face]


HIT = {"ellipsoid": hit_ellipsoid, "frustum": hit_frustum, "polyhedron": hit_polyhedron}
NORMAL = {"ellipsoid": normal_ellipsoid, "frustum": normal_frustum, "polyhedron": normal_polyhedron}


def shade(solid: Solid, point: Floats, normal: Floats, towards_light: Floats, towards_half: Floats) -> Floats:
    """Lambert from the key light, sky light from above that fades near the ground, and a highlight."""
    paint: Floats = solid.colour
    if solid.second is not None:
        paint = np.where(marked(solid.marking, point)[:, None], solid.second, paint)
    height = point @ solid.to_world[2] + solid.centre[2]
    near_ground = np.clip(0.55 + 1.1 * height, 0.55, 1)  # the ground hides part of the sky
    sky = (0.44 + 0.16 * normal[:, 2]) * near_ground
    shine = np.maximum(towards_half, 0)
    for _ in range(5):
        shine = shine * shine
    brightness = sky + 0.58 * np.maximum(towards_light, 0)
    out: Floats = paint * brightness[:, None] + np.float32(solid.gloss) * shine[:, None]
    return np.minimum(out, 1)


def marked(marking: tuple[str, float, float], point: Floats) -> Any:
    """Where a solid wears its second colour, from local coordinates."""
    kind, a, b = marking
    x, y, z = point.T
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
    return np.zeros(len(point), bool)


def shrink(picture: Floats) -> Floats:
    """From samples to pixels with a filter [1 3 3 1]/8 along each axis: smoother edges than the plain mean."""
    for axis in (1, 2):
        pad = [(0, 0)] * 4
        pad[axis] = (1, 1)
        p = np.moveaxis(np.pad(picture, pad, mode="edge"), axis, 0)
        mixed = (p[0:-2:2] + p[3::2]) * np.float32(0.125) + (p[1:-1:2] + p[2::2]) * np.float32(0.375)
        picture = np.moveaxis(mixed, 0, axis)
    return picture


def ground_picture(shadow: Floats, view: Cameras) -> Floats:
    """The background with the soft shadow of everything above the ground, [pose, SIDE, SIDE, 3]."""
    top, bottom = (np.array(c, np.float32) for c in BACKGROUND)
    ramp = np.linspace(0, 1, SIDE, dtype=np.float32)[:, None]
    background = (top * (1 - ramp) + bottom * ramp)[:, None]
    pixel = ((np.arange(SIDE, dtype=np.float32) + 0.5) * np.float32(2 / SIDE) - 1) * np.float32(FIELD)
    u, v = pixel[None, None, :, None], -pixel[None, :, None, None]
    pose = (slice(None), None, None)
    direction = view.forward[pose] + u * view.right[pose] + v * view.up[pose]
    with np.errstate(divide="ignore"):
        t = np.where(direction[..., 2] < 0, -view.eye[pose][..., 2] / direction[..., 2], np.float32(1e6))
    size = len(shadow)
    where = [(view.eye[pose][..., k] + t * direction[..., k]) * (size / 2 / REACH) + size / 2 - 0.5 for k in (0, 1)]
    dark = ndimage.map_coordinates(shadow, where, order=1, mode="constant")
    tint = np.array([1.0, 0.97, 0.92], np.float32)  # shadows are a little blue
    out: Floats = background * (1 - dark[..., None] * tint)
    return out


def shadow_map(solids: list[Solid], size: int = 48) -> Floats:
    """How dark the ground is, [size, size] over |x|, |y| ≤ REACH: dense under low parts, faint under high ones."""
    cell = ((np.arange(size, dtype=np.float32) + 0.5) * (2 / size) - 1) * REACH
    lowest = np.full((size, size), np.inf, np.float32)
    for solid in solids:
        # The box around the solid, seen from below, rounded to an ellipse where the solid is round.
        low, high = solid.corners.min(0), solid.corners.max(0)
        middle, extent = (low + high) / 2, np.maximum((high - low) / 2, 1e-3)
        x, y = np.abs((cell - middle[0]) / extent[0])[:, None], np.abs((cell - middle[1]) / extent[1])[None]
        inside = (x < 1) & (y < 1) if solid.kind == "polyhedron" else x * x + y * y < 1
        lowest[inside] = np.minimum(lowest[inside], low[2])
    contact = ndimage.gaussian_filter(np.exp(-lowest / 0.12), size / 48)
    broad = ndimage.gaussian_filter(np.exp(-lowest / 0.8), size / 14)
    return (0.42 * contact + 0.34 * broad).astype(np.float32)
