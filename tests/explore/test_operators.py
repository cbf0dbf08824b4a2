"""Every operator of the page's interpreter against onnxruntime, on random shapes."""

from typing import Any

import numpy as np
import onnx
import pytest
from interpreter import Feeds, expected, run_graphs
from onnx import TensorProto, helper, numpy_helper

from unbraid.errors import InputError
from unbraid.explore.graphs import OPSET
from unbraid.explore.packing import Block, as_bytes, operators, pack, unpacked

R = np.random.default_rng(11)
TYPES = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64, "bool": TensorProto.BOOL}


def normal(*shape: int) -> np.ndarray:
    return R.normal(size=shape).astype(np.float32)


def positive(*shape: int) -> np.ndarray:
    return R.uniform(0.2, 3.0, size=shape).astype(np.float32)


def flags(*shape: int) -> np.ndarray:
    return R.integers(2, size=shape).astype(bool)


def numbers(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def gaps(*shape: int) -> np.ndarray:
    values = normal(*shape)
    values[values > 0.5] = np.nan
    return values


# (operator, inputs, attributes, outputs); different sizes along every axis, so that a swap shows.
Case = tuple[str, list[Any], dict[str, Any], int]
CASES: list[Case] = [
    *[(name, [normal(2, 3, 4), normal(2, 3, 4)], {}, 1) for name in ("Add", "Sub", "Mul", "Div", "Less", "Greater")],
    *[(name, [normal(2, 1, 4), normal(3, 1)], {}, 1) for name in ("Add", "Sub", "Mul", "Div")],
    ("Sub", [normal(1), normal(3, 2)], {}, 1),
    ("Div", [normal(3, 2), positive(1)], {}, 1),
    ("Div", [numbers(7, -7, 9), numbers(2, 2, -4)], {}, 1),
    ("Pow", [positive(3, 2), normal(2)], {}, 1),
    ("Min", [normal(3, 2), normal(2), normal(3, 1)], {}, 1),
    ("Max", [normal(3, 2), normal(2)], {}, 1),
    ("Equal", [R.integers(3, size=(4, 5)), R.integers(3, size=(5,))], {}, 1),
    ("And", [flags(4, 5), flags(5)], {}, 1),
    ("Or", [flags(4, 5), flags(4, 1)], {}, 1),
    ("Not", [flags(4, 5)], {}, 1),
    ("Where", [flags(4, 1), normal(3), normal(4, 3)], {}, 1),
    *[
        (name, [normal(3, 5)], {}, 1)
        for name in ("Relu", "LeakyRelu", "Sigmoid", "Tanh", "Exp", "Abs", "Neg", "Floor", "Softplus", "Identity")
    ],
    *[(name, [positive(3, 5)], {}, 1) for name in ("Log", "Sqrt", "Reciprocal")],
    ("LeakyRelu", [normal(3, 5)], {"alpha": 0.2}, 1),
    ("IsNaN", [gaps(4, 5)], {}, 1),
    ("Clip", [normal(4, 5), np.float32(-0.5), np.float32(0.7)], {}, 1),
    ("Clip", [normal(4, 5), np.float32(-0.5)], {}, 1),
    ("Cast", [normal(4, 5) * 3], {"to": TensorProto.INT64}, 1),
    ("Cast", [normal(4, 5)], {"to": TensorProto.BOOL}, 1),
    ("Cast", [flags(4, 5)], {"to": TensorProto.FLOAT}, 1),
    ("Gemm", [normal(3, 6), normal(5, 6), normal(5)], {"transB": 1}, 1),
    ("Gemm", [normal(6, 3), normal(6, 5), normal(3, 1)], {"transA": 1, "alpha": 0.5, "beta": 2.0}, 1),
    ("Gemm", [normal(2, 7), normal(7, 3)], {}, 1),
    ("MatMul", [normal(2, 1, 3, 5), normal(4, 5, 2)], {}, 1),
    ("MatMul", [normal(5), normal(3, 5, 2)], {}, 1),
    ("Conv", [normal(2, 3, 9, 8), normal(4, 3, 4, 4), normal(4)], {"strides": [2, 2], "pads": [1, 1, 1, 1]}, 1),
    ("Conv", [normal(2, 4, 9, 8), normal(6, 2, 5, 3)], {"group": 2, "pads": [2, 0, 1, 1], "dilations": [1, 2]}, 1),
    ("Conv", [normal(2, 3, 11), normal(4, 3, 4), normal(4)], {"strides": [2], "pads": [1, 2]}, 1),
    ("ConvTranspose", [normal(2, 3, 4, 5), normal(3, 2, 4, 4), normal(2)], {"strides": [2, 2], "pads": [1] * 4}, 1),
    (
        "ConvTranspose",
        [normal(2, 4, 3, 4), normal(4, 3, 5, 5), normal(6)],
        {"strides": [2, 2], "pads": [2, 2, 2, 2], "output_padding": [1, 0], "group": 2},
        1,
    ),
    ("ConvTranspose", [normal(2, 3, 5), normal(3, 2, 4), normal(2)], {"strides": [2], "pads": [1, 1]}, 1),
    ("Softmax", [normal(3, 4, 5)], {"axis": 1}, 1),
    ("LogSoftmax", [normal(3, 4)], {}, 1),
    ("InstanceNormalization", [normal(2, 3, 4, 5), normal(3), normal(3)], {"epsilon": 0.01}, 1),
    ("LayerNormalization", [normal(3, 4, 5), normal(4, 5), normal(4, 5)], {"axis": 1, "epsilon": 0.01}, 1),
    ("BatchNormalization", [normal(2, 3, 4, 5), normal(3), normal(3), normal(3), positive(3)], {"epsilon": 0.01}, 1),
    ("BatchNormalization", [normal(4, 3), normal(3), normal(3), normal(3), positive(3)], {}, 1),
    ("ArgMax", [normal(3, 4, 5)], {"axis": 1, "keepdims": 0}, 1),
    ("ArgMax", [normal(3, 4)], {"axis": -1}, 1),
    ("ReduceSum", [normal(3, 4, 5), numbers(1)], {"keepdims": 0}, 1),
    ("ReduceMean", [normal(3, 4, 5), numbers(0, 2)], {}, 1),
    ("ReduceMax", [normal(3, 4, 5), numbers(-1)], {"keepdims": 0}, 1),
    *[("DepthToSpace", [normal(2, 18, 3, 2)], {"blocksize": 3, "mode": mode}, 1) for mode in ("CRD", "DCR")],
    ("AveragePool", [normal(2, 3, 8, 6)], {"kernel_shape": [2, 3], "strides": [2, 3]}, 1),
    ("AveragePool", [normal(2, 3, 7, 6)], {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 1, 0, 1]}, 1),
    (
        "AveragePool",
        [normal(2, 3, 7, 6)],
        {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 1, 0, 1], "count_include_pad": 1},
        1,
    ),
    *[
        (
            "Resize",
            [normal(2, 3, 4, 5), None, None, numbers(2, 3, *size)],
            {"mode": "linear", "coordinate_transformation_mode": how},
            1,
        )
        for how in ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")
        for size in ((7, 10), (3, 8))
    ],
    (
        "Resize",
        [normal(2, 3, 4, 5), None, np.array([1, 1, 2, 3], np.float32)],
        {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
        1,
    ),
    ("Reshape", [normal(3, 4, 5), numbers(0, -1, 2)], {}, 1),
    ("Flatten", [normal(3, 4, 5)], {"axis": 2}, 1),
    ("Transpose", [normal(3, 4, 5)], {"perm": [2, 0, 1]}, 1),
    ("Unsqueeze", [normal(3, 4), numbers(0, -1)], {}, 1),
    ("Squeeze", [normal(1, 4, 1), numbers(-1)], {}, 1),
    ("Concat", [normal(2, 3, 4), normal(2, 5, 4)], {"axis": 1}, 1),
    ("Split", [normal(2, 7, 3), numbers(2, 4, 1)], {"axis": 1}, 3),
    ("Split", [normal(6, 2)], {"axis": 0, "num_outputs": 2}, 2),
    ("Slice", [normal(5, 6), numbers(1, -1), numbers(9, -7), numbers(0, 1), numbers(2, -2)], {}, 1),
    ("Slice", [normal(5, 6), numbers(2), numbers(2**62), numbers(1)], {}, 1),
    ("Gather", [normal(3, 4, 5), np.array([[3, 0], [-1, 1]])], {"axis": 1}, 1),
    ("GatherND", [normal(3, 4, 5), np.array([[0, 3], [-1, 2]])], {}, 1),
    ("GatherND", [normal(3, 4, 5), np.array([[2], [0], [1]])], {"batch_dims": 1}, 1),
    ("ScatterND", [normal(3, 4, 5), np.array([[0, 3], [2, 2]]), normal(2, 5)], {}, 1),
    ("Expand", [normal(3, 1), numbers(2, 1, 4)], {}, 1),
    ("Pad", [normal(1, 2, 3, 4), numbers(0, 0, 1, 2, 0, 1, 0, 3)], {"mode": "edge"}, 1),
    ("Pad", [normal(2, 3, 4), numbers(0, 1, 2, 1, 0, -1), np.float32(0.5)], {}, 1),
    ("Pad", [normal(2, 3, 4), numbers(1, 2), np.float32(0), numbers(-1)], {}, 1),
    ("ConstantOfShape", [numbers(2, 3)], {"value": numpy_helper.from_array(np.array([2.5], np.float32))}, 1),
    ("Shape", [normal(3, 4, 5)], {"start": 1}, 1),
]


def model_of(operator: str, inputs: list[Any], attributes: dict[str, Any], outputs: int) -> tuple[Any, Feeds]:
    feeds = {f"in{k}": np.asarray(value) for k, value in enumerate(inputs) if value is not None}
    read = [f"in{k}" if f"in{k}" in feeds else "" for k in range(len(inputs))]  # a nameless input is left out
    names = [f"out{k}" for k in range(outputs)]
    graph = helper.make_graph(
        [helper.make_node(operator, read, names, **attributes)],
        operator,
        [helper.make_tensor_value_info(name, TYPES[str(v.dtype)], v.shape) for name, v in feeds.items()],
        [onnx.ValueInfoProto(name=name) for name in names],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9), feeds


def test_operators_agree_with_onnxruntime() -> None:
    jobs = [model_of(*case) for case in CASES]
    for (name, *_), (model, feeds), made in zip(CASES, jobs, run_graphs(jobs), strict=True):
        for want, got in zip(expected(model, feeds), made["outputs"], strict=True):
            assert got.shape == want.shape, name
            np.testing.assert_allclose(got, want.astype(np.float64), atol=2e-5, rtol=2e-5, err_msg=name)


def test_every_operator_has_a_case() -> None:
    assert {case[0] for case in CASES} == operators()


def test_an_operator_that_is_not_there_is_named() -> None:
    model, _ = model_of("Erf", [normal(2)], {}, 1)
    with pytest.raises(InputError, match="Erf"):
        pack(model, Block())


def test_bytes_keep_every_group_within_half_a_step() -> None:
    weights = (normal(5, 64) * np.logspace(-3, 2, 5, dtype=np.float32)[:, None])[:, None]
    values, steps = as_bytes(weights)
    assert np.abs(values).max() <= 127
    error = np.abs(values * steps.astype(np.float64)[:, None] - weights[:, 0])
    assert (error.max(axis=1) <= 0.5001 * steps).all()
    assert (steps <= np.abs(weights[:, 0]).max(axis=1) / 125).all()


def test_weights_as_bytes_are_read_back() -> None:
    weights, x = normal(70, 90), normal(3, 90)
    model, _ = model_of("Gemm", [x, weights], {"transB": 1}, 1)
    model.graph.initializer.append(numpy_helper.from_array(weights, "in1"))
    del model.graph.input[1]
    made = run_graphs([(model, {"in0": x})], {"in1": 40})[0]["outputs"][0]
    np.testing.assert_allclose(made, x @ unpacked(weights, 40).T, atol=1e-4)
    assert np.abs(made - x @ weights.T).max() > 1e-4  # the bytes were used
