"""Lists as people type them: `a,b`, `a b` or both; a name with a comma in it is quoted."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence

from unbraid.errors import InputError


def split_list(given: str | Sequence[str]) -> list[str]:
    """The items of a list that was typed as one word or as several.

    Args:
        given: text with commas between its items, or several such texts. An item that holds a comma stands in double
            quotes.

    Returns:
        The items, without spaces at their ends; empty ones are left out.

    Example:
        >>> split_list("mass, width"), split_list(["mass", "width,depth"]), split_list('"Paris, Texas",Rome')
        (['mass', 'width'], ['mass', 'width', 'depth'], ['Paris, Texas', 'Rome'])
    """
    texts = [given] if isinstance(given, str) else list(given)
    items: list[str] = []
    for text in texts:
        try:
            fields = next(csv.reader([text], skipinitialspace=True, strict=True), [])
        except csv.Error:
            raise InputError(f'the list {text!r} has a quote that does not end; write "a, b",c.') from None
        items += [field.strip() for field in fields if field.strip()]
    return items


def join_list(items: Iterable[str]) -> str:
    """Items as one word that `split_list` takes apart again.

    Example:
        >>> join_list(["Paris, Texas", "Rome"])
        '"Paris, Texas",Rome'
    """
    return ",".join('"' + item.replace('"', '""') + '"' if set(item) & {",", '"'} else item for item in items)


def name_list(names: str | Sequence[str]) -> list[str]:
    """Names that a program or a command line gives: a sequence is taken as it is, text is split.

    Example:
        >>> name_list("mass, width"), name_list(["Paris, Texas"])
        (['mass', 'width'], ['Paris, Texas'])
    """
    return split_list(names) if isinstance(names, str) else [str(name) for name in names]


def few(names: Sequence[str], most: int = 8) -> str:
    """Names in a sentence: the first, and how many there are where not all are named.

    Example:
        >>> few(["a", "b"]), few(["a", "b", "c"], most=2)
        ('a, b', 'a, b, … (3 in all)')
    """
    return ", ".join(names) if len(names) <= most else f"{', '.join(names[:most])}, … ({len(names):,} in all)"
