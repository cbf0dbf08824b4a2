"""What is known of each metric: its name in tables, direction, range, chance level and function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Better = Literal["higher", "lower", "neither"]
Range = tuple[float | None, float | None]

TABLE = "codes, factors"
POSTERIOR_TABLE = "means, log-variances, factors"
CODES = "codes"
POSTERIOR = "means, log-variances"

# Changes of the codes that a metric may not see.
CHANGES = ("order", "sign", "shift", "scale of each", "common scale")


@dataclass(frozen=True)
class Display:
    """How a value is shown: a short title, one line that explains it, which way is better, and its range.

    Args:
        title: the short name in tables and pages.
        description: one line.
        better: "higher", "lower" or "neither".
        range: (low, high); None where it is open.
    """

    title: str
    description: str = ""
    better: Better = "neither"
    range: Range = (None, None)


@dataclass(frozen=True, kw_only=True)
class Metric:
    """The record of a metric, which stands in the metric's own file.

    Args:
        name: as in `METRICS` and in metrics.json.
        title: the short name in tables and pages.
        description: one line that says what it measures.
        function: computes it.
        when: a sentence or two for somebody who chooses a metric.
        needs: what it reads, in words.
        better: "higher", "lower" or "neither".
        range: (low, high) of its values; None where it is open.
        chance: what codes that know nothing score, where that is one number.
        reference: the paper, and the equation in it.
        unchanged_by: which of `CHANGES` leave it exactly as it is.
        chance_draws: random orders for the chance level in the suite; left out, as many as the function takes.
        parts: for metrics with several values, how each of them is shown.

    Example:
        >>> from unbraid.metrics import METRICS
        >>> METRICS["mig"].title, METRICS["mig"].better, METRICS["mig"].range
        ('MIG', 'higher', (0.0, 1.0))
        >>> METRICS["conditioning"].display("M4").better
        'lower'
    """

    name: str
    title: str
    description: str
    function: Callable[..., Any]
    when: str = ""
    needs: str = TABLE
    better: Better = "higher"
    range: Range = (0.0, 1.0)
    chance: float | None = None
    reference: str = ""
    unchanged_by: tuple[str, ...] = ()
    chance_draws: int | None = None
    parts: Mapping[str, Display] = field(default_factory=dict)

    def display(self, part: str = "") -> Display:
        """How the metric, or a part of it, is shown; a part without an entry of its own is named after the metric."""
        if part in self.parts:
            return self.parts[part]
        title = f"{self.title}, {part}" if part else self.title
        return Display(title, self.description, self.better, self.range)


METRICS: dict[str, Metric] = {}


def register(metric: Metric) -> Metric:
    """List a metric; `unbraid metrics`, the suite and the report then know it."""
    METRICS[metric.name] = metric
    return metric
