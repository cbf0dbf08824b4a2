"""Options of configuration classes by their full names: `beta`, `adam.lr`."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, get_type_hints

from unbraid.util.schema import convert, parse, to_json


def option_names(cls: type) -> list[str]:
    """All options of a configuration class, those of its parts as `adam.lr`."""
    return [name for name, _, _ in describe_options(cls)]


def describe_options(cls: type) -> list[tuple[str, Any, str]]:
    """All options of a configuration class, for `unbraid methods NAME`.

    Args:
        cls: a frozen dataclass whose fields are made by `option`.

    Returns:
        (name, default, help) of each.
    """
    rows: list[tuple[str, Any, str]] = []
    hints = get_type_hints(cls)
    for field in dataclasses.fields(cls):
        about = str(field.metadata.get("help", ""))
        if dataclasses.is_dataclass(hints[field.name]):
            for part in dataclasses.fields(hints[field.name]):
                meaning = part.metadata.get("help", part.name)
                rows.append(
                    (f"{field.name}.{part.name}", to_json(getattr(field.default, part.name)), f"{about}: {meaning}")
                )
        else:
            rows.append((field.name, field.default, about))
    return rows


def assign(cls: type, values: dict[str, Any], path: Sequence[str], value: Any) -> None:
    """Set one option in the JSON of a configuration, checked against its annotation.

    Args:
        cls: the configuration class.
        values: its JSON, which is changed.
        path: the field's name, or those of a part and of its field.
        value: as typed, or as it stands in Python.
    """
    hint = get_type_hints(cls)[path[0]]
    if len(path) > 1:
        assign(hint, values[path[0]], path[1:], value)
    elif isinstance(value, str):
        values[path[0]] = to_json(parse(hint, value, f"--{path[0]}"))
    else:
        values[path[0]] = to_json(convert(hint, value, f"--{path[0]}"))
