"""The page: one file with the model in it, which works from disk and never asks the network for anything."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unbraid.errors import InputError
from unbraid.explore.content import MOST_CODES, code_arrays, histogram, observations
from unbraid.explore.description import code_table, describe
from unbraid.explore.fidelity import choose_levels
from unbraid.explore.graphs import StageGraphs, examples
from unbraid.explore.material import Material, gather_material
from unbraid.explore.onnx_files import run_graphs
from unbraid.explore.packing import PAGE, Block, Levels, pack
from unbraid.runs.chain import knows_prior_only
from unbraid.runs.codes import CodeTable
from unbraid.runs.directory import RunDirectory
from unbraid.util.files import write_text
from unbraid.util.names import read_names

AIMED, MOST = 3_000_000, 10_000_000  # bytes of a page
TRACED = 4  # observations that graphs are traced with
# In the order in which they need one another.
WORKER = ("tensor", "elementwise", "linear", "reductions", "resampling", "shapes", "graph", "chain", "remote", "worker")
WINDOW = (
    *("bytes", "format", "state", "link", "columns", "drawing", "gif"),
    *("sliders", "pad", "map", "strip", "own", "main"),
)


def write_page(run: RunDirectory, path: Path) -> int:
    """Write the explorer of a run, and return its size in bytes."""
    table = code_table(run)
    material = gather_material(run, table)
    graphs = run_graphs(run, examples(run.chain, material.inputs(run, TRACED), None))
    described = describe(run, graphs, table)
    page = assemble(run, graphs, table, material, described, [{"encoder": {}, "decoder": {}} for _ in graphs])
    if len(page.encode()) > AIMED:
        levels = choose_levels(run, graphs, described, table, material)
        page = assemble(run, graphs, table, material, described, levels)
    size = len(page.encode())
    if size > MOST:
        raise InputError(
            f"the page would have {size / 1e6:.1f} MB and may have {MOST / 1e6:g}: use unbraid explore --serve, "
            "which leaves the model here, or train with a smaller --width."
        )
    write_text(path, page)
    return size


def assemble(
    run: RunDirectory,
    graphs: Sequence[StageGraphs],
    table: CodeTable,
    material: Material,
    described: dict[str, Any],
    levels: Sequence[Mapping[str, Levels]] | None = None,
) -> str:
    """The page's text, with the weights of each stage's encoder and decoder packed in this way.

    Without any, the model stays with a server, which the page asks.
    """
    block = Block()
    model = json.loads(json.dumps(described)) | {"served": levels is None}
    for number, (graph, stage) in enumerate(zip(graphs, model["stages"], strict=True)):
        codes = table.arrays[code_arrays(run)[number]]
        stage["count"] = codes.shape[1]
        stage["codes"] = stage["codes"][:MOST_CODES]
        for j, code in enumerate(stage["codes"]):
            code["histogram"] = histogram(codes[:, j], code["low"], code["high"])
        # A code that is a label cannot be inferred from a picture.
        infers = not (stage["codes_are_labels"] or knows_prior_only(run.chain.stages[number]))
        if levels is None or graph.decoder is None:
            stage |= {"encoder": infers, "decoder": True}
            continue
        own = levels[number]
        there = graph.encoder if infers else None
        stage["encoder"] = None if there is None else pack(there, block, own["encoder"])
        stage["decoder"] = pack(graph.decoder, block, own["decoder"])
    model["observations"] = observations(run, table, material, block)
    model["title"] = title(run)
    model = short(model)
    return fill(model, bytes(block.content), read_names(run.folder))


def short(value: Any) -> Any:
    """The same with numbers of at most six digits: more than that no slider shows."""
    if isinstance(value, dict):
        return {key: short(part) for key, part in value.items()}
    if isinstance(value, list):
        return [short(part) for part in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def title(run: RunDirectory) -> dict[str, str]:
    """What the page is of: the data set and the methods."""
    chain = " + ".join(config.name for config, _ in run.plan.stages)
    name = str(run.plan.data["name"])
    return {"data": Path(name).stem or name, "methods": chain}


def fill(model: dict[str, Any], block: bytes, names: dict[str, str]) -> str:
    """The template with everything in its place; nothing can end the element that it stands in."""
    places = {
        "title": f"{model['title']['data']} · unbraid",
        "connect": "'self'" if model["served"] else "'none'",
        "style": (PAGE / "style.css").read_text(encoding="utf-8"),
        "model": as_text(zlib.compress(as_json(model).encode(), 9)),
        "names": as_script(names),
        "block": as_text(zlib.compress(block, 9)),
        "worker": modules(WORKER),
        "window": modules(WINDOW),
    }
    template = (PAGE / "template.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: places[match.group(1)], template)


def as_text(content: bytes) -> str:
    """Bytes as text, five characters for four bytes; none of them can begin an end tag."""
    return base64.b85encode(content).decode().replace("<", ",")


def as_script(value: Any) -> str:
    """JSON that may stand between script tags."""
    return as_json(value).replace("<", "\\u003c")


def as_json(value: Any) -> str:
    """JSON without any spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def modules(names: Sequence[str]) -> str:
    """JavaScript modules as one script: they follow one another, so that imports and exports fall away."""
    parts = []
    for name in names:
        text = (PAGE / f"{name}.js").read_text(encoding="utf-8")
        text = re.sub(r"^import [^;]*;\n", "", text, flags=re.MULTILINE)
        parts.append(re.sub(r"^export ", "", text, flags=re.MULTILINE))
    return "\n".join(parts)
