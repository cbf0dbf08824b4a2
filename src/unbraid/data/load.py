"""`load`: one function for every data set there is."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unbraid.data.arguments import check_arguments
from unbraid.data.drawn import BUILT_IN
from unbraid.data.factor_data import FactorData
from unbraid.data.one_of import one_of
from unbraid.data.own.readers import load_path
from unbraid.data.published.catalogue import catalogue, load_published
from unbraid.data.train_under import train_under
from unbraid.errors import unknown


def load(name: str | Path, /, **arguments: Any) -> FactorData:
    """Load a data set by its name or from a path.

    The same name and `arguments` give the same data again: they are kept in `FactorData.name` and
    `FactorData.arguments`, from which a run can be replayed.

    Args:
        name: a built-in or published data set (`unbraid data list`), or a path: a folder of images, .npy, .npz, .h5,
            .csv or .parquet.
        arguments: options of that data set or kind of file, as in docs/data.md; and `train_under` for any: ties between
            factors that training sees and scores do not, as in `unbraid.data.train_under.ties`; and `one_of`: factors
            put together from yes-or-no ones, as in `unbraid.data.one_of.parse`.

    Returns:
        Observations with the factors that are known.

    Example:
        >>> load("pendulum", n=3)
        FactorData('pendulum', 3 × (100,), factors: length, damping, mass)
    """
    if (tied := arguments.pop("train_under", None)) is not None:
        return train_under(load(name, **arguments), str(tied))
    if (made := arguments.pop("one_of", None)) is not None:
        return one_of(load(name, **arguments), str(made))
    key = str(name)
    if key in BUILT_IN:
        make: Callable[..., FactorData] = importlib.import_module(f"unbraid.data.drawn.{key}").load
        return make(**check_arguments(key, arguments, make))
    if key in catalogue():
        return load_published(key, **arguments)
    path = Path(key).expanduser()
    if path.exists() or os.sep in key or path.suffix:
        return load_path(path, **arguments)
    raise unknown("data set", key, [*BUILT_IN, *catalogue()])
