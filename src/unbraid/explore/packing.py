"""ONNX graphs as compact JSON beside one block of bytes: what the page's own interpreter reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import InputError

if TYPE_CHECKING:
    import onnx

# Up to which whole number each tensor's weights go, by the tensor's name; tensors that are not named are kept in half
# precision. Fewer numbers take the same bytes, which then compress better.
Levels = Mapping[str, int]
FINEST = 127
LARGE = 4096  # tensors from this size on may become whole numbers
PAGE = Path(__file__).parent / "page"
SMALL = 256  # tensors up to this size stay as they are: biases, and constants that half precision would turn to zero
GROUP = 64  # values that share a step, where weights become bytes
MOST = 2**31 - 1


@dataclass
class Block:
    """Bytes that tensors of all graphs are appended to; each starts where a browser can read it without a copy."""

    content: bytearray = field(default_factory=bytearray)

    def add(self, array: NDArray[Any]) -> int:
        """Append an array, and return its place."""
        self.content += bytes(-len(self.content) % 4)
        place = len(self.content)
        self.content += np.ascontiguousarray(array).tobytes()
        return place


@cache
def operators() -> frozenset[str]:
    """The operators that the page's interpreter has, read from its source: every table maps names to functions."""
    files = ("elementwise", "linear", "reductions", "resampling", "shapes")
    sources = [(PAGE / f"{name}.js").read_text(encoding="utf-8") for name in files]
    tables = [re.search(r"export const [A-Z]+ = \{(.*?)\};", text, re.DOTALL) for text in sources]
    return frozenset(name for table in tables if table for name in re.findall(r"\b([A-Z]\w+):", table.group(1)))


def pack(model: onnx.ModelProto, block: Block, levels: Levels | None = None) -> dict[str, Any]:
    """The graph as plain lists and dictionaries; its weights go to the block."""
    from onnx import numpy_helper

    constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    nodes: list[list[Any]] = []
    for node in model.graph.node:
        attributes = {attribute.name: plain(attribute) for attribute in node.attribute}
        if node.op_type == "Constant":
            constants[node.output[0]] = np.asarray(next(iter(attributes.values())))
            continue
        if node.op_type not in operators():
            raise InputError(
                f"the page cannot run the operator {node.op_type}, which this model needs: "
                "use unbraid explore --serve, or export --onnx."
            )
        packed = {
            name: pack_tensor(value, block) if isinstance(value, np.ndarray) else value
            for name, value in attributes.items()
        }
        nodes.append([node.op_type, list(node.input), list(node.output), *([packed] if packed else [])])
    read = {name for node in nodes for name in node[1]} | {value.name for value in model.graph.output}
    return {
        "inputs": [value.name for value in model.graph.input],
        "outputs": [value.name for value in model.graph.output],
        "nodes": nodes,
        "constants": {k: pack_tensor(v, block, (levels or {}).get(k)) for k, v in constants.items() if k in read},
    }


def plain(attribute: onnx.AttributeProto) -> Any:
    """The value of an attribute; a tensor becomes an array."""
    from onnx import helper, numpy_helper

    value = helper.get_attribute_value(attribute)
    if hasattr(value, "raw_data"):
        return numpy_helper.to_array(value)
    if isinstance(value, bytes):
        return value.decode()
    return value if isinstance(value, int | float | str) else list(value)


def pack_tensor(array: NDArray[Any], block: Block, most: int | None = None) -> dict[str, Any]:
    """Where a tensor stands in the block, and how: in half precision, or as whole numbers up to `most`."""
    dims = {"dims": list(array.shape)}
    if array.dtype == bool:
        return dims | {"type": "bool", "at": block.add(array.astype(np.uint8))}
    if np.issubdtype(array.dtype, np.integer):
        return dims | {"type": "i32", "at": block.add(np.clip(array, -MOST, MOST).astype("<i4"))}
    if most is not None:
        values, steps = as_bytes(array, most)
        return dims | {"type": "i8", "at": block.add(values), "steps": block.add(steps.astype("<f2"))}
    if array.size <= SMALL or float(np.abs(array).max()) > np.finfo(np.float16).max:
        return dims | {"type": "f32", "at": block.add(array.astype("<f4"))}
    return dims | {"type": "f16", "at": block.add(array.astype("<f2"))}


def as_bytes(array: NDArray[Any], most: int = FINEST) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Whole numbers from −most to most, [group, GROUP], and for each group the step between two of them.

    Values go into groups one after another, the last filled up with zeros: a group has one scale of its own, which
    keeps large values from coarsening small ones elsewhere.
    """
    flat = array.astype(np.float32).ravel()
    groups = np.pad(flat, (0, -len(flat) % GROUP)).reshape(-1, GROUP)
    # A step is rounded up to half precision, so that the largest value still fits.
    steps = np.nextafter((np.abs(groups).max(axis=1) / most).astype(np.float16), np.float16(np.inf))
    values = np.rint(groups / steps.astype(np.float32)[:, None]).astype(np.int8)
    return values, steps


def large_tensors(model: onnx.ModelProto) -> dict[str, int]:
    """The tensors that may become whole numbers, and how many values each has."""
    from onnx import TensorProto

    sizes = {
        tensor.name: prod(tensor.dims) for tensor in model.graph.initializer if tensor.data_type == TensorProto.FLOAT
    }
    return {name: size for name, size in sizes.items() if size >= LARGE}


def rounded(model: onnx.ModelProto, levels: Levels) -> onnx.ModelProto:
    """The same graph with weights as the page will have them, to measure what packing costs."""
    import onnx as library
    from onnx import numpy_helper

    copy = library.ModelProto()
    copy.CopyFrom(model)
    for tensor in copy.graph.initializer:
        array = numpy_helper.to_array(tensor)
        if array.dtype == np.float32:
            tensor.CopyFrom(numpy_helper.from_array(unpacked(array, levels.get(tensor.name)), tensor.name))
    return copy


def unpacked(array: NDArray[np.float32], most: int | None = None) -> NDArray[np.float32]:
    """What is left of a tensor after packing."""
    if most is not None:
        values, steps = as_bytes(array, most)
        flat = (values * steps.astype(np.float32)[:, None]).ravel()[: array.size]
        return flat.reshape(array.shape).astype(np.float32)
    if array.size <= SMALL or float(np.abs(array).max()) > np.finfo(np.float16).max:
        return array
    return array.astype(np.float16).astype(np.float32)
