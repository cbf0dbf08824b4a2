"""The list of wrong equations as mutants."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import NamedTuple

from .mutant import Mutant

LIST = Path(__file__).with_name("wrong_equations.txt")


class Wrong(NamedTuple):
    """One line of the list."""

    file: str
    old: str
    new: str
    place: int = 0  # which of several such places, from 1; 0: there is one only

    def start(self, source: str) -> int:
        """Where it stands in the file; below 0 if it does not."""
        start = -1
        for _ in range(max(1, self.place)):
            start = source.find(self.old, start + 1)
        return start


def wrong_equations(path: Path = LIST) -> list[Wrong]:
    """What the list holds, line by line."""
    found, file = [], ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if not line.startswith(" "):
            file = line.strip()
            continue
        place, change = re.fullmatch(r"\s+(?:\[(\d)\] )?(.*)", line).groups()  # type: ignore[union-attr]
        old, new = change.split(" → ")
        found.append(Wrong(file, old, "" if new == "nothing" else new, int(place or 0)))
    return found


def out_of_date(package: Path, tried: Collection[str]) -> list[str]:
    """What the list says of the program that is not so any more, a sentence each.

    Args:
        package: the folder of the package.
        tried: the files that belong to a room; mutants of others would never be tried.
    """
    wrong = []
    for one in wrong_equations():
        path = package / one.file
        source = path.read_text(encoding="utf-8") if path.is_file() else ""
        count = source.count(one.old)
        if one.file not in tried:
            wrong.append(f"{one.file} is in no room: it is not there any more, or `ROOMS` has to name it.")
        elif one.start(source) < 0 or (count > 1) != (one.place > 0):
            wrong.append(f"{one.file} has {one.old!r} {count} times.")
        elif not function_at(source, source.count("\n", 0, one.start(source)) + 1):
            wrong.append(f"{one.file}: {one.old!r} is in no function.")
    return wrong


def wrong_mutants(sources: dict[str, str]) -> list[Mutant]:
    """The list as mutants of the files that are given."""
    found = []
    for one in wrong_equations():
        if one.file not in sources:
            continue
        source = sources[one.file]
        start = one.start(source)
        if start < 0:
            raise LookupError(f"{one.file} has no {one.old!r} any more: change the list of wrong equations.")
        line = source.count("\n", 0, start) + 1
        function = function_at(source, line)
        digest = hashlib.sha256(source.encode()).hexdigest()[:12]
        found.append(Mutant(one.file, function, "wrong equation", line, start, one.old, one.new, digest, start))
    return found


def function_at(source: str, line: int) -> str:
    """The outermost function or method around a line, by qualified name."""

    def search(body: list[ast.stmt], owner: str) -> str:
        for node in body:
            if node.lineno <= line <= (node.end_lineno or 0):
                if isinstance(node, ast.FunctionDef):
                    return owner + node.name
                if isinstance(node, ast.ClassDef):
                    return search(node.body, f"{owner}{node.name}.")
        return ""

    return search(_parsed(source).body, "")


@cache
def _parsed(source: str) -> ast.Module:
    return ast.parse(source)
