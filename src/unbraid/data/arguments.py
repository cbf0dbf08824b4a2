"""Arguments of data loaders: parsed from text, and checked against the loaders' annotations."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from unbraid.errors import InputError, nearest
from unbraid.util.lists import split_list
from unbraid.util.schema import convert

INTERNAL = {"arguments", "pack_as", "name", "value_names"}  # passed between loaders, not by users


def parse_argument(text: str) -> Any:
    """The value of a data set's argument as typed: numbers and true/false as such, all else as text.

    Args:
        text: what stands after `--data.NAME`.

    Returns:
        The value that JSON makes of it, or the text itself.

    Example:
        >>> parse_argument("32"), parse_argument("True"), parse_argument("train")
        (32, True, 'train')
    """
    try:
        return json.loads(text.lower() if text in ("True", "False") else text)
    except json.JSONDecodeError:
        return text


def check_arguments(name: str, arguments: Mapping[str, Any], *loaders: Callable[..., Any]) -> dict[str, Any]:
    """Check arguments against the optional parameters of the loaders that will receive them.

    Args:
        name: the data set, for the message.
        arguments: what the user passed.
        loaders: functions that take some of them each.

    Returns:
        The arguments with NumPy values made plain. One that no loader has, or of another type, is an `InputError`.

    Example:
        >>> def load(size: int = 64): ...
        >>> check_arguments("sprites", {"size": np.int64(32)}, load)
        {'size': 32}
    """
    hints: dict[str, Any] = {}
    for loader in loaders:
        known, parameters = get_type_hints(loader), inspect.signature(loader).parameters.values()
        optional = [p.name for p in parameters if p.default is not p.empty and p.name not in INTERNAL]
        hints |= {argument: known.get(argument, Any) for argument in optional}
    plain = dict(arguments)
    for argument, value in arguments.items():
        if argument not in hints:
            remedy = nearest(argument, hints) if hints else "leave it out."
            raise InputError(f"{name!r} has no option {argument!r}; {remedy}")
        if isinstance(value, np.generic | np.ndarray) and hints[argument] is not Any:
            plain[argument] = value.tolist()
        plain[argument] = as_list(hints[argument], plain[argument])
        convert(hints[argument], plain[argument], f"option {argument!r} of {name!r}")
    return plain


def as_list(hint: Any, value: Any) -> Any:
    """Text as the list that an argument takes; anything else as it is.

    Example:
        >>> as_list(Sequence[str] | None, "mass,width"), as_list(tuple[float, float] | None, "-1,1")
        (['mass', 'width'], [-1, 1])
    """
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    wanted = next((kind for kind in kinds if get_origin(kind) in (Sequence, tuple)), None)
    if wanted is None or str in kinds or not isinstance(value, str | int | float):
        return value
    if not isinstance(value, str):  # a column whose name is a number
        return [str(value)] if get_args(wanted)[0] is str else value
    items = split_list(value)
    return items if get_args(wanted)[0] is str else [parse_argument(item) for item in items]
