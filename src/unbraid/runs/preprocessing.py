"""preprocessing.json of a run: how raw values became observations, so that new ones need no training data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unbraid.data.own.image_folder import wanted_size
from unbraid.data.preprocessing import Preprocessing
from unbraid.util.files import read_json, write_json
from unbraid.util.lists import name_list
from unbraid.util.schema import from_json, to_json

FILE = "preprocessing.json"


def write_preprocessing(folder: Path, how: Preprocessing) -> None:
    """Write it into a run directory, unless it is there."""
    if not (folder / FILE).is_file():
        write_json(folder / FILE, to_json(how))


def read_preprocessing(folder: Path, data: Mapping[str, Any]) -> Preprocessing:
    """What a run directory says of it.

    Args:
        folder: the run directory.
        data: what config.json says of the data; runs made before the file existed have nothing else.
    """
    if (folder / FILE).is_file():
        return from_json(Preprocessing, read_json(folder / FILE))
    return from_arguments(data.get("arguments") or {})


def from_arguments(arguments: Mapping[str, Any]) -> Preprocessing:
    """What the arguments of `load` tell of it.

    Example:
        >>> from_arguments({"resize": 32, "channels": 1}).resize
        (32, 32)
    """
    statistics = arguments.get("standardize")
    known = statistics if isinstance(statistics, Mapping) else {"mean": (), "scale": ()}
    value_range = arguments.get("value_range")
    return Preprocessing(
        columns=tuple(name_list(arguments.get("columns") or ())),
        mean=tuple(known["mean"]),
        scale=tuple(known["scale"]),
        resize=wanted_size(arguments.get("resize")),
        crop=arguments.get("crop", "centre"),
        channels=arguments.get("channels"),
        depth=arguments.get("depth", 8),
        layout=arguments.get("layout"),
        value_range=None if value_range is None else (float(value_range[0]), float(value_range[1])),
    )
