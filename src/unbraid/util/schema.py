"""Configurations: frozen dataclasses with documented, bounded options; to JSON and back, checked by annotation."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from unbraid.errors import InputError, unknown
from unbraid.util.lists import split_list

T = TypeVar("T")


@dataclass(frozen=True)
class Bounds:
    """What a number may be. Not a number (NaN) lies within no bounds."""

    least: float | None = None  # at least this
    above: float | None = None  # greater than this
    most: float | None = None  # at most this
    below: float | None = None  # less than this

    def allow(self, number: float) -> bool:
        """Whether the number lies within the bounds."""
        return not (
            math.isnan(number)
            or (self.least is not None and number < self.least)
            or (self.above is not None and number <= self.above)
            or (self.most is not None and number > self.most)
            or (self.below is not None and number >= self.below)
        )

    def __str__(self) -> str:
        """As in "at least 0 and less than 1"."""
        words = {"at least": self.least, "greater than": self.above, "at most": self.most, "less than": self.below}
        return " and ".join(f"{word} {limit:g}" for word, limit in words.items() if limit is not None)


def option(default: Any, help: str, **bounds: float) -> Any:
    """A configuration field with its default, its meaning and, for numbers, its bounds.

    Args:
        default: the value where none is given.
        help: the line that `unbraid methods NAME` prints for it.
        **bounds: `least`, `above`, `most`, `below`, as in `Bounds`; of a tuple they hold for each element.

    Returns:
        A dataclass field. Help and bounds are metadata: neither enters JSON or keys.

    Example:
        >>> @dataclass(frozen=True)
        ... class Config:
        ...     latents: int = option(10, "number of codes", least=1)
        >>> check_bounds(Config(latents=0))
        Traceback (most recent call last):
        unbraid.errors.InputError: --latents of Config must be at least 1, not 0.
    """
    metadata = {"help": help} | ({"bounds": Bounds(**bounds)} if bounds else {})
    return dataclasses.field(default=default, metadata=metadata)


def later_option(default: Any, help: str, **bounds: float) -> Any:
    """An option that came after runs were made. At its default it is left out of JSON, and they keep their keys."""
    field = option(default, help, **bounds)
    return dataclasses.field(default=default, metadata={**field.metadata, "later": True})


def with_default(base: type, name: str, default: Any) -> Any:
    """The option `name` of a base class with another default; what it means and what it may be stay the same.

    Example:
        >>> @dataclass(frozen=True)
        ... class Base:
        ...     batch_size: int = option(64, "observations in a batch", least=1)
        >>> @dataclass(frozen=True)
        ... class Small(Base):
        ...     batch_size: int = with_default(Base, "batch_size", 32)
        >>> Small().batch_size
        32
    """
    (field,) = (field for field in dataclasses.fields(base) if field.name == name)
    return dataclasses.field(default=default, metadata=field.metadata)


def check_bounds(config: Any) -> None:
    """Refuse a configuration with a number outside its option's bounds, also within its parts (`--adam.lr`).

    Args:
        config: a dataclass whose fields were made by `option`.

    Raises:
        InputError: for the first such number, with the option's name and its bounds.
    """
    _check_part(config, "", label(type(config)))


def _check_part(config: Any, prefix: str, owner: str) -> None:
    for field in dataclasses.fields(config):
        value, place = getattr(config, field.name), prefix + typed(field.name)
        if dataclasses.is_dataclass(value):
            _check_part(value, f"{place}.", owner)
        bounds = field.metadata.get("bounds")
        for number in value if isinstance(value, tuple) else (value,):
            if bounds is not None and not bounds.allow(number):
                raise InputError(f"--{place} of {owner} must be {bounds}, not {number:g}.")


def to_json(config: Any) -> Any:
    """Plain JSON of a configuration: dataclasses become objects, tuples become lists.

    Example:
        >>> to_json({"classes": (3, 2)})
        {'classes': [3, 2]}
    """
    if dataclasses.is_dataclass(config) and not isinstance(config, type):
        values = {f: getattr(config, f.name) for f in dataclasses.fields(config)}
        shown = {f: value for f, value in values.items() if not ("later" in f.metadata and value == f.default)}
        return {f.name: to_json(value) for f, value in shown.items()}
    if isinstance(config, Mapping):
        return {name: to_json(item) for name, item in config.items()}
    if isinstance(config, tuple | list):
        return [to_json(item) for item in config]
    return config


def from_json(cls: type[T], values: Mapping[str, Any]) -> T:
    """The configuration of class `cls` with these values.

    Args:
        cls: a dataclass.
        values: by option; what is not named keeps its default.

    Returns:
        An instance of `cls`.

    Raises:
        InputError: where a name is unknown or a value is not what the annotation says.

    Example:
        >>> from_json(Bounds, {"least": 1}).least
        1.0
    """
    hints = get_type_hints(cls)
    known = [f.name for f in dataclasses.fields(cls)]  # type: ignore[arg-type]
    for name in values:
        if name not in known:
            raise unknown(f"option of {label(cls)}", name, known)
    return cls(**{name: convert(hints[name], value, f"{label(cls)}.{name}") for name, value in values.items()})


def digest(value: Any) -> str:
    """A short hash of anything that `to_json` understands; equal content, equal hash.

    Example:
        >>> digest({"a": 1, "b": (2,)}) == digest({"b": [2], "a": 1})
        True
    """
    text = json.dumps(to_json(value), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def parse(hint: Any, text: str, where: str) -> Any:
    """A value given as text on the command line, read as the annotation says; lists are written with commas.

    Args:
        hint: the option's annotation.
        text: what was typed.
        where: how messages call the option.

    Returns:
        The value.

    Example:
        >>> parse(tuple[int, ...], "3,2", "--classes"), parse(float, "1e-3", "--adam.lr")
        ((3, 2), 0.001)
    """
    if get_origin(hint) is tuple and not text.startswith("["):
        inner = get_args(hint)[0]
        return convert(hint, [parse(inner, item, where) for item in split_list(text)], where)
    if _accepts(hint, str) and not _accepts(hint, int):
        if text == "none" and _accepts(hint, type(None)):
            return None
        return convert(hint, text, where)
    try:
        value = json.loads(text.lower() if text.lower() in ("true", "false", "none") else text)
    except json.JSONDecodeError:
        value = None if text == "none" else text
    return convert(hint, value, where)


def typed(name: str) -> str:
    """An option as people type it.

    Example:
        >>> typed("batch_size")
        'batch-size'
    """
    return name.replace("_", "-")


def label(cls: type) -> str:
    """How a configuration class is called in messages: the name it has on the command line.

    Example:
        >>> label(Bounds)
        'Bounds'
    """
    return str(getattr(cls, "name", cls.__name__))


def _accepts(hint: Any, kind: type) -> bool:
    if get_origin(hint) in (Union, types.UnionType):
        return any(_accepts(part, kind) for part in get_args(hint))
    if get_origin(hint) is Literal:
        return any(isinstance(choice, kind) for choice in get_args(hint))
    return hint is kind or (kind is int and hint is float)


def convert(hint: Any, value: Any, where: str) -> Any:
    """The value as the annotation wants it, or an error that says what was expected.

    Args:
        hint: an annotation: int, float, str, Literal, tuple, a union or a dataclass.
        value: plain JSON.
        where: how messages call the option.

    Returns:
        The value: a whole number becomes a float where one is wanted, a list a tuple, an object a dataclass.

    Example:
        >>> convert(tuple[float, ...], [1, 2], "--scales")
        (1.0, 2.0)
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return value
    if origin is Literal:
        if value not in arguments:
            raise unknown(f"value for {where}:", str(value), map(str, arguments))
        return value
    if origin in (Union, types.UnionType):
        for part in arguments:
            try:
                return convert(part, value, where)
            except InputError:
                continue
        raise _mismatch(where, value, " or ".join(dict.fromkeys(map(_describe, arguments))))
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise _mismatch(where, value, "a list, written with commas")
        inner = arguments[:1] * len(value) if arguments[-1:] == (Ellipsis,) else arguments
        if len(inner) != len(value):
            raise _mismatch(where, value, f"a list of {len(inner)} values")
        return tuple(convert(part, item, where) for part, item in zip(inner, value, strict=True))
    if dataclasses.is_dataclass(hint):
        if isinstance(value, hint):  # type: ignore[arg-type]
            return value
        if not isinstance(value, Mapping):
            raise _mismatch(where, value, "an object of options")
        return from_json(hint, value)  # type: ignore[arg-type]
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint is int and isinstance(value, bool):
        raise _mismatch(where, value, _describe(hint))
    if not isinstance(value, origin or hint):  # Sequence[str], Mapping[str, int] and the like by their kind alone
        raise _mismatch(where, value, _describe(hint))
    return value


def _describe(hint: Any) -> str:
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "a word", type(None): "none"}
    names |= {Path: "a path", Sequence: "a list", tuple: "a list", Mapping: "names with values, as in '{\"x\": 2}'"}
    kind = get_origin(hint) or hint
    return names.get(kind, getattr(kind, "__name__", str(kind)))


def _mismatch(where: str, value: Any, expected: str) -> InputError:
    return InputError(f"{where} must be {expected}, not {value!r}.")
