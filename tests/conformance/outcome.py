"""What becomes of a node's test in edged: computed by kernels, by the host, rejected, or wrong."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from edged.errors import ModelError
from edged.model import reference
from edged.model.from_onnx.scope import Scope, Value
from edged.model.graph import Float32, Graph, OnHost
from edged.model.onnx_reader import read_nodes
from edged.model.passes import simplify
from edged.model.shapes import make_graph
from tests.conformance.node_cases import Array, NodeCase

Result = Literal["constant", "kernels", "host", "rejected", "wrong"]
Compute = Callable[[Graph, Float32], Array]


@dataclass(frozen=True)
class Outcome:
    """`detail`: why it was rejected, or how wrong it is."""

    name: str
    result: Result
    detail: str = ""

    @property
    def reason(self) -> str:
        """Return the detail without names of tensors, for a table."""
        return re.sub(r"input \S+", "input …", self.detail)


def by_reference(graph: Graph, x: Float32) -> Array:
    """Compute in NumPy."""
    return reference.run(graph, x)


def outcome(case: NodeCase, compute: Compute = by_reference) -> Outcome:
    """Read a case as a network, and compare what it computes with what is expected."""
    try:
        frames, scope = _read(case)
        results = [_compare(case, name, frames, scope, compute) for name in case.expected if name]
    except ModelError as error:
        return Outcome(case.name, "rejected", str(error).partition("): ")[2])
    worst = [found for found in results if found.result == "wrong"]
    return next(iter(worst), results[0])


def _read(case: NodeCase) -> tuple[int, Scope]:
    """Return the number of frames and the network: the first axis is the batch if kernels can compute it so."""
    if scope := _of_a_batch(case):
        return len(case.x), scope
    has_batch = case.x.ndim > 1 and len(case.x) == 1
    return 1, _scope(case, case.x.shape[1:] if has_batch else case.x.shape, has_batch=has_batch)


def _of_a_batch(case: NodeCase) -> Scope | None:
    """Return the network of one frame if the case has several, which kernels compute each by itself."""
    frames = len(case.x)
    lengths = {len(each) if each.ndim else 0 for each in case.expected.values()}
    if case.x.ndim == 1 or frames == 1 or lengths != {frames}:
        return None
    try:
        scope = _scope(case, case.x.shape[1:], has_batch=True)
    except ModelError:
        return None
    computed = all(scope.constant(name) is None and scope.any_value(name).has_batch for name in case.expected)
    by_kernels = not any(isinstance(operator, OnHost) for operator in scope.operators)
    return scope if computed and by_kernels else None


def _scope(case: NodeCase, shape: tuple[int, ...], *, has_batch: bool) -> Scope:
    scope = Scope(Value(case.computed, shape, has_batch=has_batch), shape)
    read_nodes(case.graph, case.opset, scope, case.name)
    return scope


def _compare(case: NodeCase, name: str, frames: int, scope: Scope, compute: Compute) -> Outcome:
    constant, expected = scope.constant(name), case.expected[name]
    if constant is not None:
        return _verdict(case, "constant", np.asarray(constant), expected)
    value = scope.any_value(name)
    graph = make_graph(case.name, case.computed, scope.shapes[case.computed], scope.operators, value.tensor)
    graph = simplify(graph)
    x = case.x.astype(np.float32).reshape(frames, *graph.shapes[graph.input])
    found = compute(graph, x) if graph.operators else x
    is_on_host = any(isinstance(operator, OnHost) for operator in graph.operators)
    dims = (frames, *value.dims[1:]) if frames > 1 else value.dims
    return _verdict(case, "host" if is_on_host else "kernels", found.reshape(dims), expected)


def _verdict(case: NodeCase, result: Result, found: Array, expected: Array) -> Outcome:
    if found.shape != expected.shape:
        return Outcome(case.name, "wrong", f"shape {found.shape}, expected {expected.shape}")
    wide = expected.astype(np.float64)
    with np.errstate(all="ignore"):
        same = (found == wide) | (np.isnan(found.astype(np.float64)) & np.isnan(wide))
        errors = np.where(same, 0, np.abs(found - wide))
    finite = np.abs(wide[np.isfinite(wide)])
    error = float(errors.max(initial=0)) / max(1.0, float(finite.max(initial=0)))
    is_right = error <= case.tolerance
    return Outcome(case.name, result if is_right else "wrong", "" if is_right else f"{error:.1e} off")
