"""Observed variables u as networks see them, and the network that guesses them from observations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from unbraid.data.spec import DataSpec
from unbraid.errors import InputError
from unbraid.nets.counts import CountLayers
from unbraid.nets.stacks import Encoder, NetworkName
from unbraid.ops.categorical import relaxed_log_sample
from unbraid.ops.gaussian import LOG_2PI, log_prob

Encoding = Literal["scaled", "one-hot"]
# Of the Gumbel-softmax draws of one-hot labels; Dupont 2018.
TEMPERATURE = 0.67
# Standard deviations of guessed numbers lie between e⁻⁴ and 1: labels are scaled to [0, 1], a few of them are soon
# known by heart, and without a floor their density would grow without bound.
LEAST_LOG_VAR = -8.0


class ObservedLabels(nn.Module):
    """Labels [b, factor] to u [b, value]: numbers scaled to [0, 1], or one-hot for categorical factors if so chosen.

    Mita et al. 2021 scale all factors, categorical ones too, in the order of their indices.

    Args:
        data: what is known of the labels: kinds, ranges, means.
        encoding: of categorical factors.

    Example:
        >>> from unbraid.data.factor_data import Factor
        >>> shape = Factor("shape", 3, "categorical")
        >>> spec = DataSpec((4,), 9, (shape,), ((0.0, 2.0),), labelled=9, shares=((0.5, 0.25, 0.25),), means=(0.75,))
        >>> labels = torch.tensor([[2.0], [torch.nan]])
        >>> ObservedLabels(spec)(labels).tolist(), ObservedLabels(spec, "one-hot")(labels).tolist()
        ([[1.0], [0.375]], [[0.0, 0.0, 1.0], [0.5, 0.25, 0.25]])
    """

    low: Tensor
    span: Tensor
    mean: Tensor

    def __init__(self, data: DataSpec, encoding: Encoding = "scaled") -> None:
        super().__init__()
        if data.labelled == 0:
            raise InputError(
                "this method learns from labels and there are none: give data that have labels, and --labels 1 or more."
            )
        self.sizes = tuple(
            factor.size if encoding == "one-hot" and factor.kind == "categorical" and factor.size else 1
            for factor in data.factors
        )
        ranges = [
            (0.0, float(factor.size - 1)) if factor.size else known
            for factor, known in zip(data.factors, data.ranges, strict=True)
        ]
        low, high = torch.tensor(ranges).T
        self.register_buffer("low", low.clone())
        self.register_buffer("span", torch.where(high > low, high - low, 1.0))
        parts = zip(data.means, data.shares, self.sizes, self.low, self.span, strict=True)
        self.register_buffer(
            "mean",
            torch.cat(
                [
                    torch.tensor(shares) if size > 1 else ((mean - start) / span).reshape(1)
                    for mean, shares, size, start, span in parts
                ]
            ),
        )

    @property
    def values(self) -> int:
        """The number of values of u."""
        return sum(self.sizes)

    def known(self, labels: Tensor) -> Tensor:
        """Whether each value of u is known, [b, value]."""
        columns = (~labels.isnan()).split(1, dim=1)
        return torch.cat([column.expand(-1, size) for column, size in zip(columns, self.sizes, strict=True)], dim=1)

    def forward(self, labels: Tensor, instead: Tensor | None = None) -> Tensor:
        """u; where a label is missing, `instead` [b, value], or without it the mean of the labels in training."""
        filled = labels.nan_to_num(0.0)
        scaled = (filled - self.low) / self.span
        parts = [
            scaled[:, k : k + 1] if size == 1 else F.one_hot(filled[:, k].long(), size).to(scaled.dtype)
            for k, size in enumerate(self.sizes)
        ]
        return torch.where(self.known(labels), torch.cat(parts, dim=1), self.mean if instead is None else instead)


@dataclass(frozen=True)
class GuessedLabels:
    """q(u | x): a Gaussian for each scaled number, a categorical for each one-hot block."""

    parameters: tuple[Tensor, ...]  # of each factor: mean and log-variance [b, 2], or logits [b, size]
    sizes: tuple[int, ...]

    @property
    def mean(self) -> Tensor:
        """The likeliest u, [b, value]."""
        return torch.cat(
            [p[:, :1] if size == 1 else F.one_hot(p.argmax(1), size).to(p.dtype) for p, size in self], dim=1
        )

    def rsample(self) -> Tensor:
        """A draw of u with gradient to its parameters: relaxed, for one-hot blocks."""
        return torch.cat(
            [
                p[:, :1] + (0.5 * p[:, 1:]).exp() * torch.randn_like(p[:, 1:])
                if size == 1
                else relaxed_log_sample(p, TEMPERATURE).exp()
                for p, size in self
            ],
            dim=1,
        )

    def log_prob(self, u: Tensor) -> Tensor:
        """log q(u | x) for each factor, [b, factor]."""
        return torch.stack(
            [
                log_prob(value[:, 0], p[:, 0], p[:, 1]) if size == 1 else (value * F.log_softmax(p, 1)).sum(1)
                for (p, size), value in zip(self, u.split(self.sizes, dim=1), strict=True)
            ],
            dim=1,
        )

    def entropy(self) -> Tensor:
        """H(q(u | x)) for each factor, [b, factor]."""
        return torch.stack(
            [
                0.5 * (p[:, 1] + 1 + LOG_2PI) if size == 1 else -(p.softmax(1) * F.log_softmax(p, 1)).sum(1)
                for p, size in self
            ],
            dim=1,
        )

    def __iter__(self) -> Iterator[tuple[Tensor, int]]:
        return iter(zip(self.parameters, self.sizes, strict=True))


class LabelGuess(nn.Module):
    """The network of q(u | x), with a trunk of its own.

    Args:
        observed: how labels become u.
        data: the observations' shape.
        network: one of the named stacks.
        width: fraction of the paper's units in every layer.
        counts: of observations that are counts, how they are seen.
        signal: channels and times of vectors that are signals.
    """

    def __init__(
        self,
        observed: ObservedLabels,
        data: DataSpec,
        *,
        network: NetworkName,
        width: float,
        counts: CountLayers | None = None,
        signal: tuple[int, int] | None = None,
    ) -> None:
        super().__init__()
        self.sizes = observed.sizes
        self.outputs = [2 if size == 1 else size for size in self.sizes]
        nets: dict[str, Any] = {"network": network, "width": width, "counts": counts, "signal": signal}
        self.encoder = Encoder(data.shape, sum(self.outputs), **nets)

    def forward(self, x: Tensor) -> GuessedLabels:
        """q(u | x)."""
        parts = self.encoder(x).split(self.outputs, dim=1)
        bounded = [
            torch.cat((p[:, :1], LEAST_LOG_VAR * p[:, 1:].sigmoid()), dim=1) if size == 1 else p
            for p, size in zip(parts, self.sizes, strict=True)
        ]
        return GuessedLabels(tuple(bounded), self.sizes)
