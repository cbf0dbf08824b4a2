"""The list of wrong equations as mutants."""

from __future__ import annotations

import ast
import hashlib

from .mutant import Mutant
from .wrong_equations import WRONG


def wrong_mutants(sources: dict[str, str]) -> list[Mutant]:
    """The list as mutants of the files that are given; what stands there may stand there more than once: the first."""
    found = []
    for file, old, new in WRONG:
        if file not in sources:
            continue
        source = sources[file]
        start = source.find(old)
        if start < 0:
            raise LookupError(f"{file} has no {old!r} any more: change the list of wrong equations.")
        line = source.count("\n", 0, start) + 1
        digest = hashlib.sha256(source.encode()).hexdigest()[:12]
        found.append(Mutant(file, function_at(source, line), "wrong equation", line, start, old, new, digest, start))
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

    return search(ast.parse(source).body, "")
