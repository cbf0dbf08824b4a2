"""Scores of a run: a loop over the measures that were asked for. Nothing here knows a measure by name."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from unbraid import metrics
from unbraid.errors import InputError, unknown
from unbraid.evaluation.code_tables import read_codes
from unbraid.evaluation.measure import Measure, MeasureOptions
from unbraid.evaluation.parts import parts_of
from unbraid.evaluation.registry import MEASURES
from unbraid.evaluation.scores_file import kept_scores, write_scores
from unbraid.evaluation.table import known_metrics, show_metric
from unbraid.metrics import Score
from unbraid.metrics.keys import MetricKey
from unbraid.metrics.suite import failure
from unbraid.runs.directory import RunDirectory
from unbraid.util.lock import locked
from unbraid.util.progress import Steps

_log = logging.getLogger("unbraid")
FIRST_REPORT = ("mig", "factor_score", "l1", "l2")


def evaluate(
    run: RunDirectory,
    names: Sequence[str] | None = None,
    options: MeasureOptions | None = None,
    *,
    more: Sequence[Measure] = (),
) -> dict[str, Any]:
    """Compute the scores that metrics.json does not hold yet, and return all that it then holds.

    Where an encoder reads labels, scores of its codes and reconstructions come twice: with the labels, and as
    «without-labels/mig» and so on without them.

    Args:
        run: a run whose stages are trained.
        names: metrics by name. Left out, the few of a first report; `["all"]`: everything that the run allows, without
            what needs a file that is not given.
        options: files of networks, how many images they look at, progress.
        more: measures of your own.
    """
    options, measures = options or MeasureOptions(), (*MEASURES, *more)
    with locked(run.folder):
        results = kept_scores(run)
        chosen = chosen_names(run, names, options, measures)
        missing = [name for name in chosen if not is_there(measure_of(name, measures), name, results, options)]
        began, before = time.monotonic(), results.get("_", {}).get("seconds", 0.0)
        for measure in measures:
            wanted = [name for name in missing if name in measure.names]
            if wanted:
                results |= scored(run, measure, wanted, options)
                write(run, results, before + time.monotonic() - began, options)  # what is there is not lost
        return write(run, results, before + time.monotonic() - began, options)


def write(run: RunDirectory, results: Mapping[str, Any], seconds: float, options: MeasureOptions) -> dict[str, Any]:
    """Write metrics.json with the number of rows that its scores are of."""
    return write_scores(run, results, seconds, len(run.codes(show=options.show).rows))


def scored(run: RunDirectory, measure: Measure, names: Sequence[str], options: MeasureOptions) -> dict[str, Any]:
    """The entries of metrics.json that one measure makes; twice where its encoder can do with labels and without.

    Where observations are held out, each says which part of the data it is `of`, and training data come beside them.

    What a measure cannot compute is said, and stands as the reason in place of a value: the others are not lost.
    """
    twice = measure.reads_labels and run.chain.needs_labels and works_without_labels(run)
    entries: dict[str, Any] = {}
    parts = parts_of(run, measure)
    for part, labels in product(parts, (True, False) if twice else (True,)):
        try:
            found = measure.compute(run, names, replace(options, part=part), labels)
        except InputError:  # something that the user can mend, such as a file that is not there
            raise
        except Exception as error:
            found = {name: failure(error, run.plan.seed) for name in names}
        say_failures(found)
        for key, score in found.items():
            name = replace(MetricKey.parse(key), labels=labels, training=part != parts[0])
            entries[str(name)] = score.to_json() | ({} if run.plan.held_out is None else {"of": part})
    return entries


def say_failures(scores: Mapping[str, Score]) -> None:
    """A sentence for every score that could not be computed."""
    for name, score in scores.items():
        if "error" in score.details:
            _log.warning("%s could not be computed: %s", name, score.details["error"])


def chosen_names(
    run: RunDirectory, names: Sequence[str] | None, options: MeasureOptions, measures: Sequence[Measure]
) -> list[str]:
    """The scores to compute; one that the run does not allow is refused before any work is done."""
    free = [name for measure in measures if measure.is_free for name in measure.names]
    allowed_free = [name for name in free if measure_of(name, measures).refusal(run, name) is None]
    if names is None:
        refused = {name: measure_of(name, measures).refusal(run, name) for name in FIRST_REPORT}
        for why in refused.values():
            if why is not None and run.plan.data["factors"]:
                _log.info("%s", why)
        return [*(name for name, why in refused.items() if why is None), *allowed_free]
    if list(names) == ["all"]:
        return possible(run, options, measures)
    known_metrics(names)
    for name in names:
        why = measure_of(name, measures).refusal(run, name)
        if why is not None:
            raise InputError(why)
    return list(dict.fromkeys([*names, *allowed_free]))


def possible(run: RunDirectory, options: MeasureOptions, measures: Sequence[Measure] = MEASURES) -> list[str]:
    """Every score that this run allows, without those that need a file that is not given."""
    offered = [measure for measure in measures if not measure.needs_file(options)]
    return [name for measure in offered for name in measure.names if measure.refusal(run, name) is None]


def measure_of(name: str, measures: Sequence[Measure] = MEASURES) -> Measure:
    """The measure that computes a score, or an error that names the nearest."""
    for measure in measures:
        if name in measure.names:
            return measure
    raise unknown("metric", name, {*metrics.METRICS, *(name for measure in measures for name in measure.names), "all"})


def is_there(measure: Measure, name: str, results: Mapping[str, Any], options: MeasureOptions) -> bool:
    """Whether a score is computed already, as these options would have it."""
    found = [score for key, score in results.items() if MetricKey.parse(key).metric == name]
    whole = not any("error" in (score.get("details") or {}) for score in found)
    return bool(found) and whole and all(measure.is_current(score, options) for score in found)


def works_without_labels(run: RunDirectory) -> bool:
    """Whether an encoder that reads labels finds codes without them: not where the codes are the labels."""
    return not any(config.codes_are_labels for config, _ in run.plan.stages)


def evaluate_table(
    path: Path,
    names: Sequence[str],
    *,
    factors: Sequence[str] = (),
    key: str | None = None,
    seed: int = 0,
    show: bool = True,
) -> dict[str, Any]:
    """Metrics of a file of codes and factors that any model has written; see `read_codes`."""
    found = read_codes(path, factors, key)
    chosen = None
    if list(names) != ["all"]:
        known_metrics(names)
        for name in names:
            measure_of(name)
        chosen = list(names)
    with Steps("metrics", len(chosen or metrics.SUITE), show=show) as bar:
        options: dict[str, Any] = {"metrics": chosen, "seed": seed, "progress": show_metric(bar)}
        if isinstance(found, metrics.Table):
            scores = metrics.suite(found, **options)
        else:
            scores = metrics.suite(found.codes, found.factors, **options, **found.about)
    say_failures(scores)
    return {name: score.to_json() for name, score in scores.items()}
