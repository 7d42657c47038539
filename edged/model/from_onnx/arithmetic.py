"""Dense layers, sums, and what acts on each value or channel by itself."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from edged.errors import ModelError
from edged.model.from_onnx.node import Node
from edged.model.from_onnx.scope import Constant, Scope
from edged.model.graph import Add, BatchNorm, Dense, Float32, Operator, Relu, Shape, Softmax

Float64 = NDArray[np.float64]
FloatArray = Float32 | Float64


def gemm(node: Node, scope: Scope) -> None:
    """alpha · A · B + beta · C, where A is computed and B and C are constant."""
    if node.integer("transA", 0):
        raise ModelError("attribute transA is supported only as 0")
    weight = _matrix(scope, node.input(1)) * np.float32(node.real("alpha", 1.0))
    weight = weight if node.integer("transB", 0) else weight.T
    bias = np.zeros(len(weight), np.float32)
    if node.input(2):
        offset = scope.weights(node.input(2)) * np.float32(node.real("beta", 1.0))
        bias = _by_channel(offset, bias.shape)
    _push_dense(node, scope, weight, bias)


def matmul(node: Node, scope: Scope) -> None:
    """x · constant; an Add of a constant after it becomes the bias."""
    weight = _matrix(scope, node.input(1)).T
    _push_dense(node, scope, weight, np.zeros(len(weight), np.float32))


def _matrix(scope: Scope, name: str) -> Float32:
    weight = scope.weights(name)
    if weight.ndim != 2:
        raise ModelError(f"input {name} has shape {weight.shape}; supported is a matrix")
    return weight


def _push_dense(node: Node, scope: Scope, weight: Float32, bias: Float32) -> None:
    tensor = scope.features(node.input(0))
    scope.push(Dense(node.output, (tensor,), node.output, np.ascontiguousarray(weight), bias))


def batch_norm(node: Node, scope: Scope) -> None:
    """(x − mean) ÷ √(variance + epsilon) · scale + bias (Ioffe and Szegedy, 2015), as factor and offset."""
    if node.integer("training_mode", 0) or node.integer("spatial", 1) != 1:
        raise ModelError("training_mode is supported only as 0, spatial only as 1")
    scale, bias, mean, variance = (scope.weights(node.input(i)).astype(np.float64) for i in (1, 2, 3, 4))
    spread = variance + node.real("epsilon", 1e-5)
    if not len(scale) == len(bias) == len(mean) == len(variance) or (spread <= 0).any():
        raise ModelError("needs scale, bias, mean and variance of one length, and no negative variance")
    factor = scale / np.sqrt(spread)
    _push_batch_norm(node, scope, node.input(0), factor, bias - mean * factor)


def add(node: Node, scope: Scope) -> None:
    """The sum of two computed tensors, or of one and a constant by channel."""
    if len(node.inputs) != 2:
        raise ModelError(f"adds {len(node.inputs)} tensors; supported are 2")
    x, constant = _computed_and_constant(node, scope)
    if constant is None:
        _push_sum(node, scope)
    else:
        _push_affine(node, scope, x, np.ones(1), constant)


def _push_sum(node: Node, scope: Scope) -> None:
    values = scope.plain(node.inputs[0]), scope.plain(node.inputs[1])
    tensors = values[0].tensor, values[1].tensor
    if values[0].shape != values[1].shape:
        raise ModelError(
            f"adds the shapes {values[0].shape} and {values[1].shape}; supported are two of one shape"
        )
    if scope.shapes[tensors[0]] != scope.shapes[tensors[1]]:
        tensors = scope.features(node.inputs[0]), scope.features(node.inputs[1])
    scope.push(Add(node.output, tensors, node.output), values[0].shape)


def subtract(node: Node, scope: Scope) -> None:
    x, constant = _computed_and_constant(node, scope)
    if constant is None:
        raise ModelError("supported is x − constant or constant − x")
    sign = 1.0 if x == node.inputs[0] else -1.0
    _push_affine(node, scope, x, np.full(1, sign), -sign * constant)


def multiply(node: Node, scope: Scope) -> None:
    x, constant = _computed_and_constant(node, scope)
    if constant is None:
        raise ModelError("supported is x · constant")
    _push_affine(node, scope, x, constant, np.zeros(1))


def divide(node: Node, scope: Scope) -> None:
    x, constant = _computed_and_constant(node, scope)
    if constant is None or x != node.inputs[0] or not constant.all():
        raise ModelError("supported is x ÷ constant, which is not 0")
    _push_affine(node, scope, x, 1 / constant, np.zeros(1))


def _computed_and_constant(node: Node, scope: Scope) -> tuple[str, Float64 | None]:
    """The name of the input that is computed, and the other's values if it is constant."""
    first, second = node.input(0), node.input(1)
    if scope.constant(second) is not None:
        return first, scope.weights(second).astype(np.float64)
    if scope.constant(first) is not None:
        return second, scope.weights(first).astype(np.float64)
    return first, None


def _push_affine(node: Node, scope: Scope, x: str, factor: Float64, offset: Float64) -> None:
    """x · factor + offset, each one value or one for each channel."""
    shape = scope.plain(x).shape
    _push_batch_norm(node, scope, x, _by_channel(factor, shape), _by_channel(offset, shape))


def _push_batch_norm(node: Node, scope: Scope, x: str, factor: FloatArray, offset: FloatArray) -> None:
    """Of features, only right after Dense (and others of its kind), into which it can be folded."""
    is_image = len(scope.plain(x).shape) == 3
    tensor = scope.image(x) if is_image else scope.features(x)
    if not is_image and not any(isinstance(o, Dense | BatchNorm) and o.output == tensor for o in scope.operators):
        raise ModelError("acts on features; supported is an image, or features right after Gemm or MatMul")
    scope.push(
        BatchNorm(node.output, (tensor,), node.output, factor.astype(np.float32), offset.astype(np.float32))
    )


def _by_channel(constant: Constant, shape: Shape) -> Float32:
    """A constant that broadcasts to (1, *shape) with one value for each channel, as [channels]."""
    channels = shape[0]
    if constant.size == 1:
        return np.full(channels, constant.reshape(()), np.float32)
    wide = (1,) * (len(shape) + 1 - constant.ndim) + constant.shape
    if wide != (1, channels) + (1,) * (len(shape) - 1):
        raise ModelError(
            f"has a constant of shape {constant.shape}; supported is one value, or one for each channel"
        )
    return np.ascontiguousarray(constant.reshape(channels), np.float32)


def relu(node: Node, scope: Scope) -> None:
    _push_alike(node, scope, Relu(node.output, (), node.output))


def clip(node: Node, scope: Scope) -> None:
    """Only Clip(0, ∞), which some exporters write for ReLU."""
    low = _bound(node, scope, 1, "min", -np.inf)
    high = _bound(node, scope, 2, "max", np.inf)
    if low != 0 or high < np.finfo(np.float32).max:
        raise ModelError(f"clips to {low} … {high}; supported is 0 … infinity")
    relu(node, scope)


def _bound(node: Node, scope: Scope, index: int, name: str, default: float) -> float:
    if not node.input(index):
        return node.real(name, default)
    constant = scope.constant(node.input(index))
    if constant is None or constant.size != 1:
        raise ModelError(f"input {name} is supported only as a constant")
    return float(constant.reshape(-1)[0].item())


def softmax(node: Node, scope: Scope) -> None:
    """Over features, or the channels of a 1×1 image. Up to operator set 12 it takes in all axes from `axis` on."""
    shape = scope.plain(node.input(0)).shape
    old = node.opset < 13
    rank = len(shape) + 1
    axis = node.integer("axis", 1 if old else -1) % rank
    if axis != 1 or shape[1:] not in {(), (1, 1)}:
        raise ModelError(
            f"is over axis {axis} of shape (batch, {', '.join(map(str, shape))}); supported is over classes"
        )
    _push_alike(node, scope, Softmax(node.output, (), node.output))


def _push_alike(node: Node, scope: Scope, operator: Operator) -> None:
    """An operator whose output is shaped as its input, whatever shape that is seen with."""
    value = scope.plain(node.input(0))
    scope.push(replace(operator, inputs=(value.tensor,)), value.shape)
