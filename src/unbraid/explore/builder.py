"""The page: one file with the model in it, which works from disk and never asks the network for anything."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unbraid.errors import InputError
from unbraid.explore.content import code_arrays, histogram, observations
from unbraid.explore.description import code_table, describe
from unbraid.explore.graphs import Decoder, Example, StageGraphs, examples, session
from unbraid.explore.names import read_names
from unbraid.explore.onnx_files import run_graphs
from unbraid.explore.packing import PAGE, Block, Precision, pack, rounded
from unbraid.runs.chain import Codes, flat, unflat, with_earlier_codes
from unbraid.runs.codes import CodeTable, choose_rows
from unbraid.runs.directory import RunDirectory
from unbraid.util.files import write_text
from unbraid.util.seeds import mix

AIMED, MOST = 3_000_000, 10_000_000  # bytes of a page
ALLOWED = 2 / 255  # what packing may change of an image; of a vector, the same part of its range
TRACED, MEASURED, MOVED = 4, 100, 0.3  # rows traced; rows packing is measured on; share of their codes set at random
MOST_SLIDERS = 64
# In the order in which they need one another.
WORKER = ("tensor", "elementwise", "linear", "reductions", "shapes", "graph", "chain", "worker")
WINDOW = ("format", "state", "link", "drawing", "sliders", "pad", "map", "strip", "own", "main")


def write_page(run: RunDirectory, path: Path) -> int:
    """Write the explorer of a run, and return its size in bytes."""
    chosen = choose_rows(len(run.data), TRACED, run.plan.seed)
    # Where codes are labels they are set with sliders: only then do the labels of the example count.
    given = examples(run.chain, run.observations(chosen), None)
    graphs = run_graphs(run, given)
    table = code_table(run)
    described = describe(run, graphs, table)
    pages: dict[Precision, str] = {}
    for precision in ("half", "bytes"):
        page = assemble(run, graphs, table, described, precision)
        if len(page.encode()) <= (AIMED if precision == "half" else MOST):
            if precision == "bytes" and packing_error(run, graphs, given, described, table) > ALLOWED:
                break
            write_text(path, page)
            return len(page.encode())
        pages[precision] = page
    if len(pages["half"].encode()) <= MOST:  # larger than it should be, and exact
        write_text(path, pages["half"])
        return len(pages["half"].encode())
    size = len(pages["half"].encode()) / 1e6
    raise InputError(
        f"the page would have {size:.0f} MB and may have {MOST / 1e6:.0f}: train with a smaller --width, or use --onnx."
    )


def assemble(
    run: RunDirectory, graphs: Sequence[StageGraphs], table: CodeTable, described: dict[str, Any], precision: Precision
) -> str:
    """The page's text, with weights packed in this way."""
    block = Block()
    model = json.loads(json.dumps(described))
    for number, (graph, stage) in enumerate(zip(graphs, model["stages"], strict=True)):
        codes = table.arrays[code_arrays(run)[number]]
        stage["count"] = codes.shape[1]
        stage["codes"] = stage["codes"][:MOST_SLIDERS]
        for j, code in enumerate(stage["codes"]):
            code["histogram"] = histogram(codes[:, j], code["low"], code["high"])
        # A code that is a label cannot be inferred from a picture.
        encoder = None if stage["codes_are_labels"] else graph.encoder
        stage["encoder"] = None if encoder is None else pack(encoder, block, precision)
        stage["decoder"] = pack(graph.decoder, block, precision)
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


@torch.no_grad()
def packing_error(
    run: RunDirectory,
    graphs: Sequence[StageGraphs],
    given: Sequence[Example],
    described: dict[str, Any],
    table: CodeTable,
) -> float:
    """The most that bytes for weights change of what any stage makes, over codes as sliders may set them."""
    random = np.random.default_rng(mix(run.plan.seed, "packing"))
    rows = random.permutation(len(table.rows))[:MEASURED]
    worst, y = 0.0, None
    earlier: Codes = {}
    for number, (graph, example) in enumerate(zip(graphs, given, strict=True)):
        codes = table.arrays[code_arrays(run)[number]][rows].astype(np.float32)
        entries = described["stages"][number]["codes"]
        low, high = (np.array([entry[end] for entry in entries]) for end in ("low", "high"))
        anywhere = low + (high - low) * random.random(codes.shape)
        codes = np.where(random.random(codes.shape) < MOVED, anywhere, codes).astype(np.float32)
        stage, own = run.chain.stages[number], unflat(torch.from_numpy(codes), example.codes)
        feeds = {
            "codes": torch.from_numpy(codes),
            "y": y,
            "given": with_earlier_codes(stage, own, earlier).get("given"),
        }
        inputs = {name: value for name, value in feeds.items() if value is not None}
        exact = Decoder(stage, example.codes)(**inputs).cpu().numpy()
        ready = session(rounded(graph.decoder, "bytes"))
        named = {value.name for value in ready.get_inputs()}
        packed = ready.run(None, {name: value.cpu().numpy() for name, value in inputs.items() if name in named})[0]
        span = 1.0 if run.data.is_image else float(np.ptp(exact)) or 1.0
        worst = max(worst, float(np.abs(packed - exact).max()) / span)
        y, earlier = torch.from_numpy(exact), {"codes": flat(own)}
    return worst
