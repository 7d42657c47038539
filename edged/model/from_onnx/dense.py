"""Convert Gemm and MatMul to fully connected layers."""

import numpy as np

from edged.errors import ModelError
from edged.model.from_onnx.by_channel import per_channel
from edged.model.from_onnx.node import OnnxNode
from edged.model.from_onnx.quantized import dense, layer_of
from edged.model.from_onnx.scope import Scope, as_weights
from edged.model.graph import Dense, Float32


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
    """Convert x · constant; an Add of a constant after it becomes the bias."""
    weight = _matrix(scope, node.input(1)).T
    _push_dense(node, scope, weight, np.zeros(len(weight), np.float32), quantized=True)


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
