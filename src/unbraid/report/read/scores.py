"""The entries of metrics.json, each with its key and how it is shown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from unbraid.metrics import METRICS, Display, MetricKey
from unbraid.metrics.keys import TRAINING
from unbraid.report.read.content import ShownScore, as_mapping

BETTER = ("higher", "lower", "neither")


def read_scores(entries: Mapping[str, Any], *, can_read_labels: bool) -> tuple[ShownScore, ...]:
    """All scores of a metrics.json, of a run whose encoder can or cannot read labels."""
    found = {name: as_mapping(entry) for name, entry in entries.items() if name != "_"}
    leading = {name: entry for name, entry in found.items() if not MetricKey.parse(name).training}
    beside = {name: found.get(f"{TRAINING}{name}", {}).get("value") for name in leading}
    read = {name: read_score(name, entry, can_read_labels) for name, entry in leading.items()}
    return tuple(replace(score, training=beside[name]) for name, score in read.items())


def read_score(name: str, entry: Mapping[str, Any], can_read_labels: bool = False) -> ShownScore:
    """One score; on a page its key says nothing of labels, `labels_read` does."""
    key = MetricKey.parse(name)
    value, interval = entry.get("value"), entry.get("interval")
    chance, ceiling = as_mapping(entry.get("chance")), entry.get("ceiling")
    level = (chance.get("mean"), chance.get("spread"))
    return ShownScore(
        key.plain if can_read_labels else key,
        math.nan if value is None else float(value),
        None if interval is None or None in interval else (float(interval[0]), float(interval[1])),
        as_mapping(entry.get("details")),
        display(key, as_mapping(entry.get("about"))),
        can_read_labels and key.reads_labels,
        None if level[0] is None or level[1] is None else (float(level[0]), float(level[1])),
        None if ceiling is None else float(ceiling),
        entry.get("beyond_chance") is not False,
        str(entry.get("of") or ""),
    )


def display(key: MetricKey, about: Mapping[str, Any] | None = None) -> Display:
    """How a score is shown: by its metric's record, else as its entry says of itself, else by its name."""
    if key.metric in METRICS:
        shown = METRICS[key.metric].display(key.part)
    else:
        shown = _from_entry(about or {}, f"{key.metric}/{key.part}".rstrip("/").replace("_", " "))
    return replace(shown, title=f"{shown.title}, stage {key.stage}") if key.stage else shown


def _from_entry(about: Mapping[str, Any], name: str) -> Display:
    better = about.get("better")
    low, high = about.get("range") or (None, None)
    return Display(
        str(about.get("title", name)),
        str(about.get("description", "")),
        better if better in BETTER else "neither",
        (None if low is None else float(low), None if high is None else float(high)),
    )
