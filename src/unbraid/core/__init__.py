"""The contracts: what a method is, what it receives, what it returns, and what it may be able to do."""

from __future__ import annotations

from unbraid.core.capabilities import (
    Adjusts,
    Decodes,
    Draws,
    Encodes,
    HasClasses,
    HasConditionalPrior,
    HasLikelihood,
    HasPrior,
    HasTarget,
    LearnsPrior,
    Prepares,
)
from unbraid.core.method import (
    Adam,
    Batch,
    Condition,
    LaterStage,
    Method,
    MethodConfig,
    Stream,
    Update,
    build_method,
)
from unbraid.core.terms import Parts, Terms
from unbraid.data.spec import DataSpec
from unbraid.ops.posterior import Posterior

__all__ = [
    "Adam",
    "Adjusts",
    "Batch",
    "Condition",
    "DataSpec",
    "Decodes",
    "Draws",
    "Encodes",
    "HasClasses",
    "HasConditionalPrior",
    "HasLikelihood",
    "HasPrior",
    "HasTarget",
    "LaterStage",
    "LearnsPrior",
    "Method",
    "MethodConfig",
    "Parts",
    "Posterior",
    "Prepares",
    "Stream",
    "Terms",
    "Update",
    "build_method",
]
