"""Arguments of loaders, checked against their annotations: a wrong one is the user's mistake, not a crash."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, get_type_hints

import numpy as np

from unbraid.errors import InputError, nearest
from unbraid.util.schema import convert

OWN = {"arguments", "pack_as", "name", "value_names"}  # what loaders tell one another, and users do not


def checked(name: str, arguments: Mapping[str, Any], *loaders: Callable[..., Any]) -> dict[str, Any]:
    """The arguments, with plain values for NumPy's; refused are those that no loader has or that are of other types."""
    hints: dict[str, Any] = {}
    for loader in loaders:
        known, parameters = get_type_hints(loader), inspect.signature(loader).parameters.values()
        optional = [p.name for p in parameters if p.default is not p.empty and p.name not in OWN]
        hints |= {argument: known.get(argument, Any) for argument in optional}
    plain = dict(arguments)
    for argument, value in arguments.items():
        if argument not in hints:
            remedy = nearest(argument, hints) if hints else "leave it out."
            raise InputError(f"{name!r} has no option {argument!r}; {remedy}")
        if isinstance(value, np.generic | np.ndarray) and hints[argument] is not Any:
            plain[argument] = value.tolist()
        convert(hints[argument], plain[argument], f"option {argument!r} of {name!r}")
    return plain
