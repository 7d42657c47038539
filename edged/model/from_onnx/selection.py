"""Convert Where whose choice is known, and IsNaN of what cannot be NaN.

Exporters write both in attention: PyTorch guards each softmax against rows that a mask leaves without a value, and
transformers masks the pixels beside a picture, where edged has none.
"""

import numpy as np

from edged.errors import ModelError
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.scope import Scope, Value
from edged.model.graph import BatchNorm, Combine, Conv, Dense, Operator, Product, Rearrange, Softmax


def where(node: OnnxNode, scope: Scope) -> None:
    """Convert a Where whose constant condition chooses the same input everywhere to that input."""
    condition = scope.constant(node.input(0))
    if condition is None or condition.all() != condition.any():
        raise ModelError("chooses value by value; supported is a constant condition with one choice")
    chosen, other = node.inputs[1:] if condition.all() else node.inputs[:0:-1]
    value = scope.raw_value(chosen)
    if np.broadcast_shapes(condition.shape, value.dims, _dims(scope, other)) != value.dims:
        raise ModelError(f"repeats a tensor of shape {value.dims}; supported is one of the result's shape")
    scope.define(node.output, value)


def is_nan(node: OnnxNode, scope: Scope) -> None:
    """Convert an IsNaN of a softmax of numbers to a constant: none of them is NaN."""
    value = scope.raw_value(node.input(0))
    if not _is_finite_softmax(value, scope):
        raise ModelError("depends on the numbers; supported is a softmax of sums of products")
    scope.define(node.output, np.broadcast_to(np.False_, value.dims))


def _dims(scope: Scope, name: str) -> tuple[int, ...]:
    constant = scope.constant(name)
    return scope.raw_value(name).dims if constant is None else constant.shape


def _is_finite_softmax(value: Value, scope: Scope) -> bool:
    """Return whether a value is a softmax of sums of products, to which nothing infinite is added."""
    writer = scope.writer(value.tensor)
    while isinstance(writer, Rearrange):
        writer = scope.writer(writer.inputs[0])
    if not isinstance(writer, Softmax):
        return False
    writer = scope.writer(writer.inputs[0])
    while writer is not None and _keeps_finite(writer):
        writer = scope.writer(writer.inputs[0])
    return isinstance(writer, Conv | Dense | Product)


def _keeps_finite(operator: Operator) -> bool:
    if isinstance(operator, Combine):
        constant = operator.constant
        return operator.kind in {"add", "multiply"} and constant is not None and bool(np.isfinite(constant).all())
    return isinstance(operator, BatchNorm | Rearrange)
