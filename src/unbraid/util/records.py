"""JSON files of a run, checked against dataclasses that say what must stand in them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unbraid.errors import InputError
from unbraid.util.files import read_json
from unbraid.util.schema import from_json


def read_record(path: Path, cls: type, remedy: str = "delete it and repeat the command.") -> dict[str, Any]:
    """A JSON object whose fields are as dataclass `cls` says; fields that it does not know are left alone."""
    return check_record(read_json(path), cls, path, remedy)


def check_record(value: Any, cls: type, path: Path, remedy: str) -> dict[str, Any]:
    """The same for a value that was read already."""
    if not isinstance(value, Mapping):
        raise InputError(f"{str(path)!r} is damaged (it holds no JSON object); {remedy}")
    fields = dataclasses.fields(cls)
    for field in fields:
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if required and field.name not in value:
            raise InputError(f"{str(path)!r} is damaged ({field.name} is missing); {remedy}")
    known = {field.name for field in fields}
    try:
        from_json(cls, {name: item for name, item in value.items() if name in known})
    except (InputError, TypeError, ValueError) as error:
        raise InputError(f"{str(path)!r} is damaged ({str(error).rstrip('.')}); {remedy}") from error
    return dict(value)
