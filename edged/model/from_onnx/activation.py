"""Convert activations, each of which changes every value by itself, and Softmax."""

import math
from dataclasses import replace

import numpy as np

from edged.errors import ModelError
from edged.model.activations import RELU, Activation
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.scope import InvalidNodeError, Scope
from edged.model.from_onnx.views import as_shape, last_axis
from edged.model.graph import Activate, Softmax
from edged.model.onnx_names import ACTIVATIONS, ACTIVATIONS_WITH_ATTRIBUTES


def activate(node: OnnxNode, scope: Scope) -> None:
    """Convert a kind of node that `onnx_names` has as an activation."""
    if node.kind in ACTIVATIONS:
        _push(node, scope, Activation(ACTIVATIONS[node.kind]))
    else:
        kind, defaults = ACTIVATIONS_WITH_ATTRIBUTES[node.kind]
        _push(node, scope, Activation(kind, *(node.real(name, default) for name, default in defaults.items())))


def gelu(node: OnnxNode, scope: Scope) -> None:
    kinds = {"none": "gelu", "tanh": "gelu_by_tanh"}
    formula = node.text("approximate", "none")
    if formula not in kinds:
        raise InvalidNodeError(f"attribute approximate is {formula!r}; supported are none and tanh")
    _push(node, scope, Activation(kinds[formula]))


def clip(node: OnnxNode, scope: Scope) -> None:
    """Convert Clip(low, high); Clip(0, ∞) is ReLU."""
    low = _bound(node, scope, 1, "min", -np.inf)
    high = _bound(node, scope, 2, "max", np.inf)
    limit = float(np.finfo(np.float32).max)
    if np.isnan(low) or np.isnan(high):
        raise InvalidNodeError(f"clips to {low} … {high}; expected two numbers")
    low, high = max(min(low, high), -limit), min(high, limit)
    _push(node, scope, RELU if (low, high) == (0, limit) else Activation("clip", low, high))


def _push(node: OnnxNode, scope: Scope, activation: Activation) -> None:
    value = scope.elements(scope.floats(node.input(0)))
    operator = Activate(node.output, (value.tensor,), node.output, activation)
    scope.push_seen(operator, replace(value, tensor=node.output))


def _bound(node: OnnxNode, scope: Scope, index: int, name: str, default: float) -> float:
    if not node.input(index):
        return node.real(name, default)
    constant = scope.constant(node.input(index))
    if constant is None or constant.size != 1:
        raise ModelError(f"input {name} is supported only as a constant")
    return float(constant.reshape(-1)[0].item())


def softmax(node: OnnxNode, scope: Scope) -> None:
    """Convert Softmax and LogSoftmax. Up to operator set 12 they cover all axes from `axis` on."""
    value = scope.floats(node.input(0))
    dims, is_old = value.dims, node.opset < 13
    axis = node.integer("axis", 1 if is_old else -1)
    if not -len(dims) <= axis < len(dims):
        raise InvalidNodeError(f"is over axis {axis} of {len(dims)}")
    axis %= len(dims)
    if axis == 0 and value.has_batch:
        raise ModelError("is over the frames of a batch; supported are axes of one frame")
    last = (
        as_shape(scope, value, (*dims[:axis], math.prod(dims[axis:]))) if is_old else last_axis(scope, value, axis)
    )
    tensor = scope.joined(last)
    scope.add(Softmax(node.output, (tensor,), node.output, node.kind == "LogSoftmax"))
    written = scope.seen_joined(node.output, last.dims)
    scope.define(
        node.output, as_shape(scope, written, dims) if is_old else last_axis(scope, written, axis, back=True)
    )
