"""Several runs on one page: what differs, how they score, what they draw."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from unbraid.errors import InputError
from unbraid.metrics.record import Better
from unbraid.report.draw import charts, words
from unbraid.report.draw.dots import seed_dots
from unbraid.report.read.content import RunFiles, ShownScore, as_mapping
from unbraid.report.read.directory import read_run
from unbraid.report.render import render
from unbraid.report.sections import facts, scores
from unbraid.report.sections.pictures import Reconstructions, TraversalGroup, reconstructions, traversals
from unbraid.util.files import write_bytes
from unbraid.util.intervals import mean_and_interval

SERIES = 12


@dataclass(frozen=True)
class Entry:
    """One run of the comparison."""

    name: str
    title: str
    series: int
    traversals: tuple[TraversalGroup, ...]


@dataclass(frozen=True)
class Reading:
    """One run's value of one metric; `apart` if it is the best and its interval touches no other."""

    name: str
    series: int
    value: str
    interval: str
    graphic: Markup | None
    apart: bool


@dataclass(frozen=True)
class Contest:
    """One metric over all runs, on one axis."""

    key: str
    short: str
    long: str
    better: str
    ends: tuple[str, str]
    readings: tuple[Reading, ...]


def write_comparison(run_directories: Sequence[Path], out: Path) -> Path:
    """Write one self-contained page that sets runs side by side.

    Args:
        run_directories: two or more.
        out: the file to write.

    Returns:
        The page. No run is called better than another unless all are of the same data.
    """
    if len(run_directories) < 2:
        raise InputError("a comparison needs at least two run directories; give more, or use `unbraid report RUN`.")
    runs = [read_run(Path(directory)) for directory in run_directories]
    names = short_names([run.directory for run in runs])
    differing, common = differences(runs)
    colours = [number % SERIES for number in groups(runs)]
    entries = [
        Entry(name, facts.title(run), colour, traversals(run, most=6, last_only=True)[:1])
        for run, name, colour in zip(runs, names, colours, strict=True)
    ]
    page = render(
        "comparison.html.j2",
        title=f"{len(runs)} runs compared",
        name=", ".join(names),
        entries=entries,
        gallery=_gallery(runs, names, colours),
        differing=differing,
        common=common,
        contests=contests(runs, names),
        same_data=same_data(runs),
    )
    return write_bytes(Path(out), page)


def short_names(directories: Sequence[Path]) -> list[str]:
    """The least of each path that tells the runs apart."""
    paths = [directory.resolve().parts for directory in directories]
    for depth in range(1, max(map(len, paths)) + 1):
        names = ["/".join(parts[-depth:]) for parts in paths]
        if len(set(names)) == len(names):
            return names
    return [f"{name} ({i})" for i, name in enumerate(names, start=1)]


def differences(runs: Sequence[RunFiles]) -> tuple[list[tuple[str, list[str]]], list[tuple[str, str]]]:
    """Settings in which the runs differ, one column a run, and those in which all that have them agree."""
    tables = [_settings(run) for run in runs]
    keys = list(dict.fromkeys(key for table in tables for key in table))
    differing, common = [], []
    for key in keys:
        values = [table.get(key, "–") for table in tables]
        present = {table[key] for table in tables if key in table}
        # Of a stage that only some runs have, method and steps say enough.
        if len(present) > 1 or (len(set(values)) > 1 and (key.startswith("data") or key.endswith(("method", "steps")))):
            differing.append((key, values))
        else:
            common.append((key, present.pop()))
    return differing, common


def _settings(run: RunFiles) -> dict[str, str]:
    table = {"data": facts.data_name(run), "observations": words.count(run.data.get("n"))}
    table |= {"each": words.shape(run.data["shape"])} if run.data.get("shape") else {}
    arguments = as_mapping(run.data.get("arguments"))
    table |= {f"data · {key.replace('_', ' ')}": cut(words.plain(value)) for key, value in arguments.items()}
    table["seed"] = words.plain(run.config.get("seed"))
    read = next((stage.labels for stage in run.stages if "count" in stage.labels), None)
    if given := read or as_mapping(run.config.get("labels")):
        table["labels"] = words.labelled(given)
    for stage in run.stages:
        prefix = f"stage {stage.number} · "
        table[f"{prefix}method"] = stage.title
        table[f"{prefix}steps"] = words.count(stage.steps)
        table |= {f"{prefix}{key.replace('_', ' ')}": words.plain(value) for key, value in stage.options.items()}
        table[f"{prefix}parameters"] = words.count(stage.parameters)
        table[f"{prefix}time"] = words.duration(stage.seconds)
    return table


def cut(text: str, most: int = 48) -> str:
    """A long value by its beginning."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def contests(runs: Sequence[RunFiles], names: Sequence[str]) -> list[Contest]:
    """Every metric that any run has, in the order of the first run that has it."""
    tables = [{metric.name: metric for metric in run.metrics} for run in runs]
    keys = dict.fromkeys(key for table in tables for key in table)
    same, numbers = same_data(runs), groups(runs)
    called = group_names(numbers, names)
    return [
        _contest(
            key, [over_seeds(key, tables, numbers, group) for group in range(len(called))], called, comparable=same
        )
        for key in keys
    ]


def groups(runs: Sequence[RunFiles]) -> list[int]:
    """For each run the number of its group: runs that differ in nothing but their seed belong together."""
    known: dict[str, int] = {}
    found = []
    for run in runs:
        setting = [as_mapping(run.config).get(part) for part in ("stages", "labels")]
        key = json.dumps([run.data.get("fingerprint"), setting], sort_keys=True, default=str)
        if not run.data.get("fingerprint") or not run.stages:
            key = str(run.directory)  # what is not known to be alike stays apart
        found.append(known.setdefault(key, len(known)))
    return found


def group_names(numbers: Sequence[int], names: Sequence[str]) -> list[str]:
    """A group by the name of its only run, or by what the names of its seeds begin with."""
    called = []
    for group in range(max(numbers) + 1):
        own = [name for number, name in zip(numbers, names, strict=True) if number == group]
        alike = itertools.takewhile(lambda letters: len(set(letters)) == 1, zip(*own, strict=False))
        start = "".join(letters[0] for letters in alike).removesuffix("seed").rstrip("-_ /.") or own[0]
        called.append(own[0] if len(own) == 1 else f"{start} ({len(own)} seeds)")
    return called


def over_seeds(
    key: str, tables: Sequence[Mapping[str, ShownScore]], numbers: Sequence[int], group: int
) -> tuple[ShownScore | None, list[float]]:
    """A group's score and what each of its seeds has: of several seeds their mean with its interval over seeds."""
    there = [t[key] for t, number in zip(tables, numbers, strict=True) if number == group and key in t]
    if len(there) < 2:
        return (there[0] if there else None), []
    values = [score.value for score in there]
    mean, low, high = mean_and_interval(values)
    return replace(there[0], value=mean, interval=None if math.isnan(mean) else (low, high)), values


def same_data(runs: Sequence[RunFiles]) -> bool:
    """Whether all runs are of the same observations: only then can one be better than another."""
    return len({str(run.data.get("fingerprint")) for run in runs}) == 1


def _contest(
    key: str, grouped: Sequence[tuple[ShownScore | None, list[float]]], names: Sequence[str], *, comparable: bool
) -> Contest:
    found = [score for score, _ in grouped]
    there = [score for score in found if score]
    shown = there[0].display
    every = [v for score in there for v in (score.value, *(score.interval or ()))]
    ends = scores.axis_ends(shown, every + [value for _, seeds in grouped for value in seeds])
    winner = _apart(found, shown.better) if comparable else None
    readings = []
    for i, ((score, seeds), name) in enumerate(zip(grouped, names, strict=True)):
        series = i % SERIES
        if score is None:
            readings.append(Reading(name, series, "–", "", None, False))
            continue
        label = f"{name}, {there[0].title}"
        graphic = charts.whisker(score.value, score.interval, ends, label, series)
        if seeds:
            graphic = seed_dots(seeds, score.value, score.interval, ends, label, series)
        value, interval = scores.value_text(shown, score.value), scores.interval_text(score)
        readings.append(Reading(name, series, value, interval, graphic, i == winner))
    labels = (words.tick(ends[0]), words.tick(ends[1]))
    return Contest(key, there[0].title, shown.description, scores.ARROWS[shown.better], labels, tuple(readings))


def _apart(found: Sequence[ShownScore | None], better: Better) -> int | None:
    """The best run, if its interval lies apart from the intervals of all others."""
    there = [(i, m) for i, m in enumerate(found) if m is not None and m.interval and not math.isnan(m.value)]
    if better == "neither" or len(there) < 2:
        return None
    sign = 1 if better == "higher" else -1
    best, metric = max(there, key=lambda pair: sign * pair[1].value)
    worst_edge = min(sign * edge for edge in metric.interval or ())
    others = [max(sign * edge for edge in m.interval or ()) for i, m in there if i != best]
    return best if all(edge < worst_edge for edge in others) else None


def _gallery(
    runs: Sequence[RunFiles], names: Sequence[str], colours: Sequence[int]
) -> list[tuple[str, Reconstructions]]:
    """Reconstructions under a heading; image runs that show the same originals share one block and one row x."""
    blocks: list[tuple[str, Reconstructions]] = []
    originals: list[Any] = []
    for i, (run, name) in enumerate(zip(runs, names, strict=True)):
        made = reconstructions(run, target=64)
        shown = run.pictures.originals if run.pictures else None
        if made is None or shown is None:
            continue
        own = tuple(replace(s, who=f"{name}, {s.who}", colour=f"series-{colours[i]}") for s in made.strips[1:])
        same = next((k for k, x in enumerate(originals) if np.array_equal(x, shown)), None)
        if same is not None and made.strips:
            heading, block = blocks[same]
            blocks[same] = (f"{heading}, {name}", replace(block, strips=block.strips + own))
            continue
        originals.append(shown)
        blocks.append((name, replace(made, strips=made.strips[:1] + own)))
    return blocks
