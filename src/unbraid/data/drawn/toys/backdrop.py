"""What the toys stand on: a soft background and the shadow under them."""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from unbraid.data.drawn.toys.raycast import SIDE, Cameras, Floats, Solid, screen

REACH = 1.8  # the ground that can be in shadow
BACKGROUND = ((0.965, 0.970, 0.978), (0.905, 0.912, 0.925))  # top and bottom of the picture


def ground_picture(shadow: Floats, view: Cameras) -> Floats:
    """The background with the soft shadow of everything above the ground, [3, pose, SIDE, SIDE]."""
    top, bottom = (np.array(colour, np.float32)[:, None, None, None] for colour in BACKGROUND)
    ramp = np.linspace(0, 1, SIDE, dtype=np.float32)[:, None]
    background = top * (1 - ramp) + bottom * ramp
    pixel = screen(np.arange(SIDE), SIDE)
    pose = (slice(None), None, None)
    x, y, z = (
        view.forward[:, k][pose] + pixel * view.right[:, k][pose] - pixel[:, None] * view.up[:, k][pose]
        for k in range(3)
    )
    with np.errstate(divide="ignore"):
        t = np.where(z < 0, -view.eye[:, 2][pose] / z, np.float32(1e6))
    size = len(shadow)
    where = [(view.eye[:, k][pose] + t * axis) * (size / 2 / REACH) + (size / 2 - 0.5) for k, axis in enumerate((x, y))]
    dark = ndimage.map_coordinates(shadow, where, order=1, mode="constant")
    tint = np.array([1.0, 0.97, 0.92], np.float32)[:, None, None, None]  # shadows are a little blue
    out: Floats = background * (1 - dark * tint)
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
    shade: Floats = (0.42 * contact + 0.34 * broad).astype(np.float32)
    return shade
