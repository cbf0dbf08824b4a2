"""What was run, at which scale and under which conventions, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from unbraid.metrics import MetricKey
from unbraid.metrics.usage import IN_USE, in_use
from unbraid.report.draw import words
from unbraid.report.read.content import RunFiles, ShownScore, Stage, as_mapping
from unbraid.report.sections import scores
from unbraid.report.sections.heat import HeatMap

Rows = tuple[tuple[str, str], ...]
DISENTANGLEMENT = ("mig", "factor_score", "dci", "sap", "beta_score", "mcc")
ERRORS = ("l2", "l1", "fid")
SCALE_OPTIONS = ("width", "network", "batch_size", "latents", "likelihood")


@dataclass(frozen=True)
class Card:
    """The data or one stage: a title, the facts worth a glance, and the rest on demand."""

    title: str
    kicker: str
    symbol: str
    stage: int
    facts: Rows
    options: Rows


@dataclass(frozen=True)
class Headline:
    """A number that sums the run up."""

    value: str
    label: str
    note: str


@dataclass(frozen=True)
class Scale:
    """What was run beside what the paper ran: (what, here, in the paper)."""

    stage: int
    method: str
    rows: tuple[tuple[str, str, str], ...]
    has_paper: bool


def title(run: RunFiles) -> str:
    """Methods and data in one line."""
    return f"{' → '.join(methods(run))} on {data_name(run)}"


def methods(run: RunFiles) -> list[str]:
    """The methods in the order of the stages."""
    return [stage.title for stage in run.stages] or ["Nothing"]


def data_name(run: RunFiles) -> str:
    """What the data is called; of a path the last part."""
    name = str(run.data.get("name", "unnamed data"))
    return PurePath(name).name or name


def cards(run: RunFiles) -> tuple[Card, ...]:
    """The data and then every stage."""
    return (_data_card(run), *(_stage_card(run, stage) for stage in run.stages))


def _data_card(run: RunFiles) -> Card:
    data = run.data
    facts = []
    if data.get("n") is not None:
        facts.append(("observations", words.count(data["n"])))
    if data.get("shape"):
        each = words.shape(data["shape"]).replace("images", "image").replace("vectors", "a vector")
        if run.columns is not None:
            each = f"a row of {len(run.columns.names):,} columns"
        elif run.channels is not None:
            each = f"a signal of {run.channels.count:,} channels and {run.channels.times:,} times"
        facts.append(("each", each))
    if held_out := as_mapping(run.config.get("held_out")):
        by = f", by {held_out['by']}" if held_out.get("by") else ""
        facts.append(("held out", f"{words.count(held_out.get('count'))}{by}"))
    factors = [_factor(f) for f in data.get("factors") or []]
    facts.append(("factors", ", ".join(factors) if factors else "none known"))
    rest = [*_rows(data.get("arguments") or {}), *_rows({"fingerprint": data.get("fingerprint", "–")})]
    return Card(str(data.get("name", "unnamed data")), "Data", "x", 0, tuple(facts), tuple(rest))


def _factor(given: Any) -> str:
    if not isinstance(given, Mapping):
        return str(given)
    size = given.get("size")
    return f"{given.get('name', '?')} ({size})" if size else str(given.get("name", "?"))


def _stage_card(run: RunFiles, stage: Stage) -> Card:
    facts = [("steps", words.count(stage.steps))]
    if stage.parameters is not None:
        facts.append(("parameters", words.count(stage.parameters)))
    if stage.seconds is not None:
        facts.append(("time", words.duration(stage.seconds)))
    elif not stage.reused_from:
        facts.append(("state", "not finished"))
    if stage.reused_from:
        facts.append(("reused from", str(stage.reused_from)))
    symbol = words.symbols(len(run.stages))[stage.number - 1]
    kicker = f"Stage {stage.number}" if len(run.stages) > 1 else "Method"
    return Card(stage.title, kicker, symbol, stage.number, tuple(facts), _rows(stage.options))


def _rows(given: Mapping[str, Any]) -> Rows:
    return tuple((str(key).replace("_", " "), words.plain(value)) for key, value in given.items())


def headlines(run: RunFiles) -> tuple[Headline, ...]:
    """At most five numbers: disentanglement, error and what it was before, latents in use, time."""
    found = [_score(score) for score in _first(run, DISENTANGLEMENT)][:2]
    found += [_error(run, score) for score in _first(run, ERRORS)][:1]
    known = run.tables.get(1)
    if known is not None and known.information is not None:
        used = int(in_use(known).sum())
        note = f"{'stage 1, ' if len(run.stages) > 1 else ''}at least {IN_USE} nats, and the code varies"
        found.append(Headline(f"{used} of {len(known.columns)}", "latents in use", note))
    seconds = [stage.seconds for stage in run.stages if stage.seconds is not None]
    if seconds:
        parameters = sum(stage.parameters or 0 for stage in run.stages)
        found.append(Headline(words.duration(sum(seconds)), "training", f"{words.count(parameters)} parameters"))
    return tuple(found)


def _first(run: RunFiles, names: Sequence[str]) -> list[ShownScore]:
    """The scores of these metrics, in their order.

    What needed labels at test time comes to the top only where there is nothing else, and says so.
    """
    there = {(score.key, score.labels_read): score for score in run.metrics}
    wanted = [(MetricKey(name), labels_read) for labels_read in (False, True) for name in names]
    return [there[key] for key in wanted if key in there]


def _score(score: ShownScore) -> Headline:
    value = scores.value_text(score.display, score.value)
    return Headline(value, score.title, scores.interval_text(score))


def _error(run: RunFiles, score: ShownScore) -> Headline:
    """The final error; where stage 1’s is known, what share of it is left."""
    before = stage_one(run, score)
    if before is None or before <= 0:
        return _score(score)
    note = f"{score.value / before:.2f} × stage 1’s {words.number(before)}"
    return Headline(words.number(score.value), score.title, note)


def stage_one(run: RunFiles, score: ShownScore) -> float | None:
    """The same score for the output of stage 1."""
    key = replace(score.key, stage=1)
    return next((one.value for one in run.metrics if (one.key, one.labels_read) == (key, score.labels_read)), None)


def scales(run: RunFiles) -> tuple[Scale, ...]:
    """For every stage steps, width, batch, data and seed, with the paper's setting where it is recorded."""
    data = run.data
    found = []
    for stage in run.stages:
        here: dict[str, Any] = {"steps": stage.steps}
        here |= {key: stage.options[key] for key in SCALE_OPTIONS if key in stage.options}
        here |= {"observations": data.get("n"), "seed": run.config.get("seed")}
        names = [*here, *(key for key in stage.paper if key not in here)]
        rows = tuple(
            (name.replace("_", " "), _amount(here.get(name)), _amount(stage.paper.get(name))) for name in names
        )
        found.append(Scale(stage.number, stage.title, rows, bool(stage.paper)))
    return tuple(found)


def _amount(value: Any) -> str:
    if value is None:
        return "–"
    return words.count(value) if isinstance(value, int) and not isinstance(value, bool) else words.plain(value)


def conventions(run: RunFiles, heat: HeatMap | None = None) -> Rows:
    """How the numbers on the page were made."""
    rows = [
        (
            "Losses",
            "Reconstruction terms are summed over the values of one observation and averaged over the batch; "
            "KL terms are summed over latents and averaged over the batch.",
        )
    ]
    if any(table.information is not None for table in run.tables.values()):
        n = len(next(iter(run.tables.values())))
        reads = any(stage.labels.get("test") for stage in run.stages)
        prior = "the standard normal, with labels given," if reads else "its prior,"
        text = f"Mean KL divergence of each latent’s posterior from {prior} in nats, over"
        rows.append(("Information", f"{text} {words.count(n)} observations."))
    if any(metric.interval for metric in run.metrics):
        rows.append(("Intervals", "95 %, by bootstrap over the encoded rows."))
    if run.metric_settings:
        known = run.metric_settings
        parts = [f"{words.count(known['rows'])} rows"] if "rows" in known else []
        parts += [f"seed {known['seed']}"] if "seed" in known else []
        parts += [words.duration(known["seconds"])] if "seconds" in known else []
        rows.append(("Metrics", ", ".join(parts) + ". They are computed on the mean codes of stage 1."))
    if heat is not None:
        rows.append(("Latents and factors", heat.convention))
    labels = [_labels(stage) for stage in run.stages if stage.labels]
    if labels:
        rows.append(("Labels", " ".join(labels)))
    return tuple(rows)


def _labels(stage: Stage) -> str:
    """Whether labels were read, when, how many and of what."""
    given = stage.labels
    unlabelled = "pairs, no labels" if "pairs" in given else "no labels"
    training = "labels" if given.get("training") else unlabelled
    training += f" of {words.labelled(given)}" if "count" in given else ""
    test = "none"
    if given.get("test"):
        test = f"those of {words.count(given['count_at_test'])}" if "count_at_test" in given else "those there are"
    return f"{stage.title}: {training} were read at training, {test} at test."


def environment(run: RunFiles) -> Rows:
    """Versions and machine, nested entries by their path."""
    return scores.details(run.environment)
