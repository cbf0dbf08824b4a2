"""Metrics, ready for the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from unbraid.metrics import Display, MetricKey
from unbraid.metrics.record import Better
from unbraid.metrics.score import verdict
from unbraid.report.draw import charts, words
from unbraid.report.draw.svg import nice_step
from unbraid.report.read.content import RunFiles, ShownScore

SERIES = (1, 0)  # colours of scores with labels at test time and without
OF = {"held-out": "of held-out data", "training": "of training data", "all": "of all data"}
ARROWS: Mapping[Better, str] = {"higher": "↑", "lower": "↓", "neither": ""}


@dataclass(frozen=True)
class Reading:
    """A value of a metric as shown: its interval, its graphic, and how it came about."""

    key: str
    value: str
    interval: str
    graphic: Markup
    details: tuple[tuple[str, str], ...]
    standing: str = ""  # chance and ceiling in words
    beside: str = ""  # the same of training data


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
    of: str = ""  # what part of the data it is of, where some of it was held out


def axis_ends(shown: Display, values: Sequence[float]) -> tuple[float, float]:
    """Where a metric's axis begins and ends: at 0 and its own bound, or at round numbers beyond everything shown."""
    known = shown.range[1]
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


def value_text(shown: Display, value: float) -> str:
    """A value as shown: three decimals for scores between 0 and 1, else three digits."""
    if shown.range[1] == 1.0 and math.isfinite(value) and abs(value) <= 1:
        return f"{value:.3f}".replace("-", "−")
    return words.number(value)


def interval_text(score: ShownScore) -> str:
    """The interval as shown; for a condition, whether it holds."""
    said = verdict(score.details)
    if said:
        return said
    return "" if score.interval is None else " – ".join(value_text(score.display, edge) for edge in score.interval)


def standing_text(score: ShownScore) -> str:
    """What chance gives and what perfect codes would get; that a score is no better than chance is said first."""
    if score.chance is None:
        return ""
    level = value_text(score.display, score.chance[0])
    equal = "no more than chance" if score.display.better == "lower" else "no better than chance"
    said = f"chance {level}" if score.beyond_chance else f"{equal}, {level}"
    return said if score.ceiling is None else f"{said} · ceiling {value_text(score.display, score.ceiling)}"


def score_rows(run: RunFiles) -> tuple[ScoreRow, ...]:
    """The metrics as they were written, earlier stages next to the final output and on the same axis."""
    found = {(score.key, score.labels_read): score for score in run.metrics}
    reach: dict[MetricKey, list[float]] = {}  # of a metric, whichever stage's output it is of
    for score in run.metrics:
        reach.setdefault(score.key.final, []).extend([score.value, *(score.interval or ())])
    order = list(reach)
    uses = (True, False) if run.reads_labels else (False,)
    keys = sorted(dict.fromkeys(key for key, _ in found), key=lambda key: (order.index(key.final), key.stage > 0))
    return tuple(_row([found.get((key, use)) for use in uses], reach[key.final]) for key in keys)


def _row(found: Sequence[ShownScore | None], reach: Sequence[float]) -> ScoreRow:
    shown = next(score.display for score in found if score)
    ends = axis_ends(shown, reach)
    several = len(found) > 1
    readings = [_reading(score, ends, SERIES[k] if several else None) for k, score in enumerate(found)]
    labels = (words.tick(ends[0]), words.tick(ends[1]))
    of = next((OF[score.of] for score in found if score and score.of in OF), "")
    return ScoreRow(shown.title, shown.description, ARROWS[shown.better], labels, tuple(readings), of)


def _reading(score: ShownScore | None, ends: tuple[float, float], series: int | None) -> Reading | None:
    if score is None:
        return None
    return Reading(
        score.name,
        value_text(score.display, score.value),
        interval_text(score),
        charts.whisker(score.value, score.interval, ends, score.title, series, standing=(score.chance, score.ceiling)),
        details(score.details),
        standing_text(score),
        "" if score.training is None else f"training {value_text(score.display, score.training)}",
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
