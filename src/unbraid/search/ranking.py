"""Settings of a search in order, with what is known of each: means over seeds and their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unbraid.metrics import METRICS
from unbraid.search.agreement import Agreement
from unbraid.search.space import Setting
from unbraid.util.intervals import mean_and_interval

TITLES = {
    "udr": "UDR",
    "udr_lasso": "UDR (Lasso)",
    "udr_active": "UDR (active)",
    "stability": "stability",
    "elbo": "ELBO",
    "reconstruction": "−log p(x | z)",
    "l2": "L2",
    "codes_used": "codes used",
}
LOWER_IS_BETTER = ("reconstruction", "l2", "l1", "fid", "kid", "lpips")
NEITHER = ("codes_used",)


@dataclass(frozen=True)
class Row:
    """One trial in the table."""

    name: str  # of its run directory
    setting: Setting
    seed: int
    status: str  # finished, failed, waiting, or left at a step by halving
    figures: Mapping[str, float]
    error: str = ""
    seconds: float = float("nan")


@dataclass(frozen=True)
class Summary:
    """A figure of one setting: the mean over its seeds, its 95 % interval, and each seed's value."""

    mean: float
    low: float
    high: float
    seeds: Mapping[int, float]


@dataclass(frozen=True)
class Ranked:
    """One setting with its figures."""

    setting: Setting
    rows: tuple[Row, ...]
    figures: Mapping[str, Summary]

    def value(self, by: str) -> float:
        """Its mean of a figure; NaN where it has none."""
        return self.figures[by].mean if by in self.figures else float("nan")


def title(name: str) -> str:
    """A figure as people call it."""
    return TITLES.get(name) or (METRICS[name].title if name in METRICS else name)


def sign(name: str) -> int:
    """1 where more of a figure is better, −1 where less is, 0 where neither."""
    if name in NEITHER:
        return 0
    lower = name in LOWER_IS_BETTER or (name in METRICS and METRICS[name].better == "lower")
    return -1 if lower else 1


def summarise(setting: Setting, rows: Sequence[Row], agreed: Mapping[str, Agreement]) -> Ranked:
    """A setting with its figures; those of agreement have intervals of their own."""
    finished = [row for row in rows if row.status == "finished"]
    figures: dict[str, Summary] = {}
    for name, found in agreed.items():
        low, high = found.interval or (float("nan"), float("nan"))
        values = dict(zip([row.seed for row in finished], found.per_model, strict=True))
        figures[name] = Summary(found.value, low, high, values)
    for name in dict.fromkeys(name for row in finished for name in row.figures):
        values = {row.seed: row.figures[name] for row in finished if math.isfinite(row.figures.get(name, math.nan))}
        if values:
            figures[name] = Summary(*interval(list(values.values())), values)
    return Ranked(setting, tuple(rows), figures)


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Mean and Student's interval; the ends are not known of one seed."""
    mean, low, high = mean_and_interval(values)
    return (mean, low, high) if len(values) > 1 else (mean, float("nan"), float("nan"))


def ordered(settings: Sequence[Ranked], by: str) -> list[Ranked]:
    """Settings from the best to the worst; those without the figure last, in their own order."""
    return sorted(settings, key=lambda one: _last_if_unknown(sign(by) * one.value(by)))


def best_rows(settings: Sequence[Ranked], by: str) -> list[Row]:
    """Finished trials from the best to the worst, each by its own value."""
    found = [
        (one.figures[by].seeds.get(row.seed, math.nan), row)
        for one in settings
        if by in one.figures
        for row in one.rows
        if row.status == "finished"
    ]
    return [row for _, row in sorted(found, key=lambda pair: _last_if_unknown(sign(by) * pair[0]))]


def _last_if_unknown(value: float) -> float:
    return math.inf if math.isnan(value) else -value


def plain(settings: Sequence[Ranked]) -> list[dict[str, Any]]:
    """Settings as JSON holds them."""
    return [
        {
            "name": one.setting.name,
            "method": one.setting.method,
            "values": dict(one.setting.values),
            "trials": [
                {"name": row.name, "seed": row.seed, "status": row.status, "error": row.error} for row in one.rows
            ],
            "figures": {
                name: {
                    "mean": _number(found.mean),
                    "interval": None if math.isnan(found.low) else [found.low, found.high],
                    "seeds": {str(seed): _number(value) for seed, value in found.seeds.items()},
                }
                for name, found in one.figures.items()
            },
        }
        for one in settings
    ]


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
