"""Options on the command line: `--beta 6`, `--2.latents 5`, `--adam.lr 1e-3`, read as the configuration says."""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_type_hints

from unbraid import recipes
from unbraid.config import from_json, label, parse, to_json, typed
from unbraid.core import MethodConfig
from unbraid.errors import InputError, unknown
from unbraid.labels import LabelPlan
from unbraid.recipes import Recipe


def pairs(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """`--name value` and `--name=value`, one after another."""
    rest = iter(words)
    for word in rest:
        if not word.startswith("--"):
            raise InputError(
                f"{word!r} was not expected here: options start with -- and have one value each (of a list: 3,2)."
            )
        name, equals, value = word[2:].partition("=")
        if not equals:
            try:
                value = next(rest)
            except StopIteration:
                raise InputError(f"--{name} needs a value.") from None
        yield name.replace("-", "_"), value


def configure(
    stages: Sequence[type[MethodConfig]],
    given: Sequence[tuple[str, str]],
    also: Sequence[str] = (),
    recipe: Recipe = "paper",
) -> list[MethodConfig]:
    """The configurations of all stages. An option goes to every stage that has it; `--2.name` to the second only.

    `also` are options of the command itself, which may have been meant; `recipe` is where the others' values come from.
    """
    values = [to_json(recipes.start(stage, recipe)) for stage in stages]
    for name, text in given:
        number, dot, rest = name.partition(".")
        named = number.isdigit() and bool(dot)
        if named and not 1 <= int(number) <= len(stages):
            raise InputError(f"--{name} names stage {number}, but there are {len(stages)}.")
        places = [int(number) - 1] if named else range(len(stages))
        path = (rest if named else name).split(".")
        takers = [place for place in places if has_option(stages[place], path)]
        if not takers:
            every = {option for place in places for option in option_names(stages[place])} | set(also)
            who = " or ".join(label(stages[place]) for place in places)
            raise unknown(f"option of {who}", typed(".".join(path)), map(typed, every))
        for place in takers:
            assign(stages[place], values[place], path, text)
    return [from_json(stage, value) for stage, value in zip(stages, values, strict=True)]


def data_arguments(given: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Arguments of the data set: numbers and true/false as such, all else as text."""
    return {name: _plain(text) for name, text in given}


def has_option(cls: type, path: Sequence[str]) -> bool:
    """Whether a configuration has the field, or the field of a field, that the path names."""
    return ".".join(path) in option_names(cls)


def option_names(cls: type) -> list[str]:
    """All options of a configuration, those of its parts as `adam.lr`."""
    return [name for name, _, _ in describe_options(cls)]


def describe_options(cls: type) -> list[tuple[str, Any, str]]:
    """(name, default, help) of all options, for `unbraid methods NAME`."""
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


def assign(cls: type, values: dict[str, Any], path: Sequence[str], text: str) -> None:
    """Set one option in the JSON of a configuration, checked against its annotation."""
    hint = get_type_hints(cls)[path[0]]
    if len(path) == 1:
        values[path[0]] = to_json(parse(hint, text, f"--{path[0]}"))
    else:
        assign(hint, values[path[0]], path[1:], text)


def command_line(
    data: Mapping[str, Any], stages: Sequence[tuple[MethodConfig, int]], seed: int, labels: LabelPlan | None = None
) -> str:
    """The command that makes a run, for runs that were not made by one."""
    words = ["unbraid fit", shlex.quote(str(data["name"]))]
    words += [f"--data.{name} {_data_word(value)}" for name, value in (data["arguments"] or {}).items()]
    words += ["--method", *(config.name for config, _ in stages)]
    if labels is not None:
        words += ["--labels", shlex.quote(f"first {labels.count}" if labels.first else str(labels.count))]
        words += ["--label-factors", *map(shlex.quote, labels.factors)] if labels.factors else []
    words += ["--steps", *(str(steps) for _, steps in stages), f"--seed {seed}"]
    words += ["--recipe paper"] if any(type(config) in recipes.FAST for config, _ in stages) else []
    for number, (config, _) in enumerate(stages, 1):
        prefix = f"{number}." if len(stages) > 1 else ""
        default, chosen = to_json(type(config)()), to_json(config)
        words += [f"--{prefix}{name} {_word(value)}" for name, value in recipes.differences(default, chosen)]
    return " ".join(words)


def _word(value: Any) -> str:
    """The value of an option as a shell takes it and `parse` reads it."""
    if value is None:
        return "none"
    return shlex.quote(",".join(map(str, value)) if isinstance(value, list) else str(value))


def _data_word(value: Any) -> str:
    """An argument of the data set as a shell takes it and `_plain` reads it."""
    is_plain_text = isinstance(value, str) and _plain(value) == value
    return shlex.quote(value if is_plain_text else json.dumps(value))


def _plain(text: str) -> Any:
    try:
        return json.loads(text.lower() if text in ("True", "False") else text)
    except json.JSONDecodeError:
        return text
