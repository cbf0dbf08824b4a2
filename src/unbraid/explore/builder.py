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
from unbraid.explore.fidelity import choose_precisions
from unbraid.explore.graphs import StageGraphs, examples
from unbraid.explore.onnx_files import run_graphs
from unbraid.explore.packing import PAGE, Block, Precision, pack
from unbraid.runs.codes import CodeTable, choose_rows
from unbraid.runs.directory import RunDirectory
from unbraid.util.files import write_text
from unbraid.util.names import read_names

AIMED, MOST = 3_000_000, 10_000_000  # bytes of a page
TRACED = 4  # observations that graphs are traced with
# In the order in which they need one another.
WORKER = ("tensor", "elementwise", "linear", "reductions", "resampling", "shapes", "graph", "chain", "worker")
WINDOW = ("format", "state", "link", "columns", "drawing", "sliders", "pad", "map", "strip", "own", "main")


def write_page(run: RunDirectory, path: Path) -> int:
    """Write the explorer of a run, and return its size in bytes."""
    chosen = choose_rows(len(run.data), TRACED, run.plan.seed)
    graphs = run_graphs(run, examples(run.chain, run.observations(chosen), None))
    table = code_table(run)
    described = describe(run, graphs, table)
    page = assemble(run, graphs, table, described, [{"encoder": "half", "decoder": "half"} for _ in graphs])
    if len(page.encode()) > AIMED:
        page = assemble(run, graphs, table, described, choose_precisions(run, graphs, described, table))
    size = len(page.encode())
    if size > MOST:
        raise InputError(
            f"the page would have {size / 1e6:.1f} MB and may have {MOST / 1e6:g}: "
            "train with a smaller --width, or use --onnx."
        )
    write_text(path, page)
    return size


def assemble(
    run: RunDirectory,
    graphs: Sequence[StageGraphs],
    table: CodeTable,
    described: dict[str, Any],
    precisions: Sequence[Mapping[str, Precision]],
) -> str:
    """The page's text, with the weights of each stage's encoder and decoder packed in this way."""
    block = Block()
    model = json.loads(json.dumps(described))
    for number, (graph, stage, precision) in enumerate(zip(graphs, model["stages"], precisions, strict=True)):
        codes = table.arrays[code_arrays(run)[number]]
        stage["count"] = codes.shape[1]
        stage["codes"] = stage["codes"][:MOST_CODES]
        for j, code in enumerate(stage["codes"]):
            code["histogram"] = histogram(codes[:, j], code["low"], code["high"])
        # A code that is a label cannot be inferred from a picture.
        encoder = None if stage["codes_are_labels"] else graph.encoder
        stage["encoder"] = None if encoder is None else pack(encoder, block, precision["encoder"])
        stage["decoder"] = pack(graph.decoder, block, precision["decoder"])
    model["observations"] = observations(run, table, block)
    model["title"] = title(run)
    return fill(model, bytes(block.content), read_names(run.folder))


def title(run: RunDirectory) -> dict[str, str]:
    """What the page is of: the data set and the methods."""
    chain = " + ".join(config.name for config, _ in run.plan.stages)
    return {"data": Path(run.data.name).stem or run.data.name, "methods": chain}


def fill(model: dict[str, Any], block: bytes, names: dict[str, str]) -> str:
    """The template with everything in its place; nothing in JSON can end the element that it stands in."""
    places = {
        "title": f"{model['title']['data']} · unbraid",
        "style": (PAGE / "style.css").read_text(encoding="utf-8"),
        "model": as_script(model),
        "names": as_script(names),
        "block": base64.b64encode(zlib.compress(block, 9)).decode(),
        "worker": modules(WORKER),
        "window": modules(WINDOW),
    }
    template = (PAGE / "template.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: places[match.group(1)], template)


def as_script(value: Any) -> str:
    """JSON that may stand between script tags."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def modules(names: Sequence[str]) -> str:
    """JavaScript modules as one script: they follow one another, so that imports and exports fall away."""
    parts = []
    for name in names:
        text = (PAGE / f"{name}.js").read_text(encoding="utf-8")
        text = re.sub(r"^import [^;]*;\n", "", text, flags=re.MULTILINE)
        parts.append(re.sub(r"^export ", "", text, flags=re.MULTILINE))
    return "\n".join(parts)
