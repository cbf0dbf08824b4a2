"""Arguments of loaders, checked against their annotations: a wrong one is the user's mistake, not a crash."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from unbraid.errors import InputError, nearest

OWN = {"arguments", "pack_as", "name"}  # what loaders tell one another, and users do not
WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}


def checked(name: str, arguments: Mapping[str, Any], *loaders: Callable[..., Any]) -> dict[str, Any]:
    """The arguments, NumPy's numbers as plain ones; refused are those that no loader has or that are of other types."""
    hints: dict[str, Any] = {}
    for loader in loaders:
        known = get_type_hints(loader)
        optional = (
            p for p in inspect.signature(loader).parameters.values() if p.default is not inspect.Parameter.empty
        )
        hints |= {p.name: known.get(p.name, Any) for p in optional if p.name not in OWN}
    plain = {key: value.item() if isinstance(value, np.generic) else value for key, value in arguments.items()}
    for argument, value in plain.items():
        if argument not in hints:
            remedy = nearest(argument, hints) if hints else "leave it out."
            raise InputError(f"{name!r} has no option {argument!r}; {remedy}")
        choices = parts(hints[argument])
        if not any(fits(value, choice) for choice in choices):
            expected = " or ".join(dict.fromkeys(described(choice) for choice in choices if choice is not type(None)))
            raise InputError(f"option {argument!r} of {name!r} must be {expected}, not {value!r}.")
    return plain


def parts(hint: Any) -> tuple[Any, ...]:
    """The members of a union, or the one type."""
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type. A list of names may come as one word, as the command line gives it."""
    if hint is Any:
        return True
    kind = get_origin(hint) or hint
    if kind in (Sequence, tuple):
        return not isinstance(value, Mapping) and (isinstance(value, Sequence) or hasattr(value, "__len__"))
    if kind is float:
        return isinstance(value, Real) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, Integral) and not isinstance(value, bool)
    return isinstance(value, kind)


def described(hint: Any) -> str:
    """A type in words."""
    kind = get_origin(hint) or hint
    if kind is Mapping:
        return "names with values, as in '{\"x\": 2}'"
    if kind in (Sequence, tuple):
        return "a list"
    return "a path" if kind is Path else WORDS.get(kind, getattr(kind, "__name__", str(kind)))
