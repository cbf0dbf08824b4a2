"""Packages that only some kinds of files need: imported on first use, with one sentence where they are missing."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from unbraid.errors import InputError


def need(module: str, path: Path | None = None) -> Any:
    """Import a module of the `data` or `anndata` extra.

    Args:
        module: the module's name; its first part is the package that must be installed.
        path: the file that is to be read, if any, for the message.

    Returns:
        The module, or an `InputError` that says how to install it.

    Example:
        >>> need("json", Path("a.json")).loads("1")
        1
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        what = "this" if path is None else f"reading {str(path)!r}"
        extra = "anndata" if package == "anndata" else "data"
        raise InputError(f"{what} needs {package}: pip install 'unbraid[{extra}]'.") from error
