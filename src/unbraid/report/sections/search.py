"""The page of a search: which setting to take, how settings and seeds compare, and what the best and the worst draw."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from unbraid.errors import InputError
from unbraid.report.draw import words
from unbraid.report.draw.dots import Dot, ends_of, scatter, seed_dots, share_bar
from unbraid.report.read.content import as_mapping
from unbraid.report.read.directory import read_run
from unbraid.report.render import render
from unbraid.report.sections.pictures import (
    Reconstructions,
    TraversalGroup,
    reconstructions,
    traversals,
)
from unbraid.util.files import read_json, write_bytes

COLOURS = 12  # settings beyond these share the last colour
SHOWN = 200  # settings in the table; the file has all
ARROWS = {1: "↑", 0: "", -1: "↓"}
ERRORS = ("reconstruction", "l2")  # what a score is weighed against, the first that is there


@dataclass(frozen=True)
class Cell:
    """A figure of one setting."""

    value: str
    interval: str
    graphic: Markup | None


@dataclass(frozen=True)
class SettingRow:
    """One setting in the table."""

    name: str
    series: int
    seeds: str
    cells: tuple[Cell, ...]
    errors: tuple[str, ...]


@dataclass(frozen=True)
class Side:
    """A run whose pictures are shown."""

    heading: str
    name: str
    note: str
    reconstructions: Reconstructions | None
    traversals: tuple[TraversalGroup, ...]


def write_search_page(folder: Path) -> Path:
    """Write report.html of a search from its files; no model is loaded.

    Args:
        folder: what `unbraid search` wrote, with search.json and ranking.json.

    Returns:
        The page, one file that fetches nothing from elsewhere.
    """
    if not (folder / "ranking.json").is_file():
        raise InputError(f"'{folder}' holds no finished search: repeat its command.")
    plan, ranking = as_mapping(read_json(folder / "search.json")), as_mapping(read_json(folder / "ranking.json"))
    settings = [as_mapping(one) for one in ranking["settings"]]
    by, titles = str(ranking["by"]), dict(ranking["titles"])
    figures = sorted(titles, key=lambda name: name != by)
    trials = [trial for one in settings for trial in one["trials"]]
    data = as_mapping(plan.get("data"))
    page = render(
        "search.html.j2",
        title=f"{len(trials)} trials of {len(settings)} settings",
        name=folder.resolve().name,
        data=f"{data.get('name')}, {words.count(data.get('n'))} observations",
        steps=", ".join(words.count(count) for count in plan.get("steps", ())),
        command=plan.get("command"),
        counts=statuses(trials),
        recommendation=ranking["recommendation"],
        by=titles.get(by, by),
        heads=[(titles[name], ARROWS[ranking["better"][name]]) for name in figures],
        rows=setting_rows(settings, figures),
        more=max(0, len(settings) - SHOWN),
        tradeoffs=tradeoffs(settings, figures, titles),
        effects=effect_rows(ranking["effects"]),
        sides=sides(folder, settings, by, titles),
    )
    return write_bytes(folder / "report.html", page)


def statuses(trials: Sequence[Mapping[str, Any]]) -> str:
    """How many trials are finished, failed, still to do, or were left on the way."""
    counts = {"finished": 0, "failed": 0, "waiting": 0}
    for trial in trials:
        counts[trial["status"]] = counts.get(trial["status"], 0) + 1
    return ", ".join(f"{count} {status}" for status, count in counts.items() if count)


def setting_rows(settings: Sequence[Mapping[str, Any]], figures: Sequence[str]) -> list[SettingRow]:
    """A row for each setting; all settings of a figure on one axis."""
    axes = {name: ends_of([v for one in settings for v in shown_values(one, name)]) for name in figures}
    rows = []
    for number, one in enumerate(settings[:SHOWN]):
        finished = sum(trial["status"] == "finished" for trial in one["trials"])
        cells = tuple(cell(one, name, axes[name]) for name in figures)
        errors = tuple(dict.fromkeys(trial["error"] for trial in one["trials"] if trial["error"]))
        rows.append(SettingRow(one["name"], series(number), f"{finished} of {len(one['trials'])}", cells, errors))
    return rows


def shown_values(setting: Mapping[str, Any], name: str) -> list[float]:
    """What each seed has of a figure; an interval that reaches beyond all seeds is cut."""
    found = as_mapping(setting["figures"].get(name))
    return [value for value in as_mapping(found.get("seeds")).values() if value is not None]


def cell(setting: Mapping[str, Any], name: str, ends: tuple[float, float]) -> Cell:
    """Mean, interval and seeds of one figure."""
    found = as_mapping(setting["figures"].get(name))
    if found.get("mean") is None:
        return Cell("–", "", None)
    interval = None if found["interval"] is None else (float(found["interval"][0]), float(found["interval"][1]))
    values = [math.nan if value is None else float(value) for value in found["seeds"].values()]
    text = "" if interval is None else f"{words.number(interval[0])} – {words.number(interval[1])}"
    graphic = seed_dots(values, float(found["mean"]), interval, ends, setting["name"])
    return Cell(words.number(float(found["mean"])), text, graphic)


def series(number: int) -> int:
    """The colour of a setting, by its rank."""
    return min(number, COLOURS - 1)


def tradeoffs(settings: Sequence[Mapping[str, Any]], figures: Sequence[str], titles: Mapping[str, str]) -> list[Markup]:
    """Every score against the reconstruction error, a dot for each trial."""
    error = next((name for name in ERRORS if name in figures), None)
    if error is None:
        return []
    charts = []
    for name in figures:
        if name in (*ERRORS, "elbo", "codes_used"):
            continue
        dots = []
        for number, one in enumerate(settings):
            xs, ys = (as_mapping(as_mapping(one["figures"].get(key)).get("seeds")) for key in (error, name))
            dots += [
                Dot(float(xs[seed]), float(ys[seed]), series(number), f"{one['name']}, seed {seed}")
                for seed in ys
                if xs.get(seed) is not None and ys[seed] is not None
            ]
        if dots:
            charts.append(scatter(dots, titles[error], titles[name]))
    return charts


def effect_rows(effects: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str, Markup]]:
    """Option, its share of the variance, how likely that is by chance, and a bar."""
    rows = []
    for one in effects:
        share, p = float(one["share"]), one.get("p")
        chance = "" if p is None or math.isnan(p) else "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
        rows.append((str(one["option"]), f"{share:.0%}", chance, share_bar(share, f"{one['option']} {share:.0%}")))
    return rows


def sides(folder: Path, settings: Sequence[Mapping[str, Any]], by: str, titles: Mapping[str, str]) -> list[Side]:
    """The best trial of the best setting and the worst of the worst, where their pictures are there."""
    known = [one for one in settings if as_mapping(one["figures"].get(by)).get("mean") is not None]
    found = []
    for heading, one in (("Best", known[0]), ("Worst", known[-1])) if len(known) > 1 else ():
        seeds = {seed: v for seed, v in one["figures"][by]["seeds"].items() if v is not None}
        trial = next((t for t in one["trials"] if t["name"] == one.get("shown")), None)
        if trial is None or not (folder / "trials" / trial["name"] / "pictures.npz").is_file():
            continue
        run = read_run(folder / "trials" / trial["name"])
        note = f"{titles[by]} {words.number(float(seeds[str(trial['seed'])]))}, seed {trial['seed']}"
        moved = traversals(run, most=6, last_only=True)[:1]
        found.append(Side(heading, one["name"], note, reconstructions(run, target=64), moved))
    return found
