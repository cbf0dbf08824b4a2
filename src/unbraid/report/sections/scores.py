"""Metrics and the map of latents and factors, ready for the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from unbraid.errors import InputError
from unbraid.metrics import mutual_information_matrix
from unbraid.metrics.score import verdict
from unbraid.report.draw import charts, words
from unbraid.report.draw.order import by_information
from unbraid.report.draw.svg import nice_step
from unbraid.report.read.content import WITH, Metric, RunFiles


@dataclass(frozen=True)
class Reading:
    """A value of a metric as shown: its interval, its graphic, and how it came about."""

    key: str
    value: str
    interval: str
    graphic: Markup
    details: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ScoreRow:
    """One metric: names, where its axis ends, and its value.

    Of a run whose encoder reads labels two values: with labels at test time, and without (None: there is none).
    """

    short: str
    long: str
    better: str
    ends: tuple[str, str]
    readings: tuple[Reading | None, ...]


@dataclass(frozen=True)
class HeatCell:
    """Mutual information of one latent and one factor: nats, and as a share of the factor's entropy."""

    nats: float
    share: float
    best: bool


@dataclass(frozen=True)
class HeatMap:
    """Latents (most informative first) by factors, and how the information was estimated."""

    factors: tuple[str, ...]
    rows: tuple[tuple[str, tuple[HeatCell, ...]], ...]
    convention: str


BINNED = (
    "Mutual information by counting mean codes in bins of equal width, divided by the factor’s entropy. "
    "Counting reads high where rows are few and a factor has many values."
)
POSTERIOR = "Mutual information from the posteriors of all rows, divided by the factor’s entropy."
LABELS_READ = {True: " Labels were read at test time.", False: " No label was read at test time."}


SERIES = (1, 0)  # colours of scores with labels at test time and without


class Information(NamedTuple):
    """Names of the factors, mutual information [latent, factor] in nats and as a share of the entropy."""

    names: tuple[str, ...]
    nats: NDArray[Any]
    share: NDArray[Any]
    convention: str


def axis_ends(name: str, values: Sequence[float]) -> tuple[float, float]:
    """Where a metric's axis begins and ends: at 0 and its own bound, or at round numbers beyond everything shown."""
    known = words.metric(name).top
    finite = [v for v in values if math.isfinite(v)]
    largest, smallest = max(finite, default=1.0), min(finite, default=0.0)
    top = known if known is not None and largest <= known else _round_above(largest)
    # What is below zero by an estimate's error alone is drawn at zero.
    low = -_round_above(-smallest) if smallest < -0.01 * max(top, 0.0) else 0.0
    return (low, top) if low < top else (0.0, 1.0)


def _round_above(value: float) -> float:
    """A round number that is not less; 0 for what is not positive."""
    if value <= 0:
        return 0.0
    step = nice_step(value / 4)
    return math.ceil(value / step - 1e-9) * step


def better(name: str) -> str:
    """Which way is better, as an arrow."""
    return {True: "↑", False: "↓", None: ""}[words.metric(name).higher_is_better]


def value_text(name: str, value: float) -> str:
    """A value as shown: three decimals for scores between 0 and 1, else three digits."""
    if words.metric(name).top == 1.0 and math.isfinite(value) and abs(value) <= 1:
        return f"{value:.3f}".replace("-", "−")
    return words.number(value)


def interval_text(metric: Metric) -> str:
    """The interval as shown; for a condition, whether it holds."""
    said = verdict(metric.details)
    if said:
        return said
    return "" if metric.interval is None else " – ".join(value_text(metric.name, edge) for edge in metric.interval)


def score_rows(run: RunFiles) -> tuple[ScoreRow, ...]:
    """The metrics as they were written, earlier stages next to the final output and on the same axis."""
    found = {metric.name: metric for metric in run.metrics}
    names = list(dict.fromkeys(name.removeprefix(WITH) for name in found))
    order = list(dict.fromkeys(map(_base, names)))
    reach: dict[str, list[float]] = {base: [] for base in order}
    for metric in run.metrics:
        reach[_base(metric.name)] += [metric.value, *(metric.interval or ())]
    prefixes = (WITH, "") if reads_labels(run) else ("",)
    return tuple(
        _row(name, [found.get(f"{prefix}{name}") for prefix in prefixes], axis_ends(name, reach[_base(name)]))
        for name in sorted(names, key=lambda name: (order.index(_base(name)), "/" in name))
    )


def reads_labels(run: RunFiles) -> bool:
    """Whether some of the scores were made by an encoder that was given labels."""
    return any(metric.name.startswith(WITH) for metric in run.metrics)


def _base(name: str) -> str:
    """The metric itself, whichever stage's output it is of."""
    name = name.removeprefix(WITH)
    return name.partition("/")[2] if name.startswith("stage-") else name


def _row(name: str, found: Sequence[Metric | None], ends: tuple[float, float]) -> ScoreRow:
    names = words.metric(name)
    several = len(found) > 1
    readings = [_reading(metric, ends, SERIES[k] if several else None) for k, metric in enumerate(found)]
    return ScoreRow(names.short, names.long, better(name), (words.tick(ends[0]), words.tick(ends[1])), tuple(readings))


def _reading(metric: Metric | None, ends: tuple[float, float], series: int | None) -> Reading | None:
    if metric is None:
        return None
    return Reading(
        metric.name,
        value_text(metric.name, metric.value),
        interval_text(metric),
        charts.whisker(metric.value, metric.interval, ends, words.metric(metric.name).short, series),
        details(metric.details),
    )


def details(given: Mapping[str, Any], prefix: str = "") -> tuple[tuple[str, str], ...]:
    """Details as rows of text; nested ones by their path, long lists cut short, tables by their size."""
    rows: list[tuple[str, str]] = []
    for key, value in given.items():
        name = f"{prefix}{str(key).replace('_', ' ')}"
        if isinstance(value, Mapping):
            rows.extend(details(value, f"{name} · "))
        elif isinstance(value, (list, tuple)) and value and isinstance(value[0], (list, tuple)):
            rows.append((name, f"{len(value)} × {len(value[0])} table, in metrics.json"))
        elif isinstance(value, (list, tuple)):
            rows.append((name, _listed(value)))
        else:
            rows.append((name, _one(value)))
    return tuple(rows)


def _listed(values: Sequence[Any], most: int = 24) -> str:
    return ", ".join(_one(v) for v in values[:most]) + (" …" if len(values) > most else "")


def _one(value: Any) -> str:
    return words.number(value, 4) if isinstance(value, float) and not value.is_integer() else words.plain(value)


def heat_map(run: RunFiles) -> HeatMap | None:
    """Mutual information between every latent of stage 1 and every factor, as a share of the factor's entropy."""
    latents = run.latents.get(1)
    found = _stored(run) or _computed(run)
    if latents is None or found is None:
        return None
    names, nats = found.names, found.nats
    share = np.clip(np.nan_to_num(found.share), 0, 1)
    best = np.argmax(share, axis=0)
    rows = []
    for j in by_information(latents.information, len(latents.names)):
        cells = tuple(HeatCell(float(nats[j, k]), float(share[j, k]), bool(best[k] == j)) for k in range(len(names)))
        rows.append((latents.names[j], cells))
    return HeatMap(names, tuple(rows), found.convention)


def _stored(run: RunFiles) -> Information | None:
    """As MIG left it in its details: nats [latent, factor] and the factors' entropies."""
    for metric in run.metrics:
        given = metric.details
        if metric.name.startswith("mig") and isinstance(given.get("per_factor"), Mapping) and "entropy" in given:
            names = tuple(map(str, given["per_factor"]))
            if run.factors is not None and len(run.factors.names) == len(names):
                names = run.factors.names  # a metric may have been given the table without its names
            nats, entropy = _numbers(given.get("information")), _numbers(given["entropy"])
            if 1 in run.latents and nats.shape == (len(run.latents[1].names), len(names)):
                how = POSTERIOR if given.get("convention") == "chen" else BINNED
                said = LABELS_READ[False] if reads_labels(run) else ""
                return Information(names, nats, nats / np.maximum(entropy, 1e-12), how + said)
    return None


def _computed(run: RunFiles) -> Information | None:
    """From the codes, for runs that have not been evaluated; factors that never vary are left out."""
    factors = run.factors
    if factors is None or 1 not in run.latents:
        return None
    kept = [k for k, column in enumerate(factors.table.T) if len(np.unique(column[~np.isnan(column)])) > 1]
    names, table = tuple(factors.names[k] for k in kept), factors.table[:, kept]
    codes, kinds = run.latents[1].codes, [factors.kinds[k] for k in kept]
    try:
        nats = mutual_information_matrix(codes, table, kinds=kinds)
        share = mutual_information_matrix(codes, table, kinds=kinds, normalise=True)
        return Information(names, nats, share, BINNED + (LABELS_READ[True] if reads_labels(run) else ""))
    except InputError:
        return None  # a table that no metric takes has no map either


def _numbers(given: Any) -> NDArray[Any]:
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        return np.empty(0)
