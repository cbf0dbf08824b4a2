"""What someone needs to use exported graphs: preprocessing, codes with names and ranges, and how stages chain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid._version import __version__
from unbraid.core import HasClasses
from unbraid.data.preprocessing import Preprocessing
from unbraid.errors import DataMissing
from unbraid.evaluation.classes import class_names
from unbraid.evaluation.evaluate import works_without_labels
from unbraid.explore.graphs import OPSET, StageGraphs
from unbraid.metrics.usage import in_use
from unbraid.runs.codes import CodeTable
from unbraid.runs.directory import RunDirectory
from unbraid.runs.kept_observations import read_observations
from unbraid.runs.new_data import factors_of
from unbraid.util.names import named_columns, read_names
from unbraid.util.units import column_places

FORMAT = 1
UNUSED = 0.3  # a code whose means vary less than this is moved over the prior, so that it is seen to do little
PRIOR_RANGE, BEYOND = 2.0, 0.1  # how far that is to both sides; the part of the data's range that others go beyond it
CHAIN = (
    "y is what the decoder of the stage before makes; given are the codes of the stage before. "
    "To encode: run each stage's encoder, then its decoder for the next stage's y. To decode: the decoders in order."
)


def code_table(run: RunDirectory) -> CodeTable:
    """The codes of the data set as for new observations: without labels, unless the codes are labels.

    Where the data are gone and were never encoded, those of the observations that the run keeps.
    """
    reads = run.chain.needs_labels and not works_without_labels(run)
    try:
        return run.codes(labels=reads, show=False)
    except DataMissing:
        kept = read_observations(run)
        if kept is None:
            raise
        labels = kept.labels_for(run) if reads else None
        table = run.codes_of(kept.x, labels, factors=kept.factors, info=factors_of(run))
        return CodeTable({**table.arrays, "rows": kept.rows}, table.given_names)


def describe(run: RunDirectory, graphs: Sequence[StageGraphs], table: CodeTable) -> dict[str, Any]:
    """The content of model.json, but for the names of files."""
    return {
        "format": FORMAT,
        "unbraid": __version__,
        "opset": OPSET,
        "data": describe_data(run),
        "stages": [describe_stage(run, number, graph, table) for number, graph in enumerate(graphs, 1)],
        "chain": CHAIN,
    }


def describe_data(run: RunDirectory) -> dict[str, Any]:
    """What observations are, and what has to be done to them before a graph sees them."""
    shared = {"name": str(run.plan.data["name"]), "shape": list(run.plan.data["shape"])}
    if run.is_image:
        how = "bytes divided by 255, channels first: [batch, channel, height, width] in [0, 1]"
        return shared | {"kind": "image", "preprocess": how}
    return shared | {"kind": "vector"} | describe_vector(run.preprocessing)


def describe_vector(how: Preprocessing) -> dict[str, Any]:
    """What the values of a vector are called, and how raw ones become those that a graph sees."""
    steps = "(value − mean) / scale" if how.mean else "as they are"
    if how.log1p:
        steps = f"log(1 + value) of those in log1p; then {steps}"
    made: dict[str, Any] = {"preprocess": f"{steps}: [batch, value], float32"}
    if how.columns:
        made["values"] = list(how.value_names)
    if how.categories:
        places = column_places(how.columns, how.categories)
        made["columns"] = [
            {"name": name, "first": place.start, "categories": list(how.categories.get(name, ()))}
            for name, place in places.items()
        ]
    if how.mean:
        made |= {"mean": list(how.mean), "scale": list(how.scale)}
    return made | ({"log1p": list(how.log1p)} if how.log1p else {})


def describe_stage(run: RunDirectory, number: int, graph: StageGraphs, table: CodeTable) -> dict[str, Any]:
    """One stage: its method, what flows in and out of its graphs, and its codes."""
    config, steps = run.plan.stages[number - 1]
    stage = run.chain.stages[number - 1]
    described: dict[str, Any] = {
        "method": config.name,
        "steps": steps,
        "encoder_inputs": inputs(graph.encoder),
        "decoder_inputs": inputs(graph.decoder),
        "groups": dict(graph.groups),
        "codes_are_labels": config.codes_are_labels,
        "replaces_codes": config.replaces_codes,
        "codes": describe_codes(run, number, table),
    }
    if config.encoder_needs_labels and run.plan.labels is not None:
        described["labels"] = list(run.plan.labels.factors)
    if isinstance(stage, HasClasses):
        described["classes"] = describe_classes(run, stage)
    return described


def inputs(graph: Any) -> list[str]:
    """The names of a graph's inputs; none of a graph that is not there."""
    return [] if graph is None else [value.name for value in graph.graph.input]


def describe_codes(run: RunDirectory, number: int, table: CodeTable) -> list[dict[str, Any]]:
    """Every code of a stage: its column, its name, where the data lie, and how much it says."""
    prefix = "" if number == 1 else f"stage-{number}/"
    codes: NDArray[np.float32] = table.arrays[f"{prefix}codes"]
    columns = [str(column) for column in table.arrays[f"{prefix}columns"]]
    names = named_columns(columns, read_names(run.folder), number)
    information = table.arrays.get(f"{prefix}information")
    limits = table.arrays.get(f"{prefix}bounds", np.array([(-np.inf, np.inf)] * len(columns)))
    low, high = slider_ranges(codes, limits)
    used = in_use(table.table(number))
    infers = run.plan.stages[number - 1][0].reconstructs  # a code that is only drawn has not collapsed
    return [
        {
            "column": columns[j],
            "name": names[j],
            "low": float(low[j]),
            "high": float(high[j]),
            "mean": float(codes[:, j].mean()),
            "deviation": float(codes[:, j].std()),
            "bounded": bool(np.isfinite(limits[j]).all()),
            # A variable that is given has no information to report.
            "information": None if information is None else float(information[j]),
            "collapsed": infers and information is not None and not bool(used[j]),
        }
        for j in range(len(columns))
    ]


def slider_ranges(
    codes: NDArray[np.float32], limits: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How far each slider goes, [code] to both sides: a little beyond 99 % of the data, and never beyond its limits."""
    low, high = np.quantile(codes, [0.005, 0.995], axis=0)
    room, unused = BEYOND * (high - low), codes.std(axis=0) < UNUSED
    low = np.where(unused, np.minimum(low, -PRIOR_RANGE), low - room)
    high = np.where(unused, np.maximum(high, PRIOR_RANGE), high + room)
    return np.clip(low, *limits.T), np.clip(high, *limits.T)


def describe_classes(run: RunDirectory, stage: HasClasses) -> list[dict[str, Any]]:
    """The discrete variables of a method with classes, and the codes u at which each of their values has its mode."""
    described = []
    for k in range(len(stage.class_sizes)):
        name, values = class_names(run, k)
        modes = stage.class_modes(k).mean.tolist()
        described.append({"name": name, "values": list(values), "first": k * stage.codes_per_variable, "modes": modes})
    return described
