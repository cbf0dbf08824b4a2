"""Given control variables: which they are, and what they are as a network's inputs."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from unbraid.core import DataSpec, MethodConfig
from unbraid.data.factor_data import Factor
from unbraid.errors import InputError, unknown
from unbraid.ops.given import Given, Uniform
from unbraid.util.schema import option


@dataclass(frozen=True, kw_only=True)
class GivenFactors(MethodConfig, ABC):
    """Options of the methods whose codes are known factors."""

    uses_labels: ClassVar[bool] = True
    needs_complete_labels: ClassVar[bool] = True
    codes_are_labels: ClassVar[bool] = True
    encoder_needs_labels: ClassVar[bool] = True
    factors: tuple[str, ...] = option((), "the factors that are given, by name; all if none is named")

    def required_labels(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Those of the given factors."""
        return self.factors or names


class ControlInputs(nn.Module):
    """Chosen factors, in their own units, as features: one-hot, a point on a circle, or a value within [−1, 1].

    Between two categories lie mixtures of both, so that a slider can move through every value.

    Args:
        data: the labelled factors and their ranges.
        names: which of them; all, if none is named.

    Example:
        >>> spec = DataSpec((4,), 9, (Factor("shape", 3, "categorical"),), ((0.0, 2.0),), labelled=9)
        >>> ControlInputs(spec, ["shape"])(torch.tensor([[1.0], [1.25]])).tolist()
        [[0.0, 1.0, 0.0], [0.0, 0.75, 0.25]]
    """

    low: Tensor
    high: Tensor
    whole: Tensor

    def __init__(self, data: DataSpec, names: Sequence[str]) -> None:
        super().__init__()
        known = [factor.name for factor in data.factors]
        if not known:
            raise InputError("given control variables are labelled factors, and this data set has none.")
        for name in names:
            if name not in known:
                raise unknown("factor", name, known)
        self.columns = [known.index(name) for name in names or known]
        self.factors = [data.factors[column] for column in self.columns]
        self.names = [factor.name for factor in self.factors]
        self.bounds = [
            (0.0, float(factor.size - 1)) if factor.size else data.ranges[column]
            for column, factor in zip(self.columns, self.factors, strict=True)
        ]
        low, high = torch.tensor(self.bounds).T
        self.register_buffer("low", low, persistent=False)
        self.register_buffer("high", high, persistent=False)
        self.register_buffer("whole", torch.tensor([f.size > 0 for f in self.factors]), persistent=False)
        self.features = sum(features_of(factor) for factor in self.factors)

    def given(self, labels: Tensor) -> Given:
        """The controls among the labels [b, factor]; one that is unknown counts as the middle of its range."""
        chosen = labels[:, self.columns]
        return Given(torch.where(chosen.isnan(), (self.low + self.high) / 2, chosen), self.names, self.bounds)

    def prior(self, n: int) -> Uniform:
        """All values alike."""
        return Uniform(n, self.names, self.bounds, self.whole)

    def forward(self, c: Tensor) -> Tensor:
        """Features [b, feature] of controls [b, control]."""
        scaled = 2 * (c - self.low) / (self.high - self.low).clamp_min(1e-12) - 1
        parts = []
        for number, factor in enumerate(self.factors):
            if factor.kind == "categorical":
                distance = (c[:, number, None] - torch.arange(factor.size, device=c.device)).abs()
                parts.append((1 - distance).clamp_min(0))
            elif factor.kind == "cyclic":
                angle = 2 * torch.pi * c[:, number, None] / max(factor.size, 1)
                parts += [angle.sin(), angle.cos()]
            else:
                parts.append(scaled[:, number, None])
        return torch.cat(parts, dim=1)


def features_of(factor: Factor) -> int:
    """How many features stand for a factor.

    Example:
        >>> features_of(Factor("shape", 3, "categorical")), features_of(Factor("azimuth", 24, "cyclic"))
        (3, 2)
    """
    if factor.kind == "categorical":
        return factor.size
    return 2 if factor.kind == "cyclic" else 1
