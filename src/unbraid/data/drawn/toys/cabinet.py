"""`toys`: objects of simple solids on a turntable, ray-cast. Pose is the factor; identity is the detail."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from unbraid.data import cache
from unbraid.data.drawn.toys import animals as toys_animals
from unbraid.data.drawn.toys import backdrop, raycast
from unbraid.data.drawn.toys import scene as toys_scene
from unbraid.data.drawn.toys.solids import Dice, standing
from unbraid.data.factor_data import Factor, FactorData
from unbraid.data.published.formats import resize_images
from unbraid.errors import InputError

VERSION = 2  # raise it when a pixel changes: caches and fingerprints follow
SEED = 1
OBJECTS, AZIMUTHS = 200, 24
ELEVATIONS = (8.0, 23.0, 38.0, 53.0)  # degrees
FAMILIES = (
    toys_scene.car,
    toys_animals.beast,
    toys_scene.aeroplane,
    toys_scene.truck,
    toys_animals.bird,
    toys_scene.boat,
    toys_animals.robot,
    toys_scene.tractor,
    toys_scene.locomotive,
    toys_animals.turtle,
)


def load(objects: int = OBJECTS, size: int = raycast.SIDE) -> FactorData:
    """The first `objects` toys in all 96 poses; rows go through azimuth first, then elevation, then object."""
    if not 1 <= objects <= OBJECTS:
        raise InputError(f"toys: objects={objects} is out of range; there are 1 to {OBJECTS}.")
    if not 8 <= size <= raycast.SIDE:
        raise InputError(f"toys: size={size} is out of range; it may be 8 to {raycast.SIDE}.")
    stem = f"toys-v{VERSION}-{objects}" + (f"-{size}px" if size != raycast.SIDE else "")
    shape = (objects * AZIMUTHS * len(ELEVATIONS), size, size, 3)
    images = cache.cached_array(
        f"toys/{stem}.npy", shape, np.uint8, lambda: drawn(objects, size), f"drawing {objects} toys"
    )
    grid = np.indices((objects, len(ELEVATIONS), AZIMUTHS)).reshape(3, -1)
    info = (
        Factor("azimuth", AZIMUTHS, "cyclic"),
        Factor("elevation", len(ELEVATIONS), "ordinal"),
        Factor("object", objects, "categorical"),
    )
    chosen = {"objects": (objects, OBJECTS), "size": (size, raycast.SIDE)}
    return FactorData(
        "toys",
        images,
        grid[::-1].T.astype(np.float64),
        info,
        known_fingerprint=stem,
        arguments={name: value for name, (value, default) in chosen.items() if value != default},
    )


def drawn(objects: int, size: int) -> Iterator[NDArray[np.uint8]]:
    """The images of each object in turn; NumPy lets threads run side by side."""
    with ThreadPoolExecutor(min(cache.cores(), 8)) as pool:
        yield from pool.map(lambda index: resize_images(draw(index), size), range(objects))


def draw(index: int) -> NDArray[np.uint8]:
    """All poses of one object, [96, SIDE, SIDE, 3]."""
    solids, middle = standing(FAMILIES[index % len(FAMILIES)](Dice(SEED, index)))
    shadow = backdrop.shadow_map(solids)
    azimuth = 2 * np.pi * np.arange(AZIMUTHS) / AZIMUTHS
    views = [raycast.cameras(azimuth, np.deg2rad(degrees), middle) for degrees in ELEVATIONS]
    return np.concatenate([raycast.render(solids, view, backdrop.ground_picture(shadow, view)) for view in views])
