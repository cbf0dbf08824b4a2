"""The list of studies, read from their source files as that of the methods is."""

from __future__ import annotations

import ast

from unbraid.cli.sources import assigned, parsed_source


def listed_studies() -> dict[str, str]:
    """Every study of `unbraid.papers.STUDIES`, in that order.

    Returns:
        Titles by name.

    Example:
        >>> "ms-vae/pendulum" in listed_studies()
        True
    """
    modules = ast.literal_eval(_assigned("unbraid.papers.registry", "MODULES"))
    found = {}
    for module in modules:
        study = _assigned(f"unbraid.papers.studies.{module}", "STUDY")
        assert isinstance(study, ast.Call)
        fields = {word.arg: word.value for word in study.keywords}
        found[ast.literal_eval(fields["name"])] = ast.literal_eval(fields["title"])
    return found


def _assigned(module: str, name: str) -> ast.expr:
    value = assigned(parsed_source(module), name)
    assert value is not None, f"{module} has no {name}"
    return value
