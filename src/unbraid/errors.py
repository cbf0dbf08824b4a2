"""Errors that a user can act on."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable


class InputError(ValueError):
    """Bad input: one sentence that names the input and the remedy.

    The command line prints the sentence and exits with code 2; no traceback is shown.
    """


class DataMissing(InputError):
    """Something needs a run's training data, and they are not there; much else works without them."""


class Interrupted(Exception):
    """A run was asked to stop; it has saved its state and goes on when the command is repeated."""


def unknown(kind: str, name: str, known: Iterable[str]) -> InputError:
    """The error for a misspelt name: what was given, the nearest known name, and all of them."""
    return InputError(f"there is no {kind} {name!r}; {nearest(name, known)}")


def nearest(name: str, known: Iterable[str]) -> str:
    """Which known name may have been meant; all of them where none is near."""
    names = sorted(known, key=counting_order)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.55)
    return f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(names)}."


def counting_order(name: str) -> list[tuple[int, str]]:
    """By what names are sorted so that z2 comes before z10.

    Example:
        >>> sorted(["z10", "z2", "hue"], key=counting_order)
        ['hue', 'z2', 'z10']
    """
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]
