"""Names that people give to codes: names.json in a run directory, `{"z3": "hue", "stage-2/z1": "texture"}`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unbraid.errors import InputError
from unbraid.util.files import read_json

FILE = "names.json"


def read_names(folder: Path) -> dict[str, str]:
    """What codes are called, by their column; codes of later stages as `stage-2/z1`. Empty where no one named any."""
    path = folder / FILE
    if not path.is_file():
        return {}
    names = read_json(path)
    check_names(names, repr(str(path)))
    return {key: value.strip() for key, value in names.items() if value.strip()}


def check_names(names: Any, what: str) -> None:
    """Refuse what is no object of names; `what` says where it stands."""
    if not isinstance(names, dict) or not all(isinstance(value, str) for value in names.values()):
        raise InputError(f'{what} must be an object of names, as in {{"z3": "hue"}}; correct or delete it.')


def named_columns(columns: Sequence[str], names: dict[str, str], stage: int = 1) -> list[str]:
    """The columns of a stage under the names they were given, where they were given any."""
    prefix = "" if stage == 1 else f"stage-{stage}/"
    return [names.get(f"{prefix}{column}", column) for column in columns]
