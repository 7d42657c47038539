"""Convert Gemm and MatMul to fully connected layers and matrix products."""

import math

import numpy as np

from edged.errors import ModelError
from edged.model.from_onnx.by_channel import per_channel
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.quantized import dense, layer_of
from edged.model.from_onnx.scope import InvalidNodeError, Scope, Value, as_weights
from edged.model.from_onnx.strided import Axes, ViewAxis
from edged.model.graph import Conv, Dense, Float32, Product, Shape
from edged.model.shapes import MAX_VALUES


def gemm(node: OnnxNode, scope: Scope) -> None:
    """Convert alpha · A · B + beta · C, where A is computed and B and C are constant."""
    if node.integer("transA", 0):
        raise ModelError("attribute transA is supported only as 0")
    weight = _times(_matrix(scope, node.input(1)), node.real("alpha", 1.0))
    weight = weight if node.integer("transB", 0) else weight.T
    bias = np.zeros(len(weight), np.float32)
    if node.input(2):
        offset = _times(scope.weights(node.input(2)), node.real("beta", 1.0))
        bias = per_channel(offset, bias.shape)
    is_plain = node.real("alpha", 1.0) == node.real("beta", 1.0) == 1.0
    _push_dense(node, scope, weight, bias, quantized=is_plain)


def matmul(node: OnnxNode, scope: Scope) -> None:
    """Convert x · constant, of which an Add of a constant becomes the bias, or a product of two tensors."""
    if scope.constant(node.input(1)) is None and scope.constant(node.input(0)) is None:
        _product(node, scope)
        return
    weight = _matrix(scope, node.input(1)).T
    value = scope.raw_value(node.input(0))
    if len(value.dims) > 2 and value.zero is None:
        _push_of_vectors(node, scope, weight)
    else:
        _push_dense(node, scope, weight, np.zeros(len(weight), np.float32), quantized=True)


def _push_of_vectors(node: OnnxNode, scope: Scope, weight: Float32) -> None:
    """Push a fully connected layer of each vector along the last axis: a 1×1 convolution."""
    value = scope.floats(node.input(0))
    if value.dims[-1] != weight.shape[1]:
        raise InvalidNodeError(f"multiplies {value.dims} by a matrix {weight.T.shape}, which do not fit")
    tensor = scope.joined(value)
    window = np.ascontiguousarray(weight)[:, :, np.newaxis, np.newaxis]
    dims = (*value.dims[:-1], len(weight))
    if len(scope.shapes[tensor]) == 1:
        tensor = scope.as_image(tensor)
    conv = Conv(node.output, (tensor,), node.output, window, np.zeros(len(weight), np.float32))
    scope.push_joined(conv, dims)


def _product(node: OnnxNode, scope: Scope) -> None:
    """Convert A · B of two computed tensors, whose axes before the last two are equal, or 1 of one of them."""
    a, b = (scope.floats(name) for name in node.inputs)
    rank = max(len(a.dims), len(b.dims))
    if min(len(a.dims), len(b.dims)) < 2 or a.dims[-1] != b.dims[-2]:
        raise ModelError(f"multiplies the shapes {a.dims} and {b.dims}; supported are matrices that fit")
    axes = [(*(ViewAxis(1, 0) for _ in range(rank - len(each.axes))), *each.axes) for each in (a, b)]
    lead = tuple(max(one.size, other.size) for one, other in zip(axes[0][:-2], axes[1][:-2], strict=True))
    if any(axis.size not in (1, size) for each in axes for axis, size in zip(each[:-2], lead, strict=True)):
        raise InvalidNodeError(f"multiplies the shapes {a.dims} and {b.dims}, which do not broadcast")
    tensors = tuple(_matrices(scope, value, each, lead) for value, each in zip((a, b), axes, strict=True))
    scope.push_joined(Product(node.output, tensors, node.output), (*lead, a.dims[-2], b.dims[-1]))


def _matrices(scope: Scope, value: Value, axes: Axes, lead: Shape) -> str:
    """Return the graph's tensor (columns, matrices, rows) of matrices, repeated to the axes `lead`."""
    repeated = [
        ViewAxis(size, axis.stride if axis.size > 1 else 0) for axis, size in zip(axes, lead, strict=False)
    ]
    shape = (axes[-1].size, math.prod(lead), axes[-2].size)
    if math.prod(shape) > MAX_VALUES:
        raise InvalidNodeError(f"needs a tensor of shape {shape}; it may hold 1 to {MAX_VALUES} values")
    return scope.rearranged(value, (axes[-1], *repeated, axes[-2]), shape)


def _times(weight: Float32, factor: float) -> Float32:
    with np.errstate(over="ignore", invalid="ignore"):  # found by as_weights
        return as_weights(weight * np.float32(factor), f"weights times {factor:g}")


def _matrix(scope: Scope, name: str) -> Float32:
    weight = scope.weights(name)
    if weight.ndim != 2:
        raise ModelError(f"input {name} has shape {weight.shape}; supported is a matrix")
    return weight


def _push_dense(node: OnnxNode, scope: Scope, weight: Float32, bias: Float32, *, quantized: bool) -> None:
    """Push a layer, of whole numbers if it is `quantized` and its input and weights are."""
    tensor = scope.features(node.input(0))
    operator = Dense(node.output, (tensor,), node.output, np.ascontiguousarray(weight), bias)
    layer = layer_of(node, scope, tensor) if quantized else None
    if layer is None:
        scope.push(operator)
    else:
        is_turned = node.kind == "Gemm" and node.integer("transB", 0)
        scope.push(dense(operator, layer if is_turned else layer.with_turned_weights()))
