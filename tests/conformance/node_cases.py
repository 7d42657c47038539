"""The tests of single nodes that the package `onnx` brings, as networks of one computed input."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases

Array = NDArray[Any]
# Tests of what onnxruntime computes otherwise, on purpose, and edged like it: corners of sizes that are not whole.
AS_ONNXRUNTIME = frozenset(f"test_resize_downsample_scales_{mode}_align_corners" for mode in ("linear", "cubic"))


@dataclass(frozen=True, eq=False)
class NodeCase:
    """A test of `kind`: with the input `computed` for x and constants for its other inputs it writes `expected`.

    `tolerance`: the largest difference, as a share of the largest expected value, or of 1 if that is more.
    """

    name: str
    kind: str
    graph: onnx.GraphProto
    opset: int
    computed: str
    x: Array
    expected: Mapping[str, Array]
    tolerance: float


@cache
def node_cases() -> Mapping[str, tuple[NodeCase, ...]]:
    """Return the cases by kind of operator.

    A network computes on pictures, so that cases without an input or output of floats are left out, and those with
    sequences, texts and the like.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of NumPy, while onnx computes what is expected
        tests = collect_testcases(None)
    cases: dict[str, list[NodeCase]] = {}
    for test in tests:
        if case := _case(test):
            cases.setdefault(case.kind, []).append(case)
    return {kind: tuple(cases[kind]) for kind in sorted(cases)}


def _case(test: Any) -> NodeCase | None:
    model: onnx.ModelProto = test.model
    (opset,) = [entry.version for entry in model.opset_import if entry.domain in {"", "ai.onnx"}] or [0]
    inputs, outputs = test.data_sets[0]
    if test.name in AS_ONNXRUNTIME:
        outputs = _of_onnxruntime(model, inputs)
    names = [entry.name for entry in model.graph.input]
    arrays = dict(zip(names, inputs, strict=False))
    computed = next((name for name, array in arrays.items() if _is_floats(array)), None)
    expected = dict(zip((entry.name for entry in model.graph.output), outputs, strict=False))
    is_numeric = all(_is_numeric(array) for array in (*arrays.values(), *expected.values()))
    if not opset or computed is None or not is_numeric:
        return None
    graph = onnx.GraphProto()
    graph.CopyFrom(model.graph)
    graph.initializer.extend(
        numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items() if name != computed
    )
    expected = {_as_floats(graph, name, array): array for name, array in expected.items()}
    del graph.output[:]
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in expected)
    kind = _kind(model)
    x = np.asarray(arrays[computed])
    halves = any(np.asarray(array).dtype == np.float16 for array in (*arrays.values(), *expected.values()))
    return NodeCase(test.name, kind, graph, opset, computed, x, expected, 4e-3 if halves else 1e-4)


def _as_floats(graph: onnx.GraphProto, name: str, expected: Array) -> str:
    """Let a network write numbers, as it must: add a Cast of an output of integers. Return the output's name."""
    if not name or np.asarray(expected).dtype.kind == "f":
        return name
    graph.node.append(helper.make_node("Cast", [name], [f"{name}/floats"], to=onnx.TensorProto.FLOAT))
    return f"{name}/floats"


def _of_onnxruntime(model: onnx.ModelProto, inputs: Sequence[Array]) -> list[Any]:
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [entry.name for entry in session.get_inputs()]
    return list(session.run(None, dict(zip(names, inputs, strict=False))))


def _kind(model: onnx.ModelProto) -> str:
    """Return the operator that is tested, or that it is a function written as several nodes."""
    return str(model.graph.node[0].op_type) if len(model.graph.node) == 1 else "(expanded functions)"


def _is_floats(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.kind == "f" and array.size > 0 and array.ndim > 0


def _is_numeric(array: Any) -> bool:
    return isinstance(array, np.ndarray | np.generic) and array.dtype.kind in "biuf" and array.size > 0
