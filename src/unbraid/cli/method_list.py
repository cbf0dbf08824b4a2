"""The list of methods, read from their source files: importing them would import torch, which takes seconds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from unbraid.cli.console import first_line
from unbraid.cli.sources import assigned, parsed_source

HOME = "unbraid.methods"


@dataclass(frozen=True)
class ListedMethod:
    """A method as lists show it: its name, the first line of its docstring, and where it was published."""

    name: str
    summary: str
    paper: str


def listed_methods() -> list[ListedMethod]:
    """Every method of `unbraid.methods.METHODS`, in that order.

    Returns:
        What the classes themselves say, without importing them.

    Example:
        >>> next(method.paper for method in listed_methods() if method.name == "beta-tcvae")
        'Chen et al. 2018'
    """
    return [_listed(cls) for cls in _registered()]


def _registered() -> list[str]:
    """The names of the classes in `METHODS`."""
    value = assigned(parsed_source(HOME), "METHODS")
    assert isinstance(value, ast.Tuple)
    return [element.id for element in value.elts if isinstance(element, ast.Name)]


def _listed(cls: str) -> ListedMethod:
    module, found = next(_definitions(HOME, cls))
    name, paper = (_string(module, found, attribute) for attribute in ("name", "paper"))
    return ListedMethod(name, first_line(ast.get_docstring(found)), paper)


def _string(module: str, cls: ast.ClassDef, attribute: str) -> str:
    """A string that a class, or the first of its bases that does, assigns to an attribute; '' where none does."""
    own = assigned(cls, attribute)
    if own is not None:
        return str(ast.literal_eval(own))
    bases = [base.id for base in cls.bases if isinstance(base, ast.Name)]
    found = (_string(*place, attribute) for base in bases for place in _definitions(module, base))
    return next(filter(None, found), "")


def _definitions(module: str, cls: str) -> Iterator[tuple[str, ast.ClassDef]]:
    """Where a class that a module names is defined, and its definition; nothing for classes of other packages."""
    for node in parsed_source(module).body:
        if isinstance(node, ast.ClassDef) and node.name == cls:
            yield module, node
        elif isinstance(node, ast.ImportFrom) and any(alias.name == cls for alias in node.names):
            source = str(node.module)
            yield from _definitions(source, cls) if source.startswith("unbraid.") else ()
