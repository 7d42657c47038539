"""Arithmetic of two computed tensors, or of one and a constant that is not one number for each channel."""

from collections.abc import Mapping

import numpy as np

from edged.errors import ModelError
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.scope import Scope
from edged.model.graph import Add, Combine, Float32, Shape

COMBINATIONS: Mapping[str, str] = {
    "Add": "add",
    "Div": "divide",
    "Max": "maximum",
    "Min": "minimum",
    "Mul": "multiply",
    "Pow": "power",
    "Sub": "subtract",
    "Sum": "add",
}


def combine(node: OnnxNode, scope: Scope) -> None:
    """Convert a kind of node that is in `COMBINATIONS`: of several inputs, the first two, then with the next."""
    if node.kind in {"Max", "Min", "Sum"} and len(node.inputs) == 1:
        scope.define(node.output, scope.plain(node.input(0)))
        return
    if len(node.inputs) != 2:
        raise ModelError(f"has {len(node.inputs)} inputs; supported are 2")
    computed = [name for name in node.inputs if scope.constant(name) is None]
    if len(computed) == 2:
        _combine_computed(node, scope)
    else:
        _combine_with_constant(node, scope, computed[0])


def _combine_computed(node: OnnxNode, scope: Scope) -> None:
    values = [scope.plain(name) for name in node.inputs]
    shapes = [value.shape for value in values]
    tensors = [value.tensor for value in values]
    own = [scope.shapes[tensor] for tensor in tensors]
    if shapes[0] == shapes[1] and own[0] == own[1]:
        shape: Shape | None = shapes[0]  # seen alike: whatever their rank
    elif len(shapes[0]) == len(shapes[1]):
        read = scope.image if len(shapes[0]) == 3 else scope.features
        tensors, shape = [read(name) for name in node.inputs], None
    else:
        raise ModelError(f"combines the shapes {shapes[0]} and {shapes[1]}; supported are two of one rank")
    kind, inputs = COMBINATIONS[node.kind], (tensors[0], tensors[1])
    if kind == "add" and scope.shapes[tensors[0]] == scope.shapes[tensors[1]]:
        scope.push(Add(node.output, inputs, node.output), shape)
    else:
        scope.push(Combine(node.output, inputs, node.output, kind), shape)


def _combine_with_constant(node: OnnxNode, scope: Scope, computed: str) -> None:
    (constant,) = (scope.weights(name) for name in node.inputs if name != computed)
    value = scope.plain(computed)
    tensor = scope.image(computed) if len(value.shape) == 3 else scope.features(computed)
    constant = _of_one_frame(constant, len(value.shape))
    is_reversed = node.inputs[0] != computed
    scope.push(Combine(node.output, (tensor,), node.output, COMBINATIONS[node.kind], constant, is_reversed))


def _of_one_frame(constant: Float32, rank: int) -> Float32:
    """Return a constant that broadcasts to (batch, …) with as many axes as a frame has."""
    wide = constant.reshape((1,) * (rank + 1 - constant.ndim) + constant.shape)
    if wide.ndim != rank + 1 or wide.shape[0] != 1:
        raise ModelError(
            f"has a constant of shape {constant.shape}; supported is one that is the same for each frame"
        )
    return np.ascontiguousarray(wide[0])
