"""Convert Gemm and MatMul to fully connected layers and matrix products."""

import math

import numpy as np

from edged.errors import ModelError
from edged.model.from_onnx.by_channel import per_channel
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.quantized import dense, layer_of
from edged.model.from_onnx.scope import InvalidNodeError, Scope, Value, as_weights
from edged.model.from_onnx.strided import Axes, ViewAxis, contiguous, sizes_of
from edged.model.graph import Conv, Dense, Float32, Product, Shape
from edged.model.shapes import CONTRADICTION, MAX_VALUES


def gemm(node: OnnxNode, scope: Scope) -> None:
    """Convert alpha · A · B + beta · C, where A is computed and B and C are constant."""
    if node.integer("transA", 0):
        raise ModelError("attribute transA is supported only as 0")
    weight = scope.weights(node.input(1))
    if weight.ndim != 2:
        raise ModelError(f"input {node.input(1)} has shape {weight.shape}; supported is a matrix")
    weight = _times(weight, node.real("alpha", 1.0))
    weight = weight if node.integer("transB", 0) else weight.T
    bias = np.zeros(len(weight), np.float32)
    if node.input(2):
        offset = _times(scope.weights(node.input(2)), node.real("beta", 1.0))
        bias = per_channel(offset, bias.shape)
    if _has_rows(scope.raw_value(node.input(0))):
        _push_by_rows(node, scope, weight.T, bias)
        return
    is_plain = node.real("alpha", 1.0) == node.real("beta", 1.0) == 1.0
    _push_dense(node, scope, weight, bias, quantized=is_plain)


def matmul(node: OnnxNode, scope: Scope) -> None:
    """Convert x · constant, of which an Add of a constant becomes the bias, constant · x, or x · y."""
    constants = [scope.constant(name) is not None for name in node.inputs]
    if not any(constants):
        _product(node, scope)
        return
    index = constants.index(True)
    constant = scope.weights(node.input(index))
    value = scope.raw_value(node.input(1 - index))
    if index == 1 and constant.ndim == 2 and not _has_rows(value):
        _push_dense(node, scope, constant.T, np.zeros(constant.shape[1], np.float32), quantized=True)
    else:
        _push_by_rows(node, scope, constant, is_first=index == 0)


def _has_rows(value: Value) -> bool:
    """Return whether a frame is more than one vector; a quantized tensor counts as one."""
    return value.zero is None and (len(value.dims) > 2 or (len(value.dims) == 2 and not value.has_batch))


def _push_by_rows(
    node: OnnxNode, scope: Scope, constant: Float32, bias: Float32 | None = None, *, is_first: bool = False
) -> None:
    """Push x · constant (+ bias), or constant · x if it is first: a 1×1 convolution, with a group for each matrix.

    constant · x is the transpose of xᵀ · constantᵀ. A constant vector is a matrix of one column, which the output
    lacks.
    """
    value = scope.floats(node.input(1 if is_first else 0))
    axes, weight = _matrices_that_fit(value, constant, is_first=is_first)
    lead, rank = weight.shape[:-2], len(axes)
    grouped = [index for index, size in enumerate(lead) if size > 1]
    pixels = [index for index, size in enumerate(lead) if size == 1]
    order = [*grouped, rank - 1, *pixels, rank - 2]  # a group's channels, then rows of all other matrices
    for index in grouped:
        axes[index] = ViewAxis(lead[index], axes[index].stride if axes[index].size > 1 else 0)
    rows = math.prod(axes[index].size for index in pixels), axes[-2].size
    groups, (inner, outer) = math.prod(lead), weight.shape[-2:]
    tensor = scope.rearranged(value, tuple(axes[index] for index in order), (groups * inner, *rows))
    window = weight.reshape(groups, inner, outer).transpose(0, 2, 1).reshape(-1, inner, 1, 1)
    bias = np.zeros(len(window), np.float32) if bias is None else bias
    scope.add(Conv(node.output, (tensor,), node.output, np.ascontiguousarray(window), bias, groups=groups))
    axes[-1] = ViewAxis(outer, 0)
    written = contiguous(sizes_of(axes[index] for index in order))
    seen = [written[order.index(index)] for index in range(rank)]
    if constant.ndim == 1:
        seen.pop()
    elif is_first:
        seen[-2:] = seen[:-3:-1]
    scope.define(node.output, scope.view(Value(node.output, sizes_of(seen)), tuple(seen)))


def _matrices_that_fit(value: Value, constant: Float32, *, is_first: bool) -> tuple[list[ViewAxis], Float32]:
    """Return the axes of x and a constant of as many axes, turned so that it is second."""
    axes = list(value.axes)
    weight = constant[:, np.newaxis] if constant.ndim == 1 else constant
    found = f"multiplies {value.dims} and a constant of shape {constant.shape}"
    if len(axes) < (3 if value.has_batch else 2) or weight.ndim > len(axes) or constant.ndim < 1:
        raise ModelError(f"{found}; supported are matrices within one frame")
    if is_first:
        axes[-2:] = axes[:-3:-1]
        weight = weight.swapaxes(-1, -2) if constant.ndim > 1 else weight
    weight = weight.reshape((1,) * (len(axes) - weight.ndim) + weight.shape)
    *lead, inner, _ = weight.shape
    if value.has_batch and len(lead) > 0 and lead[0] > 1:
        raise ModelError(f"{found}; supported is one that is the same for each frame")
    if inner != axes[-1].size or any(
        1 != size != axis.size != 1 for size, axis in zip(lead, axes[:-2], strict=True)
    ):
        raise InvalidNodeError(f"{found}, which do not fit: {CONTRADICTION}")
    return axes, weight


def _product(node: OnnxNode, scope: Scope) -> None:
    """Convert A · B of two computed tensors, whose axes before the last two are equal, or 1 of one of them."""
    a, b = (scope.floats(name) for name in node.inputs)
    rank = max(len(a.dims), len(b.dims))
    if min(len(a.dims), len(b.dims)) < 2 or a.dims[-1] != b.dims[-2]:
        raise ModelError(f"multiplies the shapes {a.dims} and {b.dims}; supported are matrices that fit")
    axes = [(*(ViewAxis(1, 0) for _ in range(rank - len(each.axes))), *each.axes) for each in (a, b)]
    lead = tuple(max(one.size, other.size) for one, other in zip(axes[0][:-2], axes[1][:-2], strict=True))
    if any(axis.size not in (1, size) for each in axes for axis, size in zip(each[:-2], lead, strict=True)):
        raise InvalidNodeError(
            f"multiplies the shapes {a.dims} and {b.dims}, which do not broadcast: {CONTRADICTION}"
        )
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
