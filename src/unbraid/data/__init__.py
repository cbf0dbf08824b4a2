"""Data sets: embedded ones that need no download, and people's own files."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unbraid.data.base import Factor, FactorData
from unbraid.errors import InputError, unknown

__all__ = ["BUILT_IN", "Factor", "FactorData", "load"]

BUILT_IN: dict[str, str] = {
    "pendulum": "angles of a damped pendulum, 100 values a trace: length, damping, mass (continuous)",
    "sprites": "dSprites drawn from its geometry, 737,280 images 64×64 binary: shape, scale, orientation, x, y",
    "toys": "200 toys of simple solids, ray-cast, 64×64 RGB: azimuth (24), elevation (4), object (200)",
}


def load(name: str | Path, **arguments: Any) -> FactorData:
    """Load a data set by its built-in name or from a path.

    The same name and `arguments` give the same data again: they are kept in `FactorData.name` and
    `FactorData.arguments`, from which a run can be replayed.
    """
    key = str(name)
    if key in BUILT_IN:
        make: Callable[..., FactorData] = importlib.import_module(f"unbraid.data.{key}").load
        try:
            return make(**arguments)
        except TypeError as error:
            raise InputError(f"{key}: {error}.") from error
    raise unknown("data set", key, BUILT_IN)
