"""Source files of this package, parsed and not imported: what lists show without waiting for torch."""

from __future__ import annotations

import ast
from functools import cache
from importlib.resources import files


@cache
def parsed_source(module: str) -> ast.Module:
    """The parsed source of a module.

    Args:
        module: its name, with `unbraid.` in front.

    Returns:
        Its syntax tree.

    Example:
        >>> ast.get_docstring(parsed_source("unbraid.errors"))
        'Errors that a user can act on.'
    """
    *folders, last = module.split(".")[1:]
    folder = files("unbraid").joinpath(*folders)
    package = folder.joinpath(last, "__init__.py")
    file = package if package.is_file() else folder.joinpath(f"{last}.py")
    return ast.parse(file.read_text(encoding="utf-8"))


def assigned(scope: ast.Module | ast.ClassDef, name: str) -> ast.expr | None:
    """What a module or class assigns to a name.

    Args:
        scope: where to look.
        name: of the variable or attribute.

    Returns:
        The expression, or None if there is no such assignment.

    Example:
        >>> ast.unparse(assigned(ast.parse("size: int = 3"), "size"))
        '3'
    """
    for node in scope.body:
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        else:
            continue
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            return node.value
    return None
