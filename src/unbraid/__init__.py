"""Take observations apart into their factors of variation.

Heavy parts load on first use, so that `unbraid.metrics` works without torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from unbraid._version import __version__
from unbraid.errors import InputError

if TYPE_CHECKING:
    from unbraid import data, methods, metrics
    from unbraid.api import Run, fit, open
    from unbraid.data.label_budget import LabelBudget
    from unbraid.estimator import Disentangler
    from unbraid.search.conduct import search
    from unbraid.training.contract import check_method

__all__ = [
    "Disentangler",
    "InputError",
    "LabelBudget",
    "Run",
    "__version__",
    "check_method",
    "data",
    "fit",
    "methods",
    "metrics",
    "open",
    "search",
]

_HOME = {
    "Disentangler": "unbraid.estimator",
    "LabelBudget": "unbraid.data.label_budget",
    "Run": "unbraid.api",
    "fit": "unbraid.api",
    "open": "unbraid.api",
    "check_method": "unbraid.training.contract",
}


def __dir__() -> list[str]:
    """What there is, loaded or not."""
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in ("data", "methods", "metrics", "search"):  # `unbraid.search` can be called
        return importlib.import_module(f"unbraid.{name}")
    raise AttributeError(f"module 'unbraid' has no attribute {name!r}")
