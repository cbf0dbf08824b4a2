"""The list of methods, read from their source files: importing them would import torch, which takes seconds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from unbraid.cli.console import first_line


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
    return [
        ListedMethod(_string("unbraid.methods", cls, "name"), _summary(cls), _string("unbraid.methods", cls, "paper"))
        for cls in _registered()
    ]


def _registered() -> list[str]:
    """The names of the classes in `METHODS`."""
    for node in _source("unbraid.methods").body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "METHODS":
            assert isinstance(node.value, ast.Tuple)
            return [element.id for element in node.value.elts if isinstance(element, ast.Name)]
    raise LookupError("unbraid.methods has no METHODS")


def _summary(cls: str) -> str:
    _, found = _definition("unbraid.methods", cls)
    return first_line(ast.get_docstring(found))


def _string(module: str, cls: str, attribute: str) -> str:
    """A string that a class or the nearest of its bases assigns; '' where none does."""
    home, found = _definition(module, cls)
    for node in found.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == attribute:
            return str(node.value.value) if isinstance(node.value, ast.Constant) else ""
    bases = (base.id for base in found.bases if isinstance(base, ast.Name) and base.id != "ABC")
    return next(filter(None, (_string(home, base, attribute) for base in bases)), "")


def _definition(module: str, cls: str) -> tuple[str, ast.ClassDef]:
    """The module in which a class is defined, as seen from one that names it, and its definition."""
    for node in _source(module).body:
        if isinstance(node, ast.ClassDef) and node.name == cls:
            return module, node
    for source, name in _imports(module):
        if name == cls:
            return _definition(source, cls)
    raise LookupError(f"{module} neither defines nor imports {cls}")


def _imports(module: str) -> Iterator[tuple[str, str]]:
    for node in _source(module).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)


@cache
def _source(module: str) -> ast.Module:
    """The parsed source of a module of this package."""
    *folders, last = module.split(".")[1:]
    folder = files("unbraid").joinpath(*folders)
    package = folder.joinpath(last, "__init__.py")
    file = package if package.is_file() else folder.joinpath(f"{last}.py")
    return ast.parse(file.read_text(encoding="utf-8"))
