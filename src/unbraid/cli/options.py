"""Options of methods and data sets on the command line: `--beta 6`, `--2.latents 5`, `--data.size 32`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from unbraid.data.arguments import parse_argument
from unbraid.errors import InputError, unknown
from unbraid.util.option_paths import assign, option_names
from unbraid.util.schema import check_bounds, from_json, label, to_json, typed

if TYPE_CHECKING:
    from unbraid.core import MethodConfig
    from unbraid.methods.recipes import Recipe, Traits


def pairs(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Split words into options and their values.

    Args:
        words: `--name value` or `--name=value`, one after another; of a list `--name a,b` or `--name a b`.

    Returns:
        Name and text of each; dashes within a name become underscores, several words one with commas.

    Example:
        >>> list(pairs(["--beta", "6", "--batch-size=32", "--classes", "3", "2"]))
        [('beta', '6'), ('batch_size', '32'), ('classes', '3,2')]
    """
    place = 0
    while place < len(words):
        word = words[place]
        if not word.startswith("--"):
            raise InputError(f"{word!r} was not expected here: options start with -- (of a list: --classes 3,2).")
        name, equals, value = word[2:].partition("=")
        end = place + 1
        while end < len(words) and not words[end].startswith("--"):
            end += 1
        values = [value] * bool(equals) + list(words[place + 1 : end])
        if not values:
            raise InputError(f"--{name} needs a value.")
        yield name.replace("-", "_"), ",".join(values)
        place = end


def configure(
    stages: Sequence[type[MethodConfig]],
    given: Sequence[tuple[str, str]],
    also: Sequence[str] = (),
    recipe: Recipe = "paper",
    data: Traits | None = None,
) -> list[MethodConfig]:
    """The configurations of all stages. An option goes to every stage that has it; `2.name` to the second only.

    Args:
        stages: the configuration class of each stage.
        given: names and values as typed.
        also: options of the command itself, one of which a misspelt name may have meant.
        recipe: where the values of options that were not given come from.
        data: what such a recipe looks at; left out, colour images.

    Returns:
        A configuration for each stage, with defaults where nothing was given.
    """
    from unbraid.methods import recipes

    values = [to_json(recipes.start(stage, recipe, data or recipes.IMAGE)) for stage in stages]
    for name, text in given:
        number, dot, rest = name.partition(".")
        named = number.isdigit() and bool(dot)
        if named and not 1 <= int(number) <= len(stages):
            raise InputError(f"--{name} names stage {number}, but there are {len(stages)}.")
        places = [int(number) - 1] if named else range(len(stages))
        path = (rest if named else name).split(".")
        takers = [place for place in places if ".".join(path) in option_names(stages[place])]
        if not takers:
            every = {option for place in places for option in option_names(stages[place])} | set(also)
            who = " or ".join(label(stages[place]) for place in places)
            raise unknown(f"option of {who}", typed(".".join(path)), map(typed, every))
        for place in takers:
            assign(stages[place], values[place], path, text)
    configs = [from_json(stage, value) for stage, value in zip(stages, values, strict=True)]
    for config in configs:
        check_bounds(config)
    return configs


def data_arguments(given: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Arguments of the data set: numbers and true/false as such, all else as text.

    Args:
        given: names and values as typed.

    Returns:
        Values by name.

    Example:
        >>> data_arguments([("size", "32"), ("split", "train")])
        {'size': 32, 'split': 'train'}
    """
    return {name: parse_argument(text) for name, text in given}
