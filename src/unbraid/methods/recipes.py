"""Recipes by name: where the options of a method start when a command names none of them.

`paper` is what a method's fields say, the published setting. `fast` is what learns most in minutes on a CPU, for the
methods that have such a setting; others start from the paper's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args

from unbraid.core import MethodConfig
from unbraid.methods.staged.ms_vae import MSVAE
from unbraid.util.schema import to_json

Recipe = Literal["fast", "paper"]
RECIPES: tuple[Recipe, ...] = get_args(Recipe)
FAST: dict[type[MethodConfig], MethodConfig] = {MSVAE: MSVAE.fast()}


def start(method: type[MethodConfig], recipe: Recipe) -> MethodConfig:
    """The method as this recipe has it."""
    return FAST[method] if recipe == "fast" and method in FAST else method()


def changes(method: type[MethodConfig]) -> list[tuple[str, Any]]:
    """The options in which `fast` differs from the paper's, as `adam.lr` and its value."""
    return list(differences(to_json(method()), to_json(start(method, "fast"))))


def differences(default: dict[str, Any], chosen: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The options of one configuration's JSON that another's has not, those of its parts as `adam.lr`."""
    for name, value in chosen.items():
        if isinstance(value, dict):
            yield from differences(default[name], value, f"{prefix}{name}.")
        elif name not in default or value != default[name]:
            yield f"{prefix}{name}", value
