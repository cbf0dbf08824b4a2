"""`load`: one function for every data set there is."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unbraid.data.base import FactorData
from unbraid.data.checked import checked
from unbraid.data.files import load_path
from unbraid.data.published import catalogue, load_published
from unbraid.errors import unknown

BUILT_IN: dict[str, str] = {
    "pendulum": "angles of a damped pendulum, 100 values a trace: length, damping, mass (continuous)",
    "scenes": "a toy on a floor under a sky, 64×64 RGB: sky (10), floor (10), place (11), distance (7), sun (8)",
    "sprites": "dSprites drawn from its geometry, 737,280 images 64×64 binary: shape, scale, orientation, x, y",
    "toys": "200 toys of simple solids, ray-cast, 64×64 RGB: azimuth (24), elevation (4), object (200)",
}


def load(name: str | Path, /, **arguments: Any) -> FactorData:
    """Load a data set by its name or from a path: a folder of images, .npy, .npz, .h5, .csv or .parquet.

    The same name and `arguments` give the same data again: they are kept in `FactorData.name` and
    `FactorData.arguments`, from which a run can be replayed.
    """
    key = str(name)
    if key in BUILT_IN:
        make: Callable[..., FactorData] = importlib.import_module(f"unbraid.data.{key}").load
        return make(**checked(key, arguments, make))
    if key in catalogue():
        return load_published(key, **arguments)
    path = Path(key).expanduser()
    if path.exists() or os.sep in key or path.suffix:
        return load_path(path, **arguments)
    raise unknown("data set", key, [*BUILT_IN, *catalogue()])
