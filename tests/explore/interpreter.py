"""The page's interpreter, run by Node: what tests compare with onnxruntime."""

import base64
import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from unbraid.explore.graphs import session
from unbraid.explore.packing import Block, Levels, pack

Feeds = dict[str, NDArray[Any]]


def run_graphs(
    jobs: Sequence[tuple[Any, Feeds]], levels: Levels | None = None, repeats: int = 1
) -> list[dict[str, Any]]:
    """What Node makes of each graph: its outputs as arrays, and the mean time of the second half of `repeats` runs."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("the page's interpreter is tested with Node (20 or later), which is not installed")
    written = []
    for model, feeds in jobs:
        block = Block()
        graph = pack(model, block, levels)
        # As `pack` does with constants: «up to the end» is a number that no Int32 can hold.
        feeds = {k: v.clip(-(2**31), 2**31 - 1) if v.dtype == np.int64 else v for k, v in feeds.items()}
        inputs = {
            name: {"dims": v.shape, "type": str(v.dtype), "data": [text(n) for n in v.ravel().tolist()]}
            for name, v in feeds.items()
            if name in graph["inputs"]
        }
        content = base64.b64encode(block.content).decode()
        written.append({"graph": graph, "block": content, "feeds": inputs, "repeats": repeats})
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "jobs.json", Path(folder) / "made.json"
        source.write_text(json.dumps(written))
        script = Path(__file__).with_name("run_graphs.mjs")
        done = subprocess.run([node, str(script), str(source), str(target)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        made = json.loads(target.read_text())
    for one in made:
        one["outputs"] = [np.array([float(v) for v in o["data"]]).reshape(o["dims"]) for o in one["outputs"]]
    return made


def text(value: float) -> float | str:
    """A number as JSON can hold it."""
    return value if np.isfinite(value) else str(value).replace("inf", "Infinity").replace("nan", "NaN")


def expected(model: Any, feeds: Feeds) -> list[NDArray[Any]]:
    """What onnxruntime makes of a graph."""
    ready = session(model)
    known = {value.name for value in ready.get_inputs()}
    return list(ready.run(None, {name: value for name, value in feeds.items() if name in known}))
